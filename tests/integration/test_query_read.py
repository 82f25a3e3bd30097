"""Bounded reads of tables and views: what is planned, what is left out, and that every row comes once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from client_rows import EVERY_TYPE, EVERY_VALUE, fresh
from query_reads import read, rows_of
from server_process import ServerProcess

import lakeward
from lakeward.client.state.state import TableState
from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import LogSplit, StateSplit
from lakeward.query.read.read import read_split, read_splits
from lakeward.query.read.view_rows import blank_rows
from lakeward.query.request.filters import And, Compare, In, IsNull, NotNull, Or, StartsWith
from lakeward.query.request.request import ReadRequest
from lakeward.rpc.channel import Channel

STATISTICS = {"table.statistics.columns": "*"}
DAYS = [f"2026-11-{day:02}" for day in range(1, 11)]


@pytest.fixture(scope="module")
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection, and a database that goes with it."""
    with lakeward.connect(server.bootstrap) as made:
        made.create_database("query_read", exist_ok=True)
        yield made
        made.drop_database("query_read", cascade=True)


def table_of(conn: lakeward.Connection, columns: str = "id BIGINT, name STRING", **rest: Any) -> lakeward.Table:
    """A fresh table."""
    return conn.create_table(f"query_read.{fresh('t')}", columns, **rest)


@pytest.fixture(scope="module")
def days(conn: lakeward.Connection) -> lakeward.Table:
    """Ten partitions of ten rows."""
    table = table_of(conn, "id BIGINT, dt STRING, n INT", partition_by=["dt"], buckets=2)
    for number, day in enumerate(DAYS):
        table.append([{"id": number * 10 + i, "dt": day, "n": i} for i in range(10)])
    return table


@pytest.fixture(scope="module")
def ordered(conn: lakeward.Connection, server: Any) -> lakeward.Table:
    """Batches with statistics, if the server knows them, a hundred rows in each, one bucket."""
    known = STATISTICS if isinstance(server, ServerProcess) else {}
    table = table_of(conn, "id BIGINT, name STRING, x DOUBLE", buckets=1, properties=known)
    for first in range(0, 500, 100):
        table.append([{"id": i, "name": f"n{i:03}", "x": i / 2} for i in range(first, first + 100)])
    return table


@pytest.fixture(scope="module")
def keyed(conn: lakeward.Connection) -> lakeward.Table:
    """Three rows, two of them updated, one of them deleted, in one bucket."""
    table = table_of(conn, primary_key=["id"], buckets=1)
    table.upsert([{"id": i, "name": "old"} for i in (1, 2, 3)])
    table.upsert([{"id": i, "name": "new"} for i in (1, 2)])
    table.delete([1])
    return table


# -- what is planned --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ((), DAYS),
        ((Compare(">=", "dt", "2026-11-09"),), DAYS[8:]),
        ((Compare("=", "dt", "2026-11-03"), Compare("<", "n", 5)), DAYS[2:3]),
        ((In("dt", ("2026-11-01", "2026-12-24")),), DAYS[:1]),
        ((Or((Compare("=", "dt", DAYS[0]), Compare("=", "n", 1))),), DAYS),
        ((Or((Compare("=", "dt", DAYS[0]), StartsWith("dt", "2026-11-1"))),), [DAYS[0], DAYS[9]]),
        ((IsNull("dt"),), []),
    ],
)
def test_partitions_that_cannot_match_are_not_read(
    conn: lakeward.Connection, days: lakeward.Table, filters: tuple[Any, ...], kept: list[str]
) -> None:
    """Only partitions whose values can match are in the plan, and its line says how many."""
    request = ReadRequest.of_name(str(days.path), filters=filters)
    plan = plan_read(conn, request)
    assert {s.partition for s in plan.splits} == set(kept)
    assert plan.describe().startswith(f"{len(kept)} of 10 partitions")
    assert sorted(rows_of(conn, request, plan)["id"].to_pylist()) == [
        i for n, day in enumerate(DAYS) if day in kept for i in range(n * 10, n * 10 + 10)
    ]


def test_a_plan_in_one_line(conn: lakeward.Connection, days: lakeward.Table, keyed: lakeward.Table) -> None:
    """Partitions, buckets, offsets, columns, what was handed down, and the limit."""
    filters = (Compare(">=", "dt", "2026-11-10"), NotNull("id"), Compare("<>", "n", None))
    asked = ReadRequest.of_name(str(days.path), columns=("id", "dt"), filters=filters)
    found = plan_read(conn, asked).describe()
    assert found.endswith("10 offsets, 2 of 3 columns, pushed: dt >= '2026-11-10', id IS NOT NULL")
    state = plan_read(conn, ReadRequest.of_name(str(keyed.path), limit=5))
    assert state.describe() == "1 bucket, current state, 2 of 2 columns, limit 5"


