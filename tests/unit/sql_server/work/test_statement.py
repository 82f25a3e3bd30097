"""Statement: a question of DuckDB's without tables, on its way through places and lanes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.duckdb.question.closed_session import DuckBounds
from lakeward.query.duckdb.question.question_error import QuestionError
from lakeward.runtime.clock import SystemClock
from lakeward.sql_server.postgres.codec.sql_text import statements_of
from lakeward.sql_server.work.alarms import Alarms
from lakeward.sql_server.work.places import Places
from lakeward.sql_server.work.short import Lanes
from lakeward.sql_server.work.statement import Desk, Statement

_LONG_S = 60.0
_ENDLESS = "SELECT sum(hash(i)) FROM range(1000000000000) r(i)"


class _Inner:
    """What a connection is known by."""


@pytest.fixture
def desk() -> Iterator[Desk]:
    """One place, and lanes beside it."""
    clock = SystemClock()
    alarms = Alarms(clock)
    bounds = DuckBounds(memory_bytes=64 << 20, spill_bytes=0, threads=1)
    yield Desk(Places(1, 1, 10, clock), Lanes(10, bounds, clock, alarms), alarms, clock, bounds, _LONG_S)
    alarms.close()


def statement(desk: Desk, sql: str, who: str = "somebody", limit_s: float | None = None) -> Statement:
    """One that asks for no table."""
    conn = cast(Any, SimpleNamespace(inner=_Inner(), lake_properties={}))
    return Statement(desk, conn, who, sql, None, limit_s)


def taken(desk: Desk, held: ExitStack) -> None:
    """Somebody is in the only place."""
    held.enter_context(desk.places.place("another", _LONG_S, lambda: None))


def rows(asked: Statement) -> list[dict[str, Any]]:
    """The whole answer."""
    with asked.answer() as answer:
        return [row for batch in answer for row in batch.to_pylist()]


def test_a_short_question_does_not_wait_for_a_place(desk: Desk) -> None:
    """It is answered beside it; so is one about columns, and one that is wrong."""
    with ExitStack() as held:
        taken(desk, held)
        assert rows(statement(desk, "SELECT 42 AS n")) == [{"n": 42}]
        sql = statements_of("SELECT 1 AS n")[0]
        assert statement(desk, sql.sql).describe(sql).columns.names == ["n"]
        with pytest.raises(QuestionError, match="nothing_like_it"):
            rows(statement(desk, "SELECT nothing_like_it(1)"))


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT i, repeat('x', 100) AS x FROM range(30000) r(i)", 30_000),
        ("SELECT count(DISTINCT hash(i)) FROM range(8000000) r(i)", 1),
    ],
)
def test_what_is_no_short_question_is_answered_in_its_place(desk: Desk, sql: str, count: int) -> None:
    """Its rows are too many, or its work; it waits, and is then answered from the beginning."""
    found = list[int]()
    with ExitStack() as held:
        taken(desk, held)
        roomy = DuckBounds(memory_bytes=1 << 30, spill_bytes=0, threads=1)
        wide = Desk(desk.places, desk.lanes, desk.alarms, desk.clock, roomy, _LONG_S)
        asking = threading.Thread(target=lambda: found.append(len(rows(statement(wide, sql)))))
        asking.start()
        asking.join(0.3)
        assert not found
    asking.join(_LONG_S)
    assert found == [count]


def test_answers_that_lie_there_whole_are_bounded(desk: Desk) -> None:
    """Who has not read theirs holds bytes of them until they let go."""
    with ExitStack() as held:
        taken(desk, held)
        some = statement(desk, "SELECT repeat('x', 500000) AS x")
        before = desk.lanes.shelf._left
        with some.answer() as answer:
            assert desk.lanes.shelf._left <= before - 500_000
            assert sum(batch.num_rows for batch in answer) == 1
        assert desk.lanes.shelf._left == before


def test_a_question_is_stopped_wherever_it_is(desk: Desk) -> None:
    """In a lane, and while it waits for its place; the first reason is told, and nobody is left behind."""
    with ExitStack() as held:
        taken(desk, held)
        for pause in (0.1, 2.0):
            asked = statement(desk, _ENDLESS)
            threading.Timer(pause, asked.stop, ["for a reason"]).start()
            with pytest.raises(LakewardError, match="for a reason") as caught:
                rows(asked)
            assert caught.value.code is ErrorCode.OPERATION_NOT_ATTEMPTED
    assert rows(statement(desk, "SELECT 1 AS n")) == [{"n": 1}]


def test_time_is_up_in_a_place_and_outside(desk: Desk) -> None:
    """The sentence says how long it may take."""
    with pytest.raises(LakewardError, match=r"took longer than 0\.2 seconds"):
        rows(statement(desk, _ENDLESS, limit_s=0.2))
    with ExitStack() as held:
        taken(desk, held)
        with pytest.raises(LakewardError, match=r"took longer than 0\.2 seconds"):
            rows(statement(desk, _ENDLESS, limit_s=0.2))
