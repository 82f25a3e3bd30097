"""Statement: one question on its way through a place, DuckDB and back; with a time limit, and a way to end it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeVar

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.query.duckdb.question.parameter_types import Template
from lakeward.query.duckdb.question.streamed_sql import Shape, StreamedQuestion
from lakeward.runtime.clock import Clock
from lakeward.sql_server.work.ahead import Ahead
from lakeward.sql_server.work.alarms import Alarms
from lakeward.sql_server.work.places import Places, Turn
from lakeward.sql_server.work.short import Answer, KeptAnswer, Lanes

T = TypeVar("T")
#: How long a question waits for a place.
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Desk:
    """Where questions of every protocol are answered: one set of places, one set of bounds."""

    places: Places
    lanes: Lanes
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
        time_zone: str = "UTC",
    ) -> None:
        self._desk = desk
        self._conn = conn
        self._who = who
        self._sql = sql
        self._database = database
        self._time_zone = time_zone
        self._limit_s = min(limit_s or desk.time_limit_s, desk.time_limit_s)
        self._lock = Lock()
        self._why = ""
        self._question = self._new_question(desk.bounds)

    def stop(self, why: str = "The question was cancelled.") -> None:
        """End it; the first reason is the one that is told."""
        with self._lock:
            self._why = self._why or why
            question = self._question
        question.stop()

    @contextmanager
    def answer(self) -> Iterator[Answer]:
        """The answer, for as long as one is inside; what goes wrong is a LakewardError."""
        with self._in_time():
            with self._desk.places.line(self._who, _PATIENCE_S) as turn:
                kept = self._attempt(turn, self._open_whole)
                if kept is None:
                    with closing(Ahead(self._in_place(turn).open())) as answer:
                        yield answer
            if kept is not None:
                with closing(kept):
                    yield kept

    def describe(self, template: Template, known: Sequence[str | None] = ()) -> Shape:
        """Columns and parameters alone, which cost no read."""

        def ask(question: StreamedQuestion) -> Shape:
            return question.describe(template, known)

        with self._in_time(), self._desk.places.line(self._who, _PATIENCE_S) as turn:
            return self._attempt(turn, ask) or ask(self._in_place(turn))

    def _attempt(self, turn: Turn, ask: Callable[[StreamedQuestion], T]) -> T | None:
        """What is asked, as a short question while no place is free; None if it is none, or there is a place."""
        if turn.has_come:
            return None
        lanes = self._desk.lanes
        question = self._use(self._new_question(lanes.bounds))
        return lanes.attempt(turn, _PATIENCE_S, self._check, question, lambda: ask(question))

    def _open_whole(self, question: StreamedQuestion) -> KeptAnswer:
        with closing(question.open()) as answer:
            return self._desk.lanes.shelf.keep(answer)

    def _in_place(self, turn: Turn) -> StreamedQuestion:
        """The question, when its turn has come."""
        turn.wait(self._check)
        return self._use(self._new_question(self._desk.bounds))

    def _new_question(self, bounds: DuckBounds) -> StreamedQuestion:
        return StreamedQuestion(self._conn, self._sql, bounds, self._database, self._time_zone)

    def _use(self, question: StreamedQuestion) -> StreamedQuestion:
        """The one that is stopped from here on."""
        with self._lock:
            self._question = question
        self._check()
        return question

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        with self._desk.alarms.after(self._limit_s, self._over_time):
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
