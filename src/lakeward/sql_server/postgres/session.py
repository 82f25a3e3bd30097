"""Session: one client from its first message to its last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from lakeward.errors import LakewardError
from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.codec.sql_text import SqlText, statements_of
from lakeward.sql_server.postgres.inner_names import with_value_names
from lakeward.sql_server.postgres.parameters import literal_of
from lakeward.sql_server.postgres.portal import Portal
from lakeward.sql_server.postgres.statements import Statements, Work, is_silent, waits_for_place
from lakeward.sql_server.postgres.states import StateError, error_fields
from lakeward.sql_server.postgres.wire import ClientMessage, GoneError, Wire

_log = logging.getLogger(__name__)
T = TypeVar("T")
_LOOK_S = 0.5
_KEPT_MAX = 1000
_SHORT_CHARACTERS = 20_000
_COUNTED = {"SELECT", "COPY", "FETCH"}


class Threads(NamedTuple):
    """Where sessions block. Who has a place never stands behind those who wait for one."""

    waiting: ThreadPoolExecutor
    working: ThreadPoolExecutor


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement that was parsed, and the types that its client gave for its parameters; None is an empty one."""

    statement: SqlText | None
    oids: tuple[int, ...]
    #: What its rows looked like when it was last described.
    shape: Portal | None = None


@dataclass(slots=True)
class Bound:
    """A statement with its values; `work` once it has begun."""

    prepared: Prepared
    sql: str
    formats: list[int]
    work: Work | None = None
    is_described: bool = False


