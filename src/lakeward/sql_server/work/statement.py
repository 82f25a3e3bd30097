"""Statement: one question on its way through a place, DuckDB and back; with a time limit, and a way to end it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.query.duckdb.question.parameter_types import Template
from lakeward.query.duckdb.question.streamed_sql import Shape, StreamedAnswer, StreamedQuestion
from lakeward.runtime.clock import Clock
from lakeward.sql_server.work.alarms import Alarms
from lakeward.sql_server.work.places import Places

#: How long a question waits for a place.
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Desk:
    """Where questions of every protocol are answered: one set of places, one set of bounds."""

    places: Places
    alarms: Alarms
    clock: Clock
    bounds: DuckBounds = field(default_factory=DuckBounds)
    time_limit_s: float = 300.0


class Statement:
    """One question. `answer` blocks; `stop` may be called from any thread, before it, during it and after it."""

    def __init__(
        self,
        desk: Desk,
        conn: Connection,
        who: str,
        sql: str,
        database: str | None = None,
        limit_s: float | None = None,
    ) -> None:
        self._desk = desk
        self._who = who
        self._question = StreamedQuestion(conn, sql, desk.bounds, database)
        self._limit_s = min(limit_s or desk.time_limit_s, desk.time_limit_s)
        self._lock = Lock()
        self._why = ""

    def stop(self, why: str = "The question was cancelled.") -> None:
        """End it; the first reason is the one that is told."""
        with self._lock:
            self._why = self._why or why
        self._question.stop()

    @contextmanager
    def answer(self) -> Iterator[StreamedAnswer]:
        """The answer, for as long as one is inside; what goes wrong is a LakewardError."""
        with self._in_place():
            answer = self._question.open()
            try:
                yield answer
            finally:
                answer.close()

    def describe(self, template: Template, known: Sequence[str | None] = ()) -> Shape:
        """Columns and parameters alone, which cost no read."""
        with self._in_place():
            return self._question.describe(template, known)

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        with self._desk.alarms.after(self._limit_s, self._over_time), self._translate():  # noqa: SIM117
            with self._desk.places.place(self._who, _PATIENCE_S, self._check):
                yield

    @contextmanager
    def _translate(self) -> Iterator[None]:
        try:
            yield
        except Exception as wrong:
            if self._why:
                raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(self._why) from wrong
            raise

    def _over_time(self) -> bool:
        """End it, again and again: an interrupt that comes between two steps of DuckDB is lost."""
        self.stop(f"The question took longer than {self._limit_s:g} seconds and was stopped.")
        return True

    def _check(self) -> None:
        if self._why:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(self._why)