def test_large_buckets_are_cut_evenly(conn: lakeward.Connection, ordered: lakeward.Table) -> None:
    """Pieces of about the same size that leave no gap; small tables stay whole unless that is asked for."""
    name = str(ordered.path)
    whole = plan_read(conn, ReadRequest.of_name(name)).splits
    assert whole == (LogSplit(None, 0, 0, 500),)
    request = ReadRequest.of_name(name, options={"scan.split.rows": "120"})
    plan = plan_read(conn, request)
    assert [(s.start, s.stop) for s in plan.splits if isinstance(s, LogSplit)] == [
        (0, 100),
        (100, 200),
        (200, 300),
        (300, 400),
        (400, 500),
    ]
    assert rows_of(conn, request, plan)["id"].to_pylist() == list(range(500))
    assert [len(group) for group in plan.tasks(2)] == [3, 2]


def test_a_limit_reads_no_more_than_it_needs(conn: lakeward.Connection, ordered: lakeward.Table) -> None:
    """Without filters every offset is a row, so the plan ends where the limit does; with them each split is cut."""
    name = str(ordered.path)
    plan = plan_read(conn, ReadRequest.of_name(name, limit=30))
    assert plan.splits == (LogSplit(None, 0, 0, 30),)
    assert read(conn, name, limit=30)["id"].to_pylist() == list(range(30))
    assert read(conn, name, limit=30, filters=(NotNull("id"),)).num_rows == 30
    assert read(conn, name, limit=0).num_rows == 0


def test_a_task_reads_several_splits(conn: lakeward.Connection, days: lakeward.Table) -> None:
    """All of them, or as many rows as the limit of the whole read; leaving early closes what is open."""
    request = ReadRequest.of_name(str(days.path))
    splits = plan_read(conn, request).splits
    assert sum(b.num_rows for b in read_splits(conn, request, splits)) == 100
    assert sum(b.num_rows for b in read_splits(conn, replace(request, limit=35), splits)) == 35
    early = read_splits(conn, request, splits)
    assert next(early).num_rows
    early.close()  # type: ignore[attr-defined]


# -- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filter_", "found"),
    [
        (Compare("=", "id", 250), range(200, 300)),
        (Compare("<", "x", 50.5), range(200)),
        (Compare(">", "x", 200.0), range(500)),
        (And((Compare(">=", "name", "n150"), Compare("<=", "name", "n210"))), range(100, 300)),
        (StartsWith("name", "n4"), range(400, 500)),
        (Compare("=", "id", 1000), range(0)),
        (Or((Compare("=", "id", 5), Compare("=", "id", 405))), [*range(100), *range(400, 500)]),
        (IsNull("id"), range(0)),
    ],
    ids=str,
)
@pytest.mark.usefixtures("lakeward")
def test_batches_that_cannot_match_are_not_fetched(
    conn: lakeward.Connection, ordered: lakeward.Table, filter_: Any, found: Any
) -> None:
    """The server leaves out whole batches by their statistics; never one with a row that matches."""
    for columns in (("id",), ("id", "name", "x"), ("x", "id")):
        rows = read(conn, str(ordered.path), columns=columns, filters=(filter_,))
        assert rows.column_names == list(columns)
        assert rows["id"].to_pylist() == list(found)


def test_counting_reads_no_columns(conn: lakeward.Connection, ordered: lakeward.Table, keyed: lakeward.Table) -> None:
    """A read of no columns has the right number of rows, filtered or not, of tables and views."""
    for name, filters, count in (
        (ordered.path, (), 500),
        (ordered.path, (NotNull("id"),), 500),
        (f"{ordered.path}$changelog", (), 500),
        (keyed.path, (), 2),
        (f"{keyed.path}$changelog", (), 8),
        (f"{keyed.path}$binlog", (), 6),
    ):
        request = ReadRequest.of_name(str(name), columns=(), filters=filters)
        found = [b for s in plan_read(conn, request).splits for b in read_split(conn, request, s)]
        assert sum(b.num_rows for b in found) == count, name
        assert all(b.num_columns == 0 for b in found)
    assert blank_rows(7).num_rows == 7


