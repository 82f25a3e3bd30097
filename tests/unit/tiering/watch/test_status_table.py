"""What the service writes down about each table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from lakeward.client.admin.lake import TieringRound
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.runtime.clock import ManualClock
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.watch import status_table
from lakeward.tiering.watch.status_table import StatusTable, TableStatus, read_statuses

PATH = TablePath("shop", "orders")
HELD = TieringRound(7, PATH, 0, 1)
MOVED = RoundReport(PATH, 41, repaired=False, rows=10, file_bytes=100, files=2, seconds=1.5)


class Cluster:
    """Keeps what is upserted; stands for connection and table."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.upserts = 0
        self.is_broken = False

    def create_database(self, name: str, *, exist_ok: bool) -> None:
        """As a connection does."""

    def create_table(self, *_: Any, **__: Any) -> Cluster:
        """As a connection does."""
        return self

    def has_table(self, path: str) -> bool:
        """As a connection does."""
        return bool(self.rows)

    def table(self, path: str) -> Cluster:
        """As a connection does."""
        return self

    def snapshot(self) -> pa.Table:
        """As a table does."""
        return pa.Table.from_pylist(list(self.rows.values()))

    def upsert(self, rows: list[dict[str, Any]]) -> None:
        """As a table does."""
        if self.is_broken:
            raise ErrorCode.STORAGE.error("full")
        self.upserts += 1
        self.rows |= {row["table_name"]: row for row in rows}


@pytest.fixture
def cluster() -> Cluster:
    """An empty one."""
    return Cluster()


def status_of(cluster: Any, *happens: Any) -> TableStatus:
    """What is written after a service told these things and ended."""
    status = StatusTable(cluster, ManualClock(1000))
    for tell in happens:
        tell(status)
    status.close()
    return read_statuses(cluster)["shop.orders"]


def test_a_round_is_remembered(cluster: Cluster) -> None:
    """With what it moved."""
    found = status_of(cluster, lambda s: s.on_begin(HELD), lambda s: s.on_end(HELD, MOVED))
    assert found == TableStatus(
        "shop.orders", 7, "waiting", 1000, 1, 1000, 10, 100, 2, 1.5, 41, 0, None, None, None
    )  # fmt: skip
    assert cluster.upserts == 1, "what happens within a moment is one row"


def test_a_round_without_news_leaves_the_last_one(cluster: Cluster) -> None:
    """Its figures are of interest, not that nothing came since."""
    nothing = RoundReport(PATH, None, repaired=False)
    found = status_of(cluster, lambda s: s.on_end(HELD, MOVED), lambda s: s.on_end(HELD, nothing))
    assert (found.rounds, found.last_rows) == (1, 10)


def test_a_failure_tells_why_and_when_it_is_tried_again(cluster: Cluster) -> None:
    """The reason stays readable after it is over; the count begins again."""
    why = ErrorCode.INVALID_TABLE.error("no such type")
    failed = status_of(cluster, lambda s: s.on_failure(HELD, why, 4.0))
    assert (failed.state, failed.failures, failed.reason, failed.retry_ms) == ("failed", 1, "no such type", 5000)
    found = status_of(cluster, lambda s: s.on_end(HELD, MOVED))
    assert (found.state, found.failures, found.retry_ms) == ("waiting", 0, None)


def test_the_next_life_of_a_service_goes_on_counting(cluster: Cluster) -> None:
    """What an earlier one wrote is not forgotten."""
    status_of(cluster, lambda s: s.on_end(HELD, MOVED))
    found = status_of(cluster, lambda s: s.on_begin(HELD))
    assert (found.state, found.last_rows, found.rounds) == ("tiering", 10, 1)


def test_another_table_of_the_name_begins_anew(cluster: Cluster) -> None:
    """It has had no round."""
    status_of(cluster, lambda s: s.on_end(HELD, MOVED))
    found = status_of(cluster, lambda s: s.on_begin(TieringRound(8, PATH, 0, 1)))
    assert (found.table_id, found.rounds) == (8, 0)


def test_a_cluster_that_cannot_take_it_stops_nobody(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again with the next news."""
    monkeypatch.setattr(status_table, "_GATHER_S", 0.0)
    cluster.is_broken = True
    status = StatusTable(cluster, ManualClock())  # type: ignore[arg-type]
    status.on_end(HELD, MOVED)
    status.close()
    assert cluster.rows == {}


def test_a_bucket_that_stopped_shows_though_its_round_moved_rows(cluster: Cluster) -> None:
    """The table is failed, with the reason, and what was moved is remembered all the same; until it can go on."""
    stopped = replace(MOVED, stopped=("shop.orders, bucket 0, offset 7 cannot be read: it is bad.",))
    found = status_of(cluster, lambda s: s.on_end(HELD, stopped))
    assert (found.state, found.reason, found.last_rows) == ("failed", stopped.stopped[0], MOVED.rows)
    assert status_of(cluster, lambda s: s.on_end(HELD, MOVED)).state == "waiting"
