"""How a lake table does, as the pages show it."""

from __future__ import annotations

import pytest

from lakeward.console.pages.lake.lake_row import row_of
from lakeward.tiering.watch.lag import Lag
from lakeward.tiering.watch.status_table import TableStatus
from lakeward.tiering.watch.table_tiering import TableTiering


def tiering(seconds: float | None = 0.0, *, is_paused: bool = False, reason: str | None = None) -> TableTiering:
    """A table whose lake is so far behind, and may be a minute."""
    status = TableStatus("shop.orders", 7, state="failed" if reason else "waiting", reason=reason)
    state = "paused" if is_paused else status.state
    return TableTiering("shop.orders", state, is_paused, "iceberg", 60_000, Lag(3, seconds, 1), status)


@pytest.mark.parametrize(("seconds", "is_late"), [(0.0, False), (170.0, False), (190.0, True), (None, False)])
def test_a_lake_far_behind_what_was_promised_is_late(seconds: float | None, is_late: bool) -> None:
    """A round takes its time: some freshness more than one is no reason to look."""
    assert row_of(tiering(seconds)).is_late is is_late


def test_a_paused_table_is_never_late() -> None:
    """Somebody wanted it so."""
    row = row_of(tiering(9999.0, is_paused=True))
    assert (row.state, row.level, row.is_late) == ("paused", "warn", False)


def test_the_reason_of_a_failure_names_no_password() -> None:
    """Catalogs tell the address they were given."""
    row = row_of(tiering(reason="no answer from http://ann:hunter2@catalog/v1"))
    assert (row.level, row.reason) == ("bad", "no answer from http://catalog/v1")