def test_every_type_passes_through(conn: lakeward.Connection) -> None:
    """Rows, changelog and binlog hold every type as the table does."""
    table = table_of(conn, f"id BIGINT, {EVERY_TYPE}", primary_key=["id"], buckets=1)
    row = {"id": 1, **EVERY_VALUE}
    table.upsert([row, {**dict.fromkeys(row), "id": 2}])
    (want, nulls) = sorted(table.snapshot().to_pylist(), key=lambda r: r["id"])
    rows = read(conn, str(table.path))
    assert sorted(rows.to_pylist(), key=lambda r: r["id"]) == [want, nulls]
    changes = read(conn, f"{table.path}$changelog").to_pylist()
    assert [{k: c[k] for k in want} for c in changes] == [want, nulls]
    assert [c["after"] for c in read(conn, f"{table.path}$binlog").to_pylist()] == [want, nulls]


def test_the_state_of_a_primary_key_table(conn: lakeward.Connection, keyed: lakeward.Table) -> None:
    """The rows as they are now, any columns in any order, without the key too."""
    request = ReadRequest.of_name(str(keyed.path))
    assert [type(s) for s in plan_read(conn, request).splits] == [StateSplit]
    rows = read(conn, str(keyed.path))
    assert sorted((r["id"], r["name"]) for r in rows.to_pylist()) == [(2, "new"), (3, "old")]
    assert sorted(read(conn, str(keyed.path), columns=("name",))["name"].to_pylist()) == ["new", "old"]


