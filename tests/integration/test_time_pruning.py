"""A predicate on time leaves out what is older, and the plan says so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from query_reads import rows_of
from server_process import ServerProcess

import lakeward
from lakeward.query.plan.planner import plan_read
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import SystemClock


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lakeward.Connection]:
    """A connection of the test's own."""
    with lakeward.connect(server.bootstrap) as opened:
        yield opened


def written(conn: lakeward.Connection, name: str) -> tuple[lakeward.Table, dt.datetime]:
    """A hundred rows, then ten whose time is known; each row has a time of its own, a day after the one before it."""
    table = conn.create_table(
        name, "id BIGINT, at TIMESTAMP(3)", buckets=1, properties={"table.statistics.columns": "at"}
    )
    start = dt.datetime(2026, 1, 1)
    for first in range(0, 110, 10):
        if first == 100:
            between_ms = SystemClock().now_ms() + 3
            while SystemClock().now_ms() <= between_ms:
                pass
        table.append([{"id": i, "at": start + dt.timedelta(days=i)} for i in range(first, first + 10)])
    return table, dt.datetime.fromtimestamp(between_ms / 1000, dt.UTC)


def test_a_view_is_read_from_its_time_on(
    conn: lakeward.Connection, database: str, server: ServerProcess, tmp_path: Path
) -> None:
    """By offsets: older segments are not looked at. EXPLAIN and `lakeward plan` tell how much is left."""
    table, between = written(conn, f"{database}.log")
    request = ReadRequest.of_name(f"{table.path}$changelog", filters=(Compare(">=", "_commit_timestamp", between),))
    plan = plan_read(conn, request)
    assert sorted(rows_of(conn, request, plan)["id"].to_pylist()) == list(range(100, 110))
    assert "10 of 110 offsets" in plan.describe()
    cli = Cli(server.bootstrap, tmp_path)
    where = f"_commit_timestamp >= TIMESTAMPTZ '{between.isoformat()}'"
    told = cli.ok("plan", f"{table.path}$changelog", "--where", where)
    assert "10 of 110 offsets" in told
    assert "_commit_timestamp >= " in told
    document: Any = cli.document("plan", f"{table.path}$changelog", "--where", where)
    assert (document["log_offsets"], document["log_offsets_in_all"]) == (10, 110)


def test_rows_have_times_of_their_own(conn: lakeward.Connection, database: str) -> None:
    """Batches whose statistics lie outside are not sent; the plan says that the filter reaches the server."""
    table, _ = written(conn, f"{database}.log")
    since = dt.datetime(2026, 1, 1) + dt.timedelta(days=95)
    request = ReadRequest.of_name(str(table.path), filters=(Compare(">=", "at", since),))
    plan = plan_read(conn, request)
    assert "pushed: at >= " in plan.describe()
    found = rows_of(conn, request, plan)["id"].to_pylist()
    assert sorted(found) == list(range(90, 110))