class Session:
    """Answers the messages of one client, in order."""

    def __init__(self, wire: Wire, statements: Statements, threads: Threads) -> None:
        self._wire = wire
        self._statements = statements
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Bound] = {}
        self._is_skipping = False

    def cancel(self) -> None:
        """End what is running."""
        self._statements.stop()

    async def run(self) -> None:
        """Until the client says goodbye, or has gone."""
        try:
            await self._ready()
            while (message := await self._wire.next()).letter != "X":
                await self._answer(message)
        finally:
            for name in list(self._portals):
                await self._drop(name)
            await self._in_thread(self._statements.close, watches=False)

    async def _answer(self, message: ClientMessage) -> None:
        handler = _HANDLERS.get(message.letter)
        if handler is None:
            raise m.ProtocolError(f"there is no message {message.letter!r}")
        if self._is_skipping and message.letter != "S":
            return
        try:
            await handler(self, message.body)
        except (StateError, LakewardError) as wrong:
            await self._fail(wrong, message.letter)
        except (GoneError, m.ProtocolError):
            raise
        except Exception as wrong:  # noqa: BLE001 - a session outlives what went wrong in it
            _log.exception("A statement failed in a way that nobody foresaw")
            await self._fail(wrong, message.letter)

    async def _fail(self, wrong: BaseException, letter: str) -> None:
        if self._statements.transaction == "T":
            self._statements.transaction = "E"
        await self._wire.send(m.error(error_fields(wrong)))
        if letter == "Q":
            await self._ready()
        else:
            self._is_skipping = True

    async def _ready(self) -> None:
        await self._wire.send(m.ready(self._statements.transaction.encode()))

    # -- simple questions ---------------------------------------------------------------------------------------------

    async def _query(self, body: m.Body) -> None:
        await self._drop("")
        found = await self._cut(body.text())
        if not found:
            await self._wire.send(m.EMPTY_QUERY)
        for statement in found:
            begin = partial(self._statements.begin, statement, statement.sql, [])
            work = await self._in_thread(begin, waits=waits_for_place(statement))
            await self._run(work, describes=True)
        await self._ready()

    async def _cut(self, sql: str) -> list[SqlText]:
        """The statements of a text; of a long one, beside the loop."""
        cut = partial(statements_of, sql)
        return cut() if len(sql) < _SHORT_CHARACTERS else await self._in_thread(cut)

    async def _run(self, work: Work, *, describes: bool, most: int = 0) -> bool:
        """Send the rows of it, and its end; whether there may be more."""
        if work.forgets is not None:
            self._forget(work.forgets)
        for name, value in work.changed.items():
            await self._wire.send(m.parameter_status(name, value))
        if work.portal is None:
            await self._wire.send(m.command_complete(work.tag))
            return False
        portal, before = work.portal, work.portal.count
        self._statements.running = work.asked
        try:
            if work.copies is not None:
                await self._in_thread(partial(portal.copy, self._send_from_thread, work.copies))
            else:
                if describes:
                    await self._wire.send(portal.describe())
                wanted = most if work.fetches is None else work.fetches
                is_cut = await self._in_thread(partial(portal.run, self._send_from_thread, wanted))
                if is_cut and work.fetches is None:
                    await self._wire.send(m.PORTAL_SUSPENDED)
                    return True
        except BaseException:
            await self._in_thread(portal.close, watches=False)
            raise
        finally:
            self._statements.rest(work.asked)
        tag = f"{work.tag} {portal.count - before}" if work.tag in _COUNTED else work.tag
        await self._wire.send(m.command_complete(tag))
        return False

    # -- the extended protocol ----------------------------------------------------------------------------------------

    async def _parse(self, body: m.Body) -> None:
        name, sql = body.text(), body.text()
        oids = body.oids()
        found = await self._cut(sql)
        if len(found) > 1:
            raise StateError("42601", "cannot insert multiple commands into a prepared statement")
        if name and name in self._prepared:
            raise StateError("42P05", f'prepared statement "{name}" already exists')
        if len(self._prepared) >= _KEPT_MAX:
            raise StateError("53400", "There are too many prepared statements; close some.")
        statement = with_value_names(found[0]) if found else None
        count = max(len(oids), 0 if statement is None else statement.parameters)
        self._prepared[name] = Prepared(statement, tuple(oids) + (0,) * (count - len(oids)))
        await self._wire.send(m.PARSE_COMPLETE)

    async def _bind(self, body: m.Body) -> None:
        portal, name = body.text(), body.text()
        formats, values, results = body.shorts(), body.values(), body.shorts()
        prepared = self._find_prepared(name)
        if len(values) != len(prepared.oids):
            raise StateError(
                "08P01", f"bind message supplies {len(values)} parameters, but {len(prepared.oids)} are required"
            )
        if len(formats) > 1 and len(formats) != len(values):
            raise m.ProtocolError("there are as many formats as parameters, or one, or none")
        forms = formats if len(formats) > 1 else (formats or [0]) * len(values)
        if any(form == 1 and not oid for form, oid in zip(forms, prepared.oids, strict=True)):
            prepared = await self._look_at(name)
        literals = [literal_of(v, o, f) for v, o, f in zip(values, prepared.oids, forms, strict=True)]
        sql = "" if prepared.statement is None else prepared.statement.with_values(literals)
        await self._drop(portal)
        if len(self._portals) >= _KEPT_MAX:
            raise StateError("53400", "There are too many portals; close some.")
        self._portals[portal] = Bound(prepared, sql, results)
        await self._wire.send(m.BIND_COMPLETE)

    async def _describe(self, body: m.Body) -> None:
        kind, name = body.take(1), body.text()
        if kind == b"S":
            prepared = await self._look_at(name)
            await self._wire.send(m.parameter_description([oid or 25 for oid in prepared.oids]))
            portal = prepared.shape
        elif name not in self._portals and (cursor := self._statements.cursor(name)) is not None:
            portal = cursor
        else:
            bound = self._find_bound(name)
            statement = bound.prepared.statement
            bound.is_described = True
            portal = None if statement is None or is_silent(statement) else await self._begin(bound)
        await self._wire.send(m.NO_DATA if portal is None else portal.describe())

    async def _look_at(self, name: str) -> Prepared:
        """A statement with its shape and the types of all its parameters, from here on."""
        prepared = self._find_prepared(name)
        if prepared.statement is not None:
            describe = partial(self._statements.describe, prepared.statement, prepared.oids)
            found = await self._in_thread(describe, waits=waits_for_place(prepared.statement))
            prepared = Prepared(prepared.statement, tuple(found.oids), found.portal)
            self._prepared[name] = prepared
        return prepared

    async def _execute(self, body: m.Body) -> None:
        bound, most = self._find_bound(body.text()), body.number()
        if bound.prepared.statement is None:
            await self._wire.send(m.EMPTY_QUERY)
            return
        portal, known = await self._begin(bound), bound.prepared.shape
        assert bound.work is not None
        is_new = portal is not None and known is not None and not portal.is_like(known)
        if is_new and not bound.is_described:
            told = "cached plan must not change result type", "The table has other columns by now."
            raise StateError("0A000", *told, routine="RevalidateCachedQuery")
        await self._run(bound.work, describes=False, most=max(most, 0))

    async def _begin(self, bound: Bound) -> Portal | None:
        """Begin it unless that was done before."""
        statement = bound.prepared.statement
        if statement is None:
            return None
        if bound.work is None:
            make = partial(self._statements.begin, statement, bound.sql, bound.formats)
            bound.work = await self._in_thread(make, waits=waits_for_place(statement))
        return None if bound.work.copies is not None else bound.work.portal

    async def _close(self, body: m.Body) -> None:
        kind, name = body.take(1), body.text()
        if kind == b"S":
            self._prepared.pop(name, None)
        else:
            await self._drop(name)
        await self._wire.send(m.CLOSE_COMPLETE)

    async def _sync(self, _body: m.Body) -> None:
        self._is_skipping = False
        if self._statements.transaction == "I":
            for name in list(self._portals):
                await self._drop(name)
        await self._ready()

    async def _flush(self, _body: m.Body) -> None:
        """All is sent at once anyway."""

    async def _nothing(self, _body: m.Body) -> None:
        """Rows of a COPY that failed, which nobody wants any more."""

    def _forget(self, name: str) -> None:
        """Let go of a prepared statement by the SQL for it; of all where it has no name."""
        if name:
            self._find_prepared(name)
            del self._prepared[name]
        else:
            self._prepared.clear()

    def _find_prepared(self, name: str) -> Prepared:
        if name not in self._prepared:
            raise StateError("26000", f'prepared statement "{name}" does not exist')
        return self._prepared[name]

    def _find_bound(self, name: str) -> Bound:
        if name not in self._portals:
            raise StateError("34000", f'portal "{name}" does not exist')
        return self._portals[name]

    async def _drop(self, name: str) -> None:
        bound = self._portals.pop(name, None)
        work = None if bound is None else bound.work
        if work is not None and work.portal is not None and work.fetches is None:  # a cursor outlives its FETCH
            await self._in_thread(work.portal.close, watches=False)

    # -- threads ------------------------------------------------------------------------------------------------------

    async def _in_thread(self, work: Callable[[], T], *, watches: bool = True, waits: bool = False) -> T:
        """Beside the loop, what `waits` for a place apart; what nobody waits for any more is ended."""
        threads = self._threads
        job = self._loop.run_in_executor(threads.waiting if waits else threads.working, work)
        try:
            while not job.done():
                await asyncio.wait({job}, timeout=_LOOK_S)
                if watches and not job.done() and self._wire.is_gone:
                    self._statements.stop()
        except asyncio.CancelledError:
            self._statements.stop()
            job.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody is left to tell
            raise
        return job.result()

    def _send_from_thread(self, data: bytes | memoryview) -> None:
        asyncio.run_coroutine_threadsafe(self._wire.send(data), self._loop).result()


_HANDLERS: dict[str, Callable[[Session, m.Body], Awaitable[None]]] = {
    "Q": Session._query,
    "P": Session._parse,
    "B": Session._bind,
    "D": Session._describe,
    "E": Session._execute,
    "C": Session._close,
    "S": Session._sync,
    "H": Session._flush,
    "d": Session._nothing,
    "c": Session._nothing,
    "f": Session._nothing,
}
