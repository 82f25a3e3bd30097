"""Our client on a table whose history is in a remote directory: it reads as if everything were on the server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from eventually import eventually
from remote_tables import EAGER, local_start, wait_for_history
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from wire_client import WireCluster
from wire_tables import WireTable

import lakeward as lw
from lakeward.client.forms.results import BucketId
from lakeward.client.staged.commit.log_headers import read_headers
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.batch.predicate import Function, Leaf
from lakeward.runtime.clock import SystemClock

Start = Callable[..., ServerProcess]
ROWS = 10_000


@pytest.fixture
def server(new_server: Start, tmp_path: Path) -> ServerProcess:
    """A server that copies its history to a directory, often."""
    return new_server(remote__data__dir=str(tmp_path / "remote"), kv__snapshot__interval="200ms", **EAGER)


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lw.Connection]:
    """A connection."""
    with lw.connect(server.bootstrap, writer_batch_timeout="0ms") as opened:
        yield opened


def rows(first: int, count: int) -> pa.Table:
    """Ids, and names that do not compress to nothing."""
    ids = range(first, first + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"{i * 7919:x}" for i in ids]})


def history(
    server: ServerProcess, conn: lw.Connection, name: str, *, count: int = ROWS, **properties: str
) -> tuple[lw.Table, int]:
    """A table of one bucket with ids that are their offsets, most of it remote, and where its local part begins."""
    table = conn.create_table(f"fluss.{name}", "id BIGINT, name STRING", buckets=1, properties=properties)
    for first in range(0, count, 500):
        table.append(rows(first, 500))
    return table, begin_of(server, name)


def begin_of(server: ServerProcess, name: str) -> int:
    """Where the local log begins, once what may be remote is."""
    with wire_table(server, name) as wire:
        return wait_for_history(server.data_dir, wire)


@contextmanager
def wire_table(server: ServerProcess, name: str) -> Iterator[WireTable]:
    """A table, asked by plain messages."""
    with WireCluster.of(server.bootstrap) as cluster:
        yield WireTable.find(cluster, PbTablePath(database_name="fluss", table_name=name))


def ids(table: pa.Table) -> list[int]:
    """The ids, in the order in which they came."""
    return table["id"].to_pylist()


def test_a_scan_goes_from_remote_to_local(server: ServerProcess, conn: lw.Connection) -> None:
    """Every row once and in order: all, some columns, from the middle, up to the middle, a few."""
    table, begin = history(server, conn, "history")
    assert 0 < begin < ROWS
    assert table.scan().to_arrow() == rows(0, ROWS)
    assert table.scan(["name"]).to_arrow() == rows(0, ROWS).select(["name"])
    assert ids(table.scan(["id"], start=1234).to_arrow()) == list(range(1234, ROWS))
    assert ids(table.scan(end=777).to_arrow()) == list(range(777))
    assert ids(table.scan(start=begin - 3, end=begin + 3).to_arrow()) == list(range(begin - 3, begin + 3))
    assert ids(table.scan(limit=10).to_arrow()) == list(range(10))
    assert ids(table.head(10)) == list(range(ROWS - 10, ROWS))
    assert table.count() == ROWS
    seen = table.scan(metadata_columns=True).to_arrow()
    assert seen["_offset"].to_pylist() == list(range(ROWS))
    peeked = table.peek(BucketId(None, 0), 1234)
    assert peeked is not None
    assert peeked.time_ms == seen["_timestamp"].cast(pa.int64())[1234].as_py()


def test_a_scan_begins_at_a_time_in_remote_history(server: ServerProcess, conn: lw.Connection) -> None:
    """The offset of a time is found in remote storage, too."""
    table = conn.create_table("fluss.timed", "id BIGINT, name STRING", buckets=1)
    table.append(rows(0, 2000))
    stamps = table.scan(metadata_columns=True).to_arrow()["_timestamp"].to_pylist()
    threading.Event().wait(0.02)
    middle = datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC)
    for first in range(2000, 8000, 500):
        table.append(rows(first, 500))
    assert stamps[-1] < middle
    assert begin_of(server, "timed") > 2000
    assert ids(table.scan(start=middle).to_arrow()) == list(range(2000, 8000))


def test_statistics_leave_out_remote_batches(server: ServerProcess, conn: lw.Connection) -> None:
    """A filter spares batches that cannot match, remote ones as well as local ones."""
    table, _ = history(server, conn, "filtered", **{"table.statistics.columns": "id"})
    where = Leaf(Function.LESS_THAN, table.info.schema.column("id").id, (700,))
    assert ids(table.scan(where=where).to_arrow()) == list(range(1000))


@pytest.mark.parametrize("damage", ["none", "sums", "column"])
def test_some_columns_of_large_batches(new_server: Start, tmp_path: Path, damage: str) -> None:
    """They are read by the sums beside the segment; what is damaged is told, or read another way, and never served."""
    eager = EAGER | {"log__segment__file_size": "6mb"}
    server = new_server(remote__data__dir=str(tmp_path / "remote"), **eager)
    numbers = np.random.default_rng(1).integers(0, 1 << 60, (6, 300_000))
    expected = pa.table(list(numbers), names=list("abcdef"))
    with lw.connect(server.bootstrap) as conn:
        table = conn.create_table("fluss.wide", "a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT, f BIGINT", buckets=1)
        for at in range(0, 300_000, 20_000):
            table.append(expected.slice(at, 20_000))
        begin_of(server, "wide")
        # By name, not by folder: the first segment is the one that is surely read from there.
        sums = sorted((tmp_path / "remote").rglob("*.columns"), key=lambda path: path.name)
        assert sums
        log = sums[0].with_suffix(".log")
        if damage == "sums":
            sums[0].write_bytes(sums[0].read_bytes()[:-1] + b"?")
        if damage == "column":
            stored = bytearray(log.read_bytes())
            stored[500_000] ^= 1
            log.write_bytes(stored)
        if damage != "column":
            assert table.scan(["f", "b"]).to_arrow() == expected.select(["f", "b"])
            return
        told = 0
        for name in expected.column_names:
            try:
                assert table.scan([name]).to_arrow() == expected.select([name])
            except CorruptError:
                told += 1
        assert told == 1


def test_sql_reads_remote_history(server: ServerProcess, conn: lw.Connection) -> None:
    """Queries read through the same client."""
    history(server, conn, "asked")
    answer = conn.sql("SELECT count(*) AS n, sum(id) AS s FROM fluss.asked WHERE id < 5000").to_pylist()
    assert answer == [{"n": 5000, "s": sum(range(5000))}]


def test_a_changelog_goes_from_remote_to_local(server: ServerProcess, conn: lw.Connection) -> None:
    """Changes of a primary key table keep their kinds and their order; its state is complete."""
    table = conn.create_table("fluss.keyed", "id BIGINT, name STRING", primary_key=["id"], buckets=1)
    for round_ in range(10):
        if round_ == 5:
            assert eventually(lambda: bool(list(server.data_dir.glob("fluss/keyed-*/kv-0/snapshot-*/manifest.json"))))
        table.upsert(rows(0, 500).set_column(1, "name", pa.array([f"{round_}-{i * 7919:x}" for i in range(500)])))
    with wire_table(server, "keyed") as wire:  # kept here as far back as the older of its two snapshots
        assert eventually(lambda: local_start(server.data_dir, wire) > 0)
    changes = table.scan(metadata_columns=True).to_arrow()
    assert changes["_offset"].to_pylist() == list(range(9500))
    kinds = {one["values"]: one["counts"] for one in changes["_change_type"].value_counts().to_pylist()}
    assert kinds == {"+I": 500, "-U": 4500, "+U": 4500}
    assert table.snapshot().num_rows == 500


def test_tiering_reads_remote_history(server: ServerProcess, conn: lw.Connection, tmp_path: Path) -> None:
    """The lake gets rows that the server itself has no longer."""
    table, begin = history(server, conn, "tiered", **TIERED)
    assert begin > 0
    lake = Warehouse(server.bootstrap, tmp_path / "lake")
    lake.round(table)
    assert lake.assert_same_log(table) == ROWS
    lake.close()


async def test_following_begins_in_remote_history(server: ServerProcess, conn: lw.Connection) -> None:
    """A stream reads what was, then what comes, while copies go on after it."""
    table, _ = history(server, conn, "followed", count=5000)
    async with await lw.aconnect(server.bootstrap) as other:
        found: list[int] = []
        end = 5000
        async for batch in (await other.table("fluss.followed")).scan(end=None).follow():
            found += batch.column("id").to_pylist()
            if len(found) == end and end < 8000:
                table.append(rows(end, 500))
                end += 500
            elif len(found) == end:
                break
    assert found == list(range(8000))


@pytest.mark.long
def test_scans_hold_while_copies_and_expiry_go_on(new_server: Start, tmp_path: Path) -> None:
    """Whatever moves or goes meanwhile: offsets follow each other without a gap, or the scan says what is gone."""
    options = {**EAGER, "log__retention__check_interval": "20ms", "log__segment__file_size": "4kb"}
    server = new_server(remote__data__dir=str(tmp_path / "remote"), **options)
    stop = threading.Event()

    def write() -> None:
        with lw.connect(server.bootstrap, writer_batch_timeout="0ms") as mine:
            table, first = mine.table("fluss.moving"), 0
            while not stop.is_set():
                table.append(rows(first, 100))
                first += 100

    finished = 0
    with lw.connect(server.bootstrap) as conn:
        properties = {"table.log.ttl": "1s", "table.log.tiered.local-segments": "1"}
        table = conn.create_table("fluss.moving", "id BIGINT, name STRING", buckets=1, properties=properties)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            while finished < 20 or table.offsets("earliest")[BucketId(None, 0)] == 0:
                try:
                    found = ids(table.scan().to_arrow())
                except LakewardError as wrong:
                    if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                        raise
                    continue
                finished += 1
                assert all(b == a + 1 for a, b in pairwise(found))
        finally:
            stop.set()
            writer.join()
    assert "Traceback" not in server.log_text


def test_headers_are_found_in_remote_history(server: ServerProcess, conn: lw.Connection) -> None:
    """A sink that recovers looks for its own batches wherever they are by now."""
    table, begin = history(server, conn, "headers")
    access = TableAccess(conn, table.path)
    found = access.run(read_headers(access, TableBucket(table.info.table_id, None, 0), None, 700, ROWS))
    assert found.from_start
    assert [one.base_offset for one in found.headers] == list(range(500, ROWS, 500))
    assert begin > 700
