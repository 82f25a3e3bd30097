"""Listener: takes connections of Postgres clients, as many as may be, and knows which session a cancel is for."""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from lakeward.client.blocking.sync import Connection
from lakeward.errors import LakewardError
from lakeward.sql_server.access.guesses import Guesses
from lakeward.sql_server.access.proofs import Proofs
from lakeward.sql_server.frame.house import House
from lakeward.sql_server.postgres.codec import messages as m
from lakeward.sql_server.postgres.pg_catalog.catalogs import PgCatalogs
from lakeward.sql_server.postgres.session import Session, Threads
from lakeward.sql_server.postgres.startup import Newcomer, Startup
from lakeward.sql_server.postgres.statements import Statements
from lakeward.sql_server.postgres.states import StateError, error_fields
from lakeward.sql_server.postgres.variables import DEFAULTS, REPORTED, Variables, options_of
from lakeward.sql_server.postgres.wire import GoneError, Wire

_log = logging.getLogger(__name__)
_CONNECTIONS_MAX = 2000
_STARTUP_S = 30.0
#: Connections of people who have not logged in yet.
_STRANGERS_MAX = 1500
#: Questions that wait for a place; others wait for one of these threads.
_WAITING_THREADS = 200
#: Beside those that send rows: for questions about the catalog, and for what is closed.
_CATALOG_THREADS = 32
#: Names that need no quotes.
_PLAIN = re.compile("[a-z_][a-z0-9_]*")
#: What a client may ask for in its first message that is no setting.
_NO_SETTINGS = {"user", "database", "options", "replication"}


class PostgresListener:
    """One port."""

    def __init__(self, house: House, proofs: Proofs | None, context: ssl.SSLContext | None, *, is_local: bool) -> None:
        self._house = house
        working = ThreadPoolExecutor(house.settings.questions_max + _CATALOG_THREADS, "lakeward-postgres-work")
        self._threads = Threads(ThreadPoolExecutor(_WAITING_THREADS, "lakeward-postgres-wait"), working)
        guesses = Guesses(house.clock.monotonic)
        self._startup = Startup(house.accounts, proofs, guesses, context, is_local, self._cancel)
        self._sessions: dict[int, tuple[int, Session]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next = 0
        self._strangers = 0
        self._catalogs = PgCatalogs(house.clock, DEFAULTS)
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Begin to listen."""
        self._server = await asyncio.start_server(self._serve, sock=listener)

    async def close(self) -> None:
        """End every session, whatever it does."""
        if self._server is not None:
            self._server.close()
        for _, session in list(self._sessions.values()):
            session.cancel()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)
        for pool in self._threads:
            pool.shutdown(wait=False, cancel_futures=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        wire = Wire(reader, writer)
        try:
            await self._converse(wire)
        except (GoneError, asyncio.CancelledError):
            wire.abort()
        except m.ProtocolError as wrong:
            await self._refuse(wire, StateError("08P01", f"{wrong}"))
        except (StateError, LakewardError) as wrong:
            await self._refuse(wire, wrong)
        except TimeoutError:
            await self._refuse(wire, StateError("08006", "A login took too long."))
        except Exception as wrong:  # noqa: BLE001 - other sessions go on
            _log.exception("A session failed in a way that nobody foresaw")
            await self._refuse(wire, wrong)
        finally:
            self._tasks.discard(task)
            await wire.close()

    async def _converse(self, wire: Wire) -> None:
        newcomer = await self._let_in(wire)
        if newcomer is None:
            return
        try:
            if len(self._sessions) >= _CONNECTIONS_MAX:
                raise StateError("53300", "sorry, too many clients already")
            await self._session(wire, newcomer)
        finally:
            self._house.accounts.leave(newcomer.member)

    async def _let_in(self, wire: Wire) -> Newcomer | None:
        if self._strangers >= _STRANGERS_MAX:
            raise StateError("53300", "sorry, too many clients already")
        self._strangers += 1
        try:
            return await asyncio.wait_for(self._startup.let_in(wire), _STARTUP_S)
        finally:
            self._strangers -= 1

    async def _session(self, wire: Wire, newcomer: Newcomer) -> None:
        self._next += 1
        number, secret = self._next & 0x7FFFFFFF, self._house.entropy.below(1 << 32)
        given = {name: value for name, value in newcomer.options.items() if name not in _NO_SETTINGS}
        given |= options_of(newcomer.options.get("options", ""))
        path = await asyncio.to_thread(_search_path, newcomer)
        variables = Variables(path | given)
        if variables.database is None:  # `public` alone names none
            variables = Variables(given | path)
        session = Session(wire, Statements(self._house, newcomer, variables, self._catalogs, number), self._threads)
        reported = {name: _report_value(variables, name, newcomer) for name in REPORTED}
        hello = [m.parameter_status(name, value) for name, value in reported.items()]
        self._sessions[number] = secret, session
        try:
            await wire.send(m.join_messages([*hello, m.backend_key(number, secret)]))
            await session.run()
        finally:
            session.cancel()
            del self._sessions[number]

    def _cancel(self, number: int, secret: int) -> None:
        found = self._sessions.get(number)
        if found is not None and found[0] == secret:
            found[1].cancel()

    async def _refuse(self, wire: Wire, wrong: BaseException) -> None:
        with suppress(GoneError):
            await wire.send(m.error(error_fields(wrong) | {"S": "FATAL", "V": "FATAL"}))


def _search_path(newcomer: Newcomer) -> dict[str, str]:
    """A database that a client names is where tables are looked for that are named without one."""
    name = newcomer.database
    conn = newcomer.member.conn
    if name in conn.databases() or _has_tables(conn, name):
        return {"search_path": name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'}
    if name in {"lakeward", "postgres", newcomer.user}:
        return {}
    raise StateError("3D000", f'database "{name}" does not exist')


def _has_tables(conn: Connection, database: str) -> bool:
    """Whether somebody may know of a table in a database that they are not told of."""
    try:
        return bool(conn.tables(database))
    except LakewardError:
        return False


def _report_value(variables: Variables, name: str, newcomer: Newcomer) -> str:
    return newcomer.user if name == "session_authorization" else variables.get(name)
