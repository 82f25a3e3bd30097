"""FlightSqlServer: Arrow Flight SQL over the same questions as Postgres's protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import pyarrow as pa
from pyarrow import flight

from lakeward.errors import DeniedError, ErrorCode, LakewardError, RetriableError
from lakeward.query.duckdb.question.question_error import NO_MEMORY
from lakeward.query.duckdb.question.streamed_sql import Shape
from lakeward.sql_server.access.accounts import Member
from lakeward.sql_server.flight.logins import LoginFactory, NoHandshake
from lakeward.sql_server.flight.metadata_rows import metadata_rows
from lakeward.sql_server.flight.parameters import bindable, row_literals, with_numbers
from lakeward.sql_server.flight.protobuf import (
    BadMessageError,
    bytes_of,
    enum_message,
    fields_of,
    message,
    pack,
    text_of,
    unpack,
)
from lakeward.sql_server.frame.house import House
from lakeward.sql_server.postgres.codec.sql_text import SqlText
from lakeward.sql_server.work.short import Answer
from lakeward.sql_server.work.statement import Statement

_log = logging.getLogger(__name__)
#: Clients in Go take messages of 16 MB at most.
_MESSAGE_BYTES = 8 << 20
#: Answers that nobody comes for are let go of.
_CLAIM_S = 30.0
_PREPARED_MAX = 1000
_CANCELLED = 1


@dataclass(slots=True)
class Ready:
    """An answer whose first rows are there, and who it is for."""

    member: Member
    statement: Statement
    answer: Answer
    held: ExitStack


@dataclass(slots=True)
class Prepared:
    """A statement with places for values."""

    member: Member
    sql: SqlText
    literals: list[str] = field(default_factory=list)


class FlightSqlServer(flight.FlightServerBase):  # type: ignore[misc]
    """One port; its calls come on threads of gRPC."""

    def __init__(self, house: House, location: str, certificate: tuple[bytes, bytes] | None, *, is_local: bool) -> None:
        self._house = house
        self._lock = Lock()
        self._ready: dict[bytes, Ready] = {}
        self._running: set[Statement] = set()
        self._prepared: dict[bytes, Prepared] = {}
        super().__init__(
            location,
            auth_handler=NoHandshake(),
            tls_certificates=None if certificate is None else [certificate],
            middleware={"login": LoginFactory(house, takes_passwords=is_local or certificate is not None)},
        )

    def stop(self) -> None:
        """End what runs, then the port."""
        with self._lock:
            running, ready = list(self._running), list(self._ready.values())
            self._ready.clear()
        for statement in running:
            statement.stop("The server stops.")
        for one in ready:
            one.held.close()
        self.shutdown()

    # -- questions ----------------------------------------------------------------------------------------------------

    def get_flight_info(self, context: Any, descriptor: Any) -> Any:
        """Begin to answer a command; its rows are had by the ticket."""
        with _tell_errors():
            name, body = unpack(descriptor.command)
            member = _member(context)
            if name == "CommandStatementQuery":
                return self._begin(context, descriptor, member, text_of(fields_of(body), 1) or "")
            if name == "CommandPreparedStatementQuery":
                prepared = self._find_prepared(member, bytes_of(fields_of(body), 1))
                return self._begin(context, descriptor, member, prepared.sql.with_values(prepared.literals))
            rows = metadata_rows(member.conn, name, body)
            if rows is None:
                raise flight.FlightServerError(f"{name} is not answered here.")
            return _info(rows.schema, descriptor, descriptor.command)

    def get_schema(self, context: Any, descriptor: Any) -> Any:
        """The columns of an answer."""
        with _tell_errors():
            name, body = unpack(descriptor.command)
            member = _member(context)
            fields = fields_of(body)
            if name == "CommandStatementQuery":
                return flight.SchemaResult(
                    self._shape_of(context, member, with_numbers(text_of(fields, 1) or "")).columns
                )
            if name == "CommandPreparedStatementQuery":
                prepared = self._find_prepared(member, bytes_of(fields, 1))
                return flight.SchemaResult(self._shape_of(context, member, prepared.sql).columns)
            rows = metadata_rows(member.conn, name, body)
            if rows is None:
                raise flight.FlightServerError(f"{name} is not answered here.")
            return flight.SchemaResult(rows.schema)

    def do_get(self, context: Any, ticket: Any) -> Any:
        """The rows of a ticket."""
        with _tell_errors():
            name, body = unpack(ticket.ticket)
            member = _member(context)
            if name == "TicketStatementQuery":
                ready = self._claim(member, bytes_of(fields_of(body), 1))
                return flight.GeneratorStream(ready.answer.schema, self._rows(ready))
            rows = metadata_rows(member.conn, name, body)
            if rows is None:
                raise flight.FlightServerError(f"{name} is not answered here.")
            return flight.RecordBatchStream(rows)

    def _begin(self, context: Any, descriptor: Any, member: Member, sql: str) -> Any:
        handle = self._house.entropy.token(16)
        ready = self._open(context, member, sql)
        with self._lock:
            self._ready[handle] = ready
        ready.held.enter_context(self._house.desk.alarms.after(_CLAIM_S, lambda: self._forget(handle)))
        ticket = pack("TicketStatementQuery", message([(1, handle)]))
        return _info(ready.answer.schema, descriptor, ticket)

    def _open(self, context: Any, member: Member, sql: str) -> Ready:
        """Begin a question; whoever asked may go before its first rows are there."""
        with ExitStack() as held:
            statement = self._statement(context, member, sql, held)
            with self._while_there(context, statement):
                answer = held.enter_context(statement.answer())
            return Ready(member, statement, answer, held.pop_all())

    def _shape_of(self, context: Any, member: Member, sql: SqlText) -> Shape:
        with ExitStack() as held:
            statement = self._statement(context, member, sql.with_values(["NULL"] * sql.parameters), held)
            with self._while_there(context, statement):
                return statement.describe(sql, [None] * sql.parameters)

    def _statement(self, context: Any, member: Member, sql: str, held: ExitStack) -> Statement:
        who = member.name or str(context.peer())
        statement = Statement(self._house.desk, member.conn, who, sql)
        with self._lock:
            self._running.add(statement)
        held.callback(self._running.discard, statement)
        return statement

    def _while_there(self, context: Any, statement: Statement) -> AbstractContextManager[None]:
        """Stop it when the client goes."""

        def look() -> bool:
            if context.is_cancelled():
                statement.stop()
            return True

        return self._house.desk.alarms.after(0.2, look)

    def _claim(self, member: Member, handle: bytes) -> Ready:
        with self._lock:
            found = self._ready.get(handle)
            if found is None or found.member is not member:
                raise flight.FlightServerError("There is no such answer, or nobody came for it in time.")
            return self._ready.pop(handle)

    def _forget(self, handle: bytes) -> bool:
        with self._lock:
            found = self._ready.pop(handle, None)
        if found is not None:
            found.statement.stop("Nobody came for the answer.")
            found.held.close()
        return False

    def _rows(self, ready: Ready) -> Iterator[pa.RecordBatch]:
        with ready.held, _tell_errors():
            for batch in ready.answer:
                many = max(batch.num_rows * _MESSAGE_BYTES // max(batch.nbytes, 1), 1)
                for at in range(0, batch.num_rows, many):
                    yield batch.slice(at, many)

    # -- prepared statements and actions ------------------------------------------------------------------------------

    def list_actions(self, _context: Any) -> list[tuple[str, str]]:
        """What `do_action` knows."""
        return [(name, "") for name in _ACTIONS]

    def do_action(self, context: Any, action: Any) -> Iterator[Any]:
        """Prepare a statement, close one, or cancel an answer."""
        with _tell_errors():
            handler = _ACTIONS.get(action.type)
            if handler is None:
                raise flight.FlightServerError(f"{action.type} is not done here.")
            return iter(handler(self, context, action.body.to_pybytes()))

    def do_put(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Values for a prepared statement; nothing else is taken."""
        with _tell_errors():
            name, body = unpack(descriptor.command)
            if name != "CommandPreparedStatementQuery":
                raise flight.FlightServerError("SQL only reads here.")
            handle = bytes_of(fields_of(body), 1)
            prepared = self._find_prepared(_member(context), handle)
            prepared.literals = row_literals(reader.read_all())
            writer.write(pa.py_buffer(message([(1, handle)])))

    def _create(self, context: Any, body: bytes) -> list[Any]:
        _, request = unpack(body)
        member = _member(context)
        sql = with_numbers(text_of(fields_of(request), 1) or "")
        shape = self._shape_of(context, member, sql)
        with self._lock:
            if len(self._prepared) >= _PREPARED_MAX:
                self._prepared.pop(next(iter(self._prepared)))
            handle = self._house.entropy.token(16)
            self._prepared[handle] = Prepared(member, sql)
        schemas = (shape.columns.serialize(), bindable(shape.parameters).serialize())
        parts = [(1, handle), *((at, one.to_pybytes()) for at, one in enumerate(schemas, 2))]
        return [pack("ActionCreatePreparedStatementResult", message(parts))]

    def _close(self, context: Any, body: bytes) -> list[Any]:
        _, request = unpack(body)
        handle = bytes_of(fields_of(request), 1)
        self._find_prepared(_member(context), handle)
        with self._lock:
            self._prepared.pop(handle, None)
        return []

    def _cancel(self, context: Any, body: bytes) -> list[Any]:
        """Whatever the tickets of a FlightInfo stand for."""
        info = fields_of(bytes_of(fields_of(body), 1))
        for endpoint in info.get(3, ()):
            ticket = bytes_of(fields_of(bytes_of(fields_of(endpoint if isinstance(endpoint, bytes) else b""), 1)), 1)
            handle = bytes_of(fields_of(unpack(ticket)[1]), 1)
            self._forget_of(_member(context), handle)
        return [enum_message(1, _CANCELLED)]

    def _forget_of(self, member: Member, handle: bytes) -> None:
        found = self._ready.get(handle)
        if found is not None and found.member is member:
            self._forget(handle)

    def _find_prepared(self, member: Member, handle: bytes) -> Prepared:
        found = self._prepared.get(handle)
        if found is None or found.member is not member:
            raise flight.FlightServerError("There is no such prepared statement.")
        return found


