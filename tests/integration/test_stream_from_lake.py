"""A stream in `full` mode begins with the lake and goes on in the log: every row exactly once, wherever it is cut."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from query_reads import Reader, rows_of
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError
from lakeward.lake.iceberg.table import IcebergTable
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, LogSplit, StateSplit
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.admission import ReadLimit
from lakeward.query.stream.stream import TableStream
from lakeward.query.stream.stream_offset import StreamOffset

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[Warehouse]:
    """A server whose logs are cut into small segments, and a warehouse beside it."""
    server = new_server(log__retention__check_interval="50ms", log__segment__file_size="2kb")
    opened = Warehouse(server.bootstrap, tmp_path / "lake")
    opened.conn.create_database("db")
    yield opened
    opened.close()


def rows(start: int, stop: int, **more: Any) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"name {i}", **more} for i in range(start, stop)]


def stream_of(lake: Warehouse, table: lakeward.Table, **more: str) -> Reader:
    """A stream of everything."""
    return Reader(lake.conn, str(table.path), options={"lake.warehouse": str(lake.directory), **more})


def ids(found: list[dict[str, Any]]) -> list[int]:
    """Which rows they are."""
    return sorted(row["id"] for row in found)


def kinds(reader: Reader, rows: int | None = None) -> set[type]:
    """What kinds of splits the next batch has."""
    stream = reader.stream
    return {type(s) for s in stream.plan(reader.at, stream.latest(reader.at, ReadLimit(rows))).splits}


def forget(lake: Warehouse, table: lakeward.Table, first: int) -> int:
    """Write and tier until the log has lost what it had; the number of the next row."""
    ends = table.offsets()
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "1ms"})
    while any(start < ends[id_] for id_, start in table.offsets("earliest").items()):
        table.append(rows(first, first + 100))
        first += 100
        lake.round(table)
    lake.conn.alter_table(str(table.path), set={"table.log.ttl": "1h"})
    return first


def log_table(lake: Warehouse, tiered: dict[str, str], **rest: Any) -> lakeward.Table:
    """A log table of two buckets."""
    return lake.conn.create_table("db.log", "id BIGINT, name STRING", **{"buckets": 2, **rest}, properties=tiered)


def keyed_table(lake: Warehouse, tiered: dict[str, str]) -> lakeward.Table:
    """A primary key table of two buckets."""
    return lake.conn.create_table(
        "db.keyed", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=tiered
    )


def test_a_log_table_is_read_in_the_lake_and_then_in_the_log(lake: Warehouse, tiered: dict[str, str]) -> None:
    """In batches of any size, with rounds and rows in between; only what came later is asked of the log."""
    table = log_table(lake, tiered)
    for first in (0, 100, 200):
        table.append(rows(first, first + 100))
        if first < 200:
            lake.round(table)
    reader = stream_of(lake, table)
    assert sum(reader.at.lake_ends.values()) == 200
    assert kinds(reader) == {LakeRangeSplit, LogSplit}
    assert kinds(reader, 20) == {LakeRangeSplit}
    first = reader.next(30)
    assert len(first) == 30
    lake.round(table)
    table.append(rows(300, 310))
    rest = list(reader.batches(70))
    assert [len(batch) for batch in rest] == [70, 70, 70, 70]
    found = first + [row for batch in rest for row in batch]
    assert ids(found) == list(range(310))
    assert sorted(found, key=lambda row: row["id"]) == rows(0, 310)
    assert not reader.at.lake_ends
    table.append(rows(310, 320))
    assert kinds(reader) == {LogSplit}
    assert ids(reader.rest()) == list(range(310, 320))


def test_what_retention_removed_is_in_the_lake(lake: Warehouse, tiered: dict[str, str]) -> None:
    """Before the stream began, and while it was behind."""
    table = log_table(lake, tiered, buckets=1)
    table.append(rows(0, 50))
    put = forget(lake, table, 50)
    reader = stream_of(lake, table)
    assert reader.at.buckets[BucketId(None, 0)].offset == 0
    found = reader.next(100)
    table.append(rows(put, put + 50))
    found += reader.next(put - 90)
    put = forget(lake, table, put + 50)
    assert ids(found + reader.rest(60)) == list(range(put))
    untold = Reader(lake.conn, str(table.path)).rest()
    assert ids(untold) == list(range(put)), "the table itself says where its lake is"
    some = Reader(lake.conn, str(table.path), options={"scan.tiers": "log"}).rest()
    assert ids(some) == list(range(put - len(some), put))


def test_a_primary_key_table_begins_with_the_lake_and_what_changed_since(
    lake: Warehouse, tiered: dict[str, str]
) -> None:
    """The rows as of when the stream began, deletes among the changes since the round; then every change."""
    table = keyed_table(lake, tiered)
    table.upsert(rows(0, 100))
    lake.round(table)
    table.upsert([{"id": 5, "name": "new"}])
    table.delete([{"id": 6}])
    reader = stream_of(lake, table)
    assert kinds(reader) == {LakeSplit}
    table.upsert(rows(100, 110))
    lake.round(table)
    assert kinds(reader) == {LakeSplit, LogSplit}
    first = reader.next(10)
    rest = reader.rest(10)
    want = [row for row in rows(0, 110) if row["id"] != 6]
    want[5] = {"id": 5, "name": "new"}
    assert sorted(first + rest, key=lambda row: row["id"]) == want
    assert stream_of(lake, table, **{"scan.tiers": "log"}).rest() != []


def test_a_state_that_the_lake_has_passed_is_the_servers(lake: Warehouse) -> None:
    """The snapshot that the stream began with has expired: its rows as of then are still known."""
    table = keyed_table(lake, TIERED)
    table.upsert(rows(0, 100))
    lake.round(table)
    reader = stream_of(lake, table)
    table.upsert(rows(50, 150, name="later"))
    lake.round(table)
    assert kinds(reader) == {LakeSplit, LogSplit}
    expire(lake, table)
    assert kinds(reader) == {StateSplit, LogSplit}
    found = reader.rest()
    assert Counter(row["id"] for row in found) == Counter([*range(100), *range(50, 150)])
    assert sorted((r for r in found if r["name"] != "later"), key=lambda row: row["id"]) == rows(0, 100)


def expire(lake: Warehouse, table: lakeward.Table) -> None:
    """Leave the lake nothing but its newest snapshot."""
    opened = lake.context().catalogs.of(table.info).load(table.path)
    assert isinstance(opened, IcebergTable)
    assert opened.expire(lake.context().clock.now_ms() + 10 * 86_400_000) > 0


def test_a_batch_planned_again_has_the_same_rows(lake: Warehouse, tiered: dict[str, str]) -> None:
    """A crash between any two batches: rounds, compaction, expiry and retention have passed, the rows are the same."""
    table = log_table(lake, tiered)
    for first in range(0, 300, 50):
        table.append(rows(first, first + 50))
        lake.round(table)
    table.append(rows(300, 330))
    request = ReadRequest.of_name(str(table.path), options={"lake.warehouse": str(lake.directory)})
    stream = TableStream(lake.conn, request)
    offsets = [stream.initial()]
    while (end := stream.latest(offsets[-1], ReadLimit(45))) != offsets[-1]:
        offsets.append(StreamOffset.of_json(json.loads(json.dumps(end.to_json()))))
    batches = list(pairwise(offsets))
    before = [ids(rows_of(lake.conn, request, stream.plan(*batch)).to_pylist()) for batch in batches]
    lake.round(table)
    opened: Any = lake.context().catalogs.of(table.info).ensure(table.info)
    opened.compact()
    forget(lake, table, 330)
    opened.expire(lake.context().clock.now_ms() + 10 * 86_400_000)
    again = [ids(rows_of(lake.conn, request, stream.plan(*batch)).to_pylist()) for batch in batches]
    assert again == before
    assert sorted(i for batch in again for i in batch) == list(range(330))


@pytest.mark.covering
@pytest.mark.parametrize("keyed", [False, True])
def test_partitions_that_only_the_lake_has_come_too(lake: Warehouse, tiered: dict[str, str], keyed: bool) -> None:
    """As a bounded read shows them; once, and new partitions are found as ever."""
    key = {"primary_key": ["id", "dt"], "bucket_by": ["id"]} if keyed else {}
    table = lake.conn.create_table(
        "db.parts",
        "id BIGINT NOT NULL, name STRING, dt STRING NOT NULL",
        partition_by=["dt"],
        buckets=1,
        properties=tiered,
        **key,
    )
    put = table.upsert if keyed else table.append
    for day, first in (("a", 0), ("b", 100)):
        table.create_partition({"dt": day})
        put(rows(first, first + 10, dt=day))
    lake.round(table)
    table.drop_partition({"dt": "a"})
    put(rows(110, 115, dt="b"))
    reader = stream_of(lake, table)
    assert "a" not in reader.at.partitions
    found = reader.next(4)
    table.create_partition({"dt": "c"})
    put(rows(200, 205, dt="c"))
    found += reader.rest(4)
    assert ids(found) == [*range(10), *range(100, 115), *range(200, 205)]
    assert reader.next() == []
    assert reader.at.next_offsets().keys() == {BucketId("b", 0), BucketId("c", 0)}


def test_a_stream_before_the_first_round_is_the_log(lake: Warehouse, tiered: dict[str, str]) -> None:
    """Nothing is in the lake yet; and a lake that cannot be opened is not needed while the log has everything."""
    table = log_table(lake, tiered)
    table.append(rows(0, 20))
    reader = stream_of(lake, table)
    assert kinds(reader) == {LogSplit}
    lake.round(table)
    assert ids(reader.rest()) == list(range(20))
    assert ids(Reader(lake.conn, str(table.path)).rest()) == list(range(20))


def test_the_lake_alone_is_no_stream(lake: Warehouse) -> None:
    """It grows by whole snapshots: the refusal names what to stream."""
    table = log_table(lake, TIERED)
    for name, more in ((f"{table.path}$lake", {}), (str(table.path), {"scan.tiers": "lake"})):
        with pytest.raises(LakewardError, match=r"stream db.log itself"):
            Reader(lake.conn, name, options={"lake.warehouse": str(lake.directory), **more})
