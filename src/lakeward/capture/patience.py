"""PatientDatabase: a database that may be away for a while. What was asked is asked again when it is back.

Answers are the same whenever they are asked for, so a question can be repeated; of changes that were handed out before
the connection broke, as many rows are skipped.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import pyarrow as pa

from lakeward.capture.port import Chunk, Database, Event, Position, SourceTable, TableRows
from lakeward.errors import ErrorCode, RetriableError
from lakeward.runtime.backoff import Backoff

T = TypeVar("T")
_log = logging.getLogger(__name__)
_BACKOFF = Backoff(0.2, 5.0)


class PatientDatabase:
    """Opens the database when it is first needed, and again when its connection broke.

    `wait_s`: how long it may be away before that is an error.
    """

    def __init__(self, open_database: Callable[[], Database], wait_s: float) -> None:
        self._open_database = open_database
        self._wait_s = wait_s
        self._database: Database | None = None

    def tables(self) -> Sequence[SourceTable]:
        """As the database says."""
        return self._ask(lambda database: database.tables())

    def begin(self) -> Position:
        """As the database says."""
        return self._ask(lambda database: database.begin())

    def now(self) -> Position:
        """As the database says."""
        return self._ask(lambda database: database.now())

    def limit(self, start: Position, end: Position, rows: int) -> Position:
        """As the database says."""
        return self._ask(lambda database: database.limit(start, end, rows))

    def chunks(self, table: SourceTable, rows: int) -> Sequence[Chunk]:
        """As the database says."""
        return self._ask(lambda database: database.chunks(table, rows))

    def read_chunk(self, table: SourceTable, chunk: Chunk, as_of: Position | None) -> Iterator[pa.RecordBatch]:
        """All rows of the chunk, or none: they may come in another order the next time. Those of now just come."""
        if as_of is None:
            yield from self._open_once().read_chunk(table, chunk, as_of)
        else:
            yield from self._ask(lambda database: list(database.read_chunk(table, chunk, as_of)))

    def changes(self, start: Position, end: Position, known: Sequence[SourceTable]) -> Iterator[Event]:
        """Each change once, also where the connection breaks between them."""
        told = _Told()
        away = _Away(self._wait_s)
        while True:
            try:
                for event in told.leave_out(self._open_once().changes(start, end, known)):
                    away.end()
                    yield event
            except RetriableError as wrong:
                self._rest(wrong, away)
            else:
                return

    def is_after(self, one: Position, other: Position) -> bool:
        """As the database says."""
        return self._ask(lambda database: database.is_after(one, other))

    def release(self, position: Position) -> None:
        """As the database says."""
        self._ask(lambda database: database.release(position))

    def held_bytes(self) -> int | None:
        """As the database says."""
        return self._ask(lambda database: database.held_bytes())

    def close(self) -> None:
        """End the connections, if there are any."""
        if self._database is not None:
            database, self._database = self._database, None
            database.close()

    def check(self) -> None:
        """As the database says."""
        self._ask(lambda database: database.check())

    def drop(self) -> None:
        """As the database says."""
        self._ask(lambda database: database.drop())

    def _open_once(self) -> Database:
        if self._database is None:
            self._database = self._open_database()
        return self._database

    def _ask(self, question: Callable[[Database], T]) -> T:
        away = _Away(self._wait_s)
        while True:
            try:
                answer = question(self._open_once())
            except RetriableError as wrong:
                self._rest(wrong, away)
            else:
                away.end()
                return answer

    def _rest(self, wrong: RetriableError, away: _Away) -> None:
        self.close()
        if not away.bears(wrong):
            raise wrong


class _Away:
    """How long the database has been away; said once when it begins, once when it ends."""

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        self._since_s: float | None = None
        self._failures = 0

    def bears(self, wrong: RetriableError) -> bool:
        """After a failure: rest before the next attempt, or say that it has been too long."""
        now_s = time.monotonic()
        if wrong.code is not ErrorCode.NETWORK or not self._wait_s:
            return False
        if self._since_s is None:
            self._since_s = now_s
            _log.warning("%s Waiting for it for up to %g s.", wrong.message, self._wait_s)
        if now_s - self._since_s > self._wait_s:
            return False
        self._failures += 1
        time.sleep(_BACKOFF.pause_s(self._failures))
        return True

    def end(self) -> None:
        """It has answered."""
        if self._since_s is not None:
            _log.warning("The database is back after %.1f s; going on.", time.monotonic() - self._since_s)
            self._since_s, self._failures = None, 0


class _Told:
    """How much of some changes was handed out: rows, and changes of schemas."""

    def __init__(self) -> None:
        self._count = 0

    def leave_out(self, events: Iterator[Event]) -> Iterator[Event]:
        """What was not handed out before."""
        passed = 0
        for event in events:
            size = event.rows.num_rows if isinstance(event, TableRows) else 1
            skipped = min(max(self._count - passed, 0), size)
            passed += size
            if skipped < size:
                self._count = passed
                yield _tail(event, skipped) if isinstance(event, TableRows) and skipped else event


def _tail(event: TableRows, skipped: int) -> TableRows:
    kinds = None if event.kinds is None else event.kinds.slice(skipped)
    return TableRows(event.table, event.rows.slice(skipped), kinds, event.committed_ms)
