"""Retention that passes between plan and read: what the log has lost is in the lake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from query_reads import rows_of
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.client.forms.results import BucketId
from lakeward.errors import RetriableError
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import Tier
from lakeward.query.request.request import ReadRequest

pytestmark = pytest.mark.slow
BUCKET = BucketId(None, 0)


@pytest.fixture
def lake(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[Warehouse]:
    """A server that lets rows go at once, and a warehouse beside it."""
    server = new_server(
        log__retention__check_interval="50ms", log__segment__file_size="2kb", kv__snapshot__interval="100ms"
    )
    opened = Warehouse(server.bootstrap, tmp_path / "lake")
    opened.conn.create_database("db")
    yield opened
    opened.close()


def request_of(lake: Warehouse, table: lakeward.Table, **more: str) -> ReadRequest:
    """A whole read."""
    return ReadRequest.of_name(str(table.path), options={"lake.warehouse": str(lake.directory), **more})


def ids(lake: Warehouse, table: lakeward.Table, plan: Plan, **more: str) -> list[int]:
    """What the splits of a plan give now."""
    return sorted(rows_of(lake.conn, request_of(lake, table, **more), plan)["id"].to_pylist())


def forget(lake: Warehouse, table: lakeward.Table, first: int) -> int:
    """Write and tier until the log has lost what it had; the number of the next row."""
    put = table.upsert if table.info.descriptor.has_primary_key else table.append
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "100ms"})
    end = table.offsets()[BUCKET]
    while table.offsets("earliest")[BUCKET] < end:
        put([{"id": i} for i in range(first, first + 50)])
        first += 50
        lake.round(table)
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "1h"})
    return first


def test_a_log_is_read_on_in_the_lake(lake: Warehouse) -> None:
    """By its offsets: exactly the rows that were planned, and the next plan has all of them."""
    table = lake.conn.create_table("db.log", "id BIGINT", buckets=1, properties=TIERED)
    table.append([{"id": i} for i in range(100)])
    plan = plan_read(lake.conn, request_of(lake, table))
    assert [split.tier for split in plan.splits] == [Tier.LOG_ONLY]
    after = forget(lake, table, 100)
    assert ids(lake, table, plan) == list(range(100))
    assert ids(lake, table, plan_read(lake.conn, request_of(lake, table))) == list(range(after))
    untold = plan_read(lake.conn, ReadRequest.of_name(str(table.path)))
    assert ids(lake, table, untold) == list(range(after)), "the table itself says where its lake is"


def test_a_primary_key_table_is_asked_again(lake: Warehouse) -> None:
    """Its lake has moved past the plan: an error that says to ask again, and asking again helps."""
    table = lake.conn.create_table("db.keys", "id BIGINT NOT NULL", primary_key=["id"], buckets=1, properties=TIERED)
    table.upsert([{"id": i} for i in range(100)])
    lake.round(table)
    table.upsert([{"id": i} for i in range(100, 120)])
    plan = plan_read(lake.conn, request_of(lake, table))
    assert [split.tier for split in plan.splits] == [Tier.HYBRID]
    after = forget(lake, table, 120)
    with pytest.raises(RetriableError, match="Ask again"):
        ids(lake, table, plan)
    assert ids(lake, table, plan_read(lake.conn, request_of(lake, table))) == list(range(after))