_ACTIONS: dict[str, Callable[[FlightSqlServer, Any, bytes], list[Any]]] = {
    "CreatePreparedStatement": FlightSqlServer._create,
    "ClosePreparedStatement": FlightSqlServer._close,
    "CancelFlightInfo": FlightSqlServer._cancel,
}


def _member(context: Any) -> Member:
    member: Member = context.get_middleware("login").member
    return member


def _info(schema: pa.Schema, descriptor: Any, ticket: bytes) -> Any:
    return flight.FlightInfo(schema, descriptor, [flight.FlightEndpoint(ticket, [])], -1, -1)


@contextmanager
def _tell_errors() -> Iterator[None]:
    """Errors as Flight tells them; of what nobody foresaw, no more than that it happened.

    Never an error that is not Flight's own: pyarrow would send its trace to the client.
    """
    try:
        yield
    except (flight.FlightError, GeneratorExit):
        raise
    except BadMessageError:
        raise flight.FlightServerError("This is no message of Flight SQL.") from None
    except MemoryError:
        raise flight.FlightServerError(NO_MEMORY) from None
    except LakewardError as wrong:
        raise _flight_error(wrong) from None
    except Exception:  # noqa: BLE001 - told to nobody but the log
        _log.exception("A call failed in a way that nobody foresaw")
        raise flight.FlightInternalError("Something went wrong in the server; its log says what.") from None


def _flight_error(wrong: LakewardError) -> Any:
    if wrong.code is ErrorCode.AUTHENTICATE:
        return flight.FlightUnauthenticatedError(wrong.message)
    if isinstance(wrong, DeniedError):
        return flight.FlightUnauthorizedError(wrong.message)
    if wrong.code is ErrorCode.OPERATION_NOT_ATTEMPTED:
        is_late = wrong.message.startswith("The question took")
        return (flight.FlightTimedOutError if is_late else flight.FlightCancelledError)(wrong.message)
    if isinstance(wrong, RetriableError):
        return flight.FlightUnavailableError(wrong.message)
    return flight.FlightServerError(wrong.message)
