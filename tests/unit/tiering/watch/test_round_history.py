"""The rounds of the past, out of the changes of status rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from lakeward.tiering.watch.round_history import PastRound, history_of
from lakeward.tiering.watch.status_table import TableStatus

FIRST = TableStatus(
    "shop.orders", 7, rounds=1, last_round_ms=1000, last_rows=10, last_bytes=99, last_files=2, last_seconds=0.5,
    last_snapshot_id=41,
)  # fmt: skip


def change(status: TableStatus, kind: str = "+U") -> dict[str, Any]:
    """A change of a status row, as a changelog has it."""
    return {**asdict(status), "_change_type": kind}


def test_a_round_that_moved_rows_is_told_with_what_it_moved() -> None:
    """Whatever state it was written down in."""
    assert history_of([change(FIRST, "+I"), change(replace(FIRST, state="tiering"))]) == {
        "shop.orders": [PastRound(1000, None, 10, 99, 2, 0.5, 41)]
    }


def test_failures_are_told_with_their_reason_in_the_order_of_time() -> None:
    """Each once, however often the row that says it was written."""
    failed = replace(FIRST, state="failed", failures=1, reason="the lake is away", failed_ms=2000)
    again = replace(failed, failures=2, failed_ms=3000)
    done = replace(again, state="waiting", failures=0, last_round_ms=4000, last_rows=3)
    found = history_of([change(FIRST), change(failed), change(again), change(done)])["shop.orders"]
    assert [(one.ended_ms, one.reason, one.rows) for one in found] == [
        (1000, None, 10),
        (2000, "the lake is away", None),
        (3000, "the lake is away", None),
        (4000, None, 3),
    ]
    assert [one.is_failure for one in found] == [False, True, True, False]


def test_what_a_row_was_before_a_change_is_told_by_the_change_before() -> None:
    """So it counts for nothing."""
    assert history_of([change(FIRST, "-U")]) == {}


def test_rounds_of_an_earlier_table_of_that_name_are_left_out() -> None:
    """A table that was dropped and made again begins anew."""
    other = replace(FIRST, table_id=8, last_round_ms=5000)
    assert [one.ended_ms for one in history_of([change(FIRST), change(other)])["shop.orders"]] == [5000]


def test_a_table_whose_rounds_are_still_to_come_has_none() -> None:
    """It is under way for the first time."""
    assert history_of([change(TableStatus("shop.orders", 7, state="tiering"), "+I")]) == {"shop.orders": []}