@pytest.mark.parametrize("way", ["_scan", "_fold", "_scan_by_limit"])
def test_state_as_of_an_offset(conn: lakeward.Connection, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What changed since then is taken back, or not folded in, whatever the server offers to read the state."""
    if way != "_scan":
        supports = Channel.supports
        monkeypatch.setattr(Channel, "supports", lambda self, api: api is not Api.SCAN_KV and supports(self, api))
        monkeypatch.setattr(TableState, "_fold", getattr(TableState, way))
    table = table_of(conn, primary_key=["id"], buckets=1)
    states = []
    for step in ([1, 2, 3], [2, 4], [1]):
        table.upsert([{"id": i, "name": f"step {len(states)}"} for i in step])
        states.append((table.offsets()[(None, 0)], _by_id(table.snapshot())))
    table.delete([2, 3])
    table.upsert([{"id": 2, "name": "again"}])
    for offset, want in states:
        found = pa.Table.from_batches(table.snapshot_batches(buckets=[0], as_of=offset), table.schema)
        assert _by_id(found) == want
        names = [b["name"].to_pylist() for b in table.snapshot_batches(["name"], buckets=[0], as_of=offset)]
        assert sorted(n for batch in names for n in batch) == sorted(want.values())
    with pytest.raises(LakewardError, match="one bucket"):
        list(table_of(conn, primary_key=["id"], buckets=3).snapshot_batches(as_of=5))


def _by_id(rows: pa.Table) -> dict[int, str]:
    found = {r["id"]: r["name"] for r in rows.to_pylist()}
    assert len(found) == rows.num_rows
    return found


# -- views ------------------------------------------------------------------------------------------------------------


def test_the_changelog_of_a_primary_key_table(conn: lakeward.Connection, keyed: lakeward.Table) -> None:
    """Each change is a row, named as Apache Fluss names it, with offset and time before the columns."""
    rows = read(conn, f"{keyed.path}$changelog")
    assert rows.column_names == ["_change_type", "_log_offset", "_commit_timestamp", "id", "name"]
    assert [(r["_change_type"], r["_log_offset"], r["id"], r["name"]) for r in rows.to_pylist()] == [
        ("insert", 0, 1, "old"),
        ("insert", 1, 2, "old"),
        ("insert", 2, 3, "old"),
        ("update_before", 3, 1, "old"),
        ("update_after", 4, 1, "new"),
        ("update_before", 5, 2, "old"),
        ("update_after", 6, 2, "new"),
        ("delete", 7, 1, "new"),
    ]
    assert rows["_commit_timestamp"].to_pylist() == keyed.changelog().to_arrow()["_timestamp"].to_pylist()
    some = read(conn, f"{keyed.path}$changelog", columns=("name", "_change_type"), limit=2)
    assert some.to_pylist() == [{"name": "old", "_change_type": "insert"}] * 2


def test_a_limit_of_changes_counts_no_empty_batches(conn: lakeward.Connection) -> None:
    """Deletes of keys that are not there take offsets, but are no changes."""
    table = table_of(conn, primary_key=["id"], buckets=1)
    for key in range(3):
        table.delete([77])
        table.upsert([{"id": key, "name": "x"}])
    assert read(conn, f"{table.path}$changelog", limit=2)["id"].to_pylist() == [0, 1]


def test_the_changelog_of_a_log_table(conn: lakeward.Connection, ordered: lakeward.Table) -> None:
    """Appended rows are inserts."""
    rows = read(conn, f"{ordered.path}$changelog", columns=("_change_type", "_log_offset", "id"))
    assert set(rows["_change_type"].to_pylist()) == {"insert"}
    assert rows["_log_offset"].to_pylist() == rows["id"].to_pylist() == list(range(500))


@pytest.mark.parametrize("split_rows", [1, 2, 3, 5, 100])
def test_the_binlog_pairs_updates(conn: lakeward.Connection, keyed: lakeward.Table, split_rows: int) -> None:
    """Before and after are in one row, at the offset of the after, wherever splits are cut."""
    rows = read(conn, f"{keyed.path}$binlog", options={"scan.split.rows": str(split_rows)})
    assert rows.column_names == ["_change_type", "_log_offset", "_commit_timestamp", "before", "after"]
    old = {i: {"id": i, "name": "old"} for i in (1, 2, 3)}
    new = {i: {"id": i, "name": "new"} for i in (1, 2)}
    assert [(r["_change_type"], r["_log_offset"], r["before"], r["after"]) for r in rows.to_pylist()] == [
        ("insert", 0, None, old[1]),
        ("insert", 1, None, old[2]),
        ("insert", 2, None, old[3]),
        ("update", 4, old[1], new[1]),
        ("update", 6, old[2], new[2]),
        ("delete", 7, new[1], None),
    ]
    after = read(conn, f"{keyed.path}$binlog", columns=("after", "_log_offset"))
    assert after.column_names == ["after", "_log_offset"]


def test_a_binlog_without_old_rows(conn: lakeward.Connection) -> None:
    """Where the changelog keeps no old rows, what was before an update is NULL."""
    table = table_of(conn, primary_key=["id"], buckets=1, properties={"table.changelog.image": "WAL"})
    table.upsert([{"id": 1, "name": "a"}])
    table.upsert([{"id": 1, "name": "b"}])
    rows = read(conn, f"{table.path}$binlog").to_pylist()
    assert [(r["_change_type"], r["before"], r["after"]["name"]) for r in rows][-1] == ("update", None, "b")


def test_offsets_and_times_bound_a_view(conn: lakeward.Connection, ordered: lakeward.Table) -> None:
    """Filters on a view's own columns say which offsets need not be read at all."""
    name = f"{ordered.path}$changelog"
    first, last = (ordered.scan(metadata_columns=True).to_arrow()["_timestamp"][i].as_py() for i in (0, 499))
    for filters, offsets in (
        ((Compare(">=", "_log_offset", 100), Compare("<", "_log_offset", 110)), 10),
        ((And((Compare(">", "_log_offset", 100), Compare("<=", "_log_offset", 110))),), 10),
        ((Compare("=", "_log_offset", 7),), 1),
        ((Compare(">", "_log_offset", 1000),), 0),
        ((Compare(">=", "_commit_timestamp", first),), 500),
        ((Compare(">", "_commit_timestamp", last + dt.timedelta(days=400)),), 0),
        ((Or((Compare("=", "_log_offset", 7), Compare("=", "id", 9))),), 500),
    ):
        plan = plan_read(conn, ReadRequest.of_name(name, filters=filters))
        assert sum(s.weight for s in plan.splits) == offsets, filters
        assert ("pushed" in plan.describe()) is (offsets < 500 or "timestamp" in str(filters[0]))
    young = {"scan.startup.mode": "timestamp", "scan.startup.timestamp": str(int(last.timestamp() * 1000))}
    rows = read(conn, str(ordered.path), options=young)
    assert rows["id"].to_pylist()[-1] == 499


def test_views_that_a_table_does_not_have(conn: lakeward.Connection, ordered: lakeward.Table) -> None:
    """A log table has no binlog, and a wrong name or column is said in one sentence."""
    with pytest.raises(LakewardError, match=r"has no primary key, so its rows never change and it has no \$binlog"):
        plan_read(conn, ReadRequest.of_name(f"{ordered.path}$binlog"))
    with pytest.raises(LakewardError, match="There is no column 'nope'"):
        read(conn, str(ordered.path), columns=("nope",))
