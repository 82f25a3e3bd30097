"""History in remote storage, a directory: the official client reads it as if it were here."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cli_process import Cli
from eventually import eventually
from pyfluss_session import Session, append, scan
from remote_tables import EAGER, ROWS, append_ids, local_start, manifest_of, manifests, remote_end, wait_for_history
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import AT_TIME, EARLIEST, LATEST, WireTable, create_database

from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import LimitScanRequest
from lakeward.protocol.messages.table import GetTableStatsRequest, PbTableStatsReqForBucket
from lakeward.records.batch.log_batch import walk_batches

NAMES = pa.schema([("id", pa.int64()), ("name", pa.string())])
Start = Callable[..., ServerProcess]


@pytest.fixture
def start(new_server: Start, tmp_path: Path) -> Start:
    """Servers that copy their history to a directory, often."""

    def started(**options: str) -> ServerProcess:
        return new_server(**{"remote__data__dir": str(tmp_path / "remote"), **EAGER, **options})

    return started


def _rows(first: int, count: int) -> pa.RecordBatch:
    ids = range(first, first + count)
    return pa.record_batch([pa.array(ids, pa.int64()), pa.array([f"{i * 7919:x}" for i in ids])], schema=NAMES)


async def _written(session: Session, table: object, batches: int, rows: int = 500) -> int:
    for number in range(batches):
        await append(table, _rows(number * rows, rows))  # type: ignore[arg-type]
    return batches * rows


@pytest.mark.oracle
async def test_the_official_client_reads_history_across_remote_and_local(start: Start) -> None:
    """Every row once and in order, from the beginning, with a projection, and from the middle of a remote segment."""
    server = start()
    async with await Session.open(server.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        table = await session.create("history", NAMES)
        count = await _written(session, table, 20)
        with WireCluster.of(server.bootstrap) as cluster:
            wire = WireTable.find(cluster, _path("history"))
            begin = wait_for_history(server.data_dir, wire)
            assert 0 < begin < count
            assert len(manifest_of(wire).segments) > 2
        everything = await scan(table)
        assert everything.column("id").to_pylist() == list(range(count))
        assert everything.column("name").to_pylist() == [f"{i * 7919:x}" for i in range(count)]
        names = await scan(table, columns=["name"])
        assert names.column("name").to_pylist() == [f"{i * 7919:x}" for i in range(count)]
        middle = await scan(table, start=1234)
        assert middle.column("id").to_pylist() == list(range(1234, count))


def test_a_fetch_below_the_local_start_is_told_where_the_segments_are(start: Start, tmp_path: Path) -> None:
    """The segment that holds the offset and those behind it that are no longer here; a position inside the first."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        end = append_ids(table, 60)
        begin = wait_for_history(server.data_dir, table)
        info = table.fetch(0).remote_log_fetch_info
        assert info is not None
        assert info.remote_log_tablet_dir == f"{tmp_path}/remote/log/db/t-{table.table_id}/0"
        assert info.first_start_pos == 0
        starts = [segment.remote_log_start_offset for segment in info.remote_log_segments]
        ends = [segment.remote_log_end_offset for segment in info.remote_log_segments]
        assert starts == [0, *ends[:-1]]
        assert ends[-1] == begin
        inside = starts[1] + 950
        told = table.fetch(inside).remote_log_fetch_info
        assert told is not None
        assert told.remote_log_segments == info.remote_log_segments[1:]
        segment = told.remote_log_segments[0]
        data = (
            tmp_path / f"remote/log/db/t-{table.table_id}/0/{segment.remote_log_segment_id}/{starts[1]:020d}.log"
        ).read_bytes()
        assert told.first_start_pos
        first = next(walk_batches(data, told.first_start_pos))
        assert starts[1] < first.header.base_offset <= inside
        assert table.fetch(-2).remote_log_fetch_info == info
        assert table.fetch(begin).remote_log_fetch_info is None
        assert table.fetch(end - 1).records
        far = table.fetch(begin, read_preference=1).remote_log_fetch_info
        assert far is not None
        assert far.remote_log_segments[0].remote_log_start_offset == begin


def test_questions_about_the_log_include_what_is_remote(start: Start) -> None:
    """Earliest offset, offset by time, row count and last rows do not notice what has moved."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        end = append_ids(table, 30)
        begin = wait_for_history(server.data_dir, table)
        segments = manifest_of(table).segments
        assert table.offset(EARLIEST) == 0
        assert table.offset(AT_TIME, time_ms=0) == 0
        in_second = segments[1].time_ms_max
        assert segments[0].start_offset <= table.offset(AT_TIME, time_ms=in_second) <= segments[1].end_offset
        stats = cluster.tablet.call(
            Api.GET_TABLE_STATS,
            GetTableStatsRequest(table_id=table.table_id, buckets_req=(PbTableStatsReqForBucket(bucket_id=0),)),
        )
        assert stats.buckets_resp[0].row_count == end
        for limit in (10, end - begin + 150, end, 10 * end):
            request = LimitScanRequest(table_id=table.table_id, bucket_id=0, limit=limit)
            records = bytes(cluster.tablet.call(Api.LIMIT_SCAN, request).records)
            spans = list(walk_batches(records))
            assert spans[-1].header.last_offset == end - 1
            assert spans[0].header.base_offset <= max(0, end - limit)
            assert all(a.header.last_offset + 1 == b.header.base_offset for a, b in pairwise(spans))


@pytest.mark.covering("True")
@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_changes_nothing(start: Start, kill: bool) -> None:
    """What was remote is found again, and copies go on where they were."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        append_ids(table, 30)
        wait_for_history(server.data_dir, table)
        before = table.fetch(150).remote_log_fetch_info
    server.restart(kill=kill)
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert table.fetch(150).remote_log_fetch_info == before
        append_ids(table, 30)
        wait_for_history(server.data_dir, table)
        manifest = manifest_of(table)
        assert manifest.start_offset == 0
    assert server.stop() == 0
    assert "Traceback" not in server.log_text


@pytest.mark.long
def test_logs_that_nobody_touches_are_copied_after_a_restart(start: Start) -> None:
    """Segments that were closed while nothing was copied go on their way without a client."""
    server = start(remote__log__task_interval_duration="0s")
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        append_ids(table, 30)
        assert manifests(table) == {}
    server.options["remote.log.task-interval-duration"] = "50ms"
    server.restart()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable(cluster, table.path, table.table_id)
        assert eventually(lambda: remote_end(table) > 1000)


def test_a_manifest_or_index_that_is_gone_harms_nothing_else(start: Start) -> None:
    """Without the index clients read a segment from its start; without the manifest they are told why, and try on."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        append_ids(table, 60)
        wait_for_history(server.data_dir, table)
    server.restart()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        path = manifests(table)[0]
        hidden = path.with_name("hidden")
        path.rename(hidden)
        answer = table.fetch(950)
        assert answer.error_code == 10
        assert answer.error_message is not None
        assert f"The manifest {path} of " in answer.error_message
        end = append_ids(table, 20)
        assert table.fetch(end - 1).records
        hidden.rename(path)
        for index in path.parent.parent.glob("*/*.index"):
            index.unlink()
        info = table.fetch(950).remote_log_fetch_info
        assert info is not None
        assert info.first_start_pos == 0
        assert eventually(lambda: remote_end(table) >= end - 1100), "copies go on"
    assert server.log_text.count("could not be copied") <= 1


def test_dropped_tables_and_partitions_leave_no_files(start: Start, tmp_path: Path) -> None:
    """Neither where they were nor in the metadata."""
    server = start()
    logs = tmp_path / "remote" / "log"
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "gone")
        other = WireTable.create(cluster, "db", "stays")
        append_ids(table, 20)
        append_ids(other, 20)
        wait_for_history(server.data_dir, table)
        wait_for_history(server.data_dir, other)
        table.drop()
        assert eventually(lambda: not (logs / "db" / f"gone-{table.table_id}").exists())
        assert manifest_of(other).segments
    server.restart()
    with WireCluster.of(server.bootstrap) as cluster:
        assert manifest_of(WireTable.find(cluster, other.path)).segments
    assert not (logs / "db" / f"gone-{table.table_id}").exists()


@pytest.mark.long
def test_what_is_older_than_the_time_to_live_goes_there_and_here(start: Start, tmp_path: Path) -> None:
    """The earliest offset moves on, files go, and the log itself is as long as it was."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", properties={"table.log.ttl": "1 s"})
        end = append_ids(table, 30)
        assert eventually(lambda: table.offset(EARLIEST) > 1000)
        directory = tmp_path / "remote" / "log" / "db" / f"t-{table.table_id}" / "0"

        def is_empty() -> bool:
            return sum(1 for _ in directory.glob("*/*.log")) == 0

        assert eventually(is_empty)
        assert table.offset(LATEST) == end
        first = table.offset(EARLIEST)
        assert table.fetch(first).records
        assert table.fetch(0).error_code == 19
    server.restart()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert table.offset(EARLIEST) == first
        assert append_ids(table, 1) == end + ROWS


@pytest.mark.long
def test_where_copies_are_switched_off_retention_is_as_without_remote_storage(start: Start) -> None:
    """`remote.log.task-interval-duration` 0: old rows go though nothing was copied."""
    server = start(remote__log__task_interval_duration="0s")
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", properties={"table.log.ttl": "100 ms"})
        append_ids(table, 30)
        assert eventually(lambda: table.offset(EARLIEST) > 1000)
        assert manifests(table) == {}


@pytest.mark.long
def test_the_size_limit_of_a_log_counts_what_is_remote(start: Start) -> None:
    """The oldest remote segments go when here and there together are too large."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", properties={"table.log.retention.bytes": "40kb"})
        append_ids(table, 150)
        assert eventually(lambda: remote_end(table) > 10_000 and table.offset(EARLIEST) > 0)
        assert eventually(lambda: 20_000 < manifest_of(table).size_bytes < 60_000)


@pytest.mark.long
def test_how_many_segments_stay_local_can_be_changed(start: Start) -> None:
    """`table.log.tiered.local-segments` is obeyed, the active segment included."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", properties={"table.log.tiered.local-segments": "4"})
        append_ids(table, 80)
        directory = server.data_dir / "db" / f"t-{table.table_id}" / "log-0"

        def files() -> list[int]:
            return sorted(int(file.stem) for file in directory.glob("*.log"))

        assert eventually(lambda: len(files()) == 4 and remote_end(table) == files()[-1])


def test_rows_are_remote_within_the_time_of_sync(start: Start) -> None:
    """`remote.log.sync` closes segments that are far from full; an idle log is not rolled again and again."""
    server = start(remote__log__sync="100ms", log__segment__file_size="100mb")
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        for _ in range(3):
            end = append_ids(table, 1)
            assert eventually(lambda end=end: remote_end(table) == end)
        assert len(manifest_of(table).segments) <= 3
        assert local_start(server.data_dir, table) <= end


def test_people_and_prometheus_are_told_what_is_where(start: Start, tmp_path: Path) -> None:
    """GET /remote, GET /metrics and `lakeward remote status` say the same of segments, bytes and lag."""
    server = start()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        end = append_ids(table, 30)
        wait_for_history(server.data_dir, table)
        manifest = manifest_of(table)
    assert eventually(lambda: _get_json(server, "/remote")["remote_bytes"] == manifest.size_bytes)
    document = _get_json(server, "/remote")
    (one,) = document["tables"]
    assert (one["table"], one["remote_segments"], one["remote_bytes"]) == (
        "db.t",
        len(manifest.segments),
        manifest.size_bytes,
    )
    assert one["local_segments"] == 2
    assert one["lag_rows"] == end - manifest.end_offset
    assert 0 < one["lag_bytes"] < one["local_bytes"]
    assert document["remote_bytes"] == manifest.size_bytes
    assert not document["is_failing"]
    metrics = _get(server, "/metrics")
    assert f'lakeward_remote_log_bytes{{table="db.t"}} {manifest.size_bytes}' in metrics
    assert "lakeward_remote_log_failures_total 0" in metrics
    server.restart()
    assert eventually(lambda: _get_json(server, "/remote")["tables"][0].get("local_segments") == 2)
    shown = Cli(server.bootstrap, tmp_path).ok("remote", "status")
    assert "db.t" in shown
    assert "in all" in shown


def _get(server: ServerProcess, path: str) -> str:
    with urllib.request.urlopen(f"http://{server.bootstrap}{path}", timeout=10) as answer:
        return str(answer.read().decode())


def _get_json(server: ServerProcess, path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_get(server, path))
    return found


@pytest.mark.oracle
async def test_partitions_have_a_history_of_their_own(start: Start, tmp_path: Path) -> None:
    """The official client reads a partition's history; a dropped partition takes its files along."""
    server = start()
    schema = pa.schema([("id", pa.int64()), ("day", pa.string())])
    async with await Session.open(server.bootstrap, "fluss", writer__batch_timeout_ms="0") as session:
        table = await session.create("days", schema, partition_keys=["day"])
        await session.admin.create_partition(session.path("days"), {"day": "mon"})
        await session.admin.create_partition(session.path("days"), {"day": "tue"})
        for number in range(20):
            ids = pa.array(range(number * 500, number * 500 + 500), pa.int64())
            await append(table, pa.record_batch([ids, pa.array(["mon"] * 500)], schema=schema))
        partitions = await session.partitions("days")
        with WireCluster.of(server.bootstrap) as cluster:
            wire = WireTable.find(cluster, _path("days"))
            assert eventually(lambda: remote_end(wire, 0, partitions["mon"]) > 5000)
            manifest = manifest_of(wire, 0, partitions["mon"])
            assert manifest.place.log.endswith(f"/mon-p{partitions['mon']}/0")
            scanner = await table.new_scan().create_record_batch_log_scanner()
            scanner.subscribe_partition(partitions["mon"], 0, 0)
            got: list[int] = []
            while len(got) < 10_000:
                for batch in await scanner.poll_record_batch(5000):
                    got += batch.batch.column(0).to_pylist()
            assert got == list(range(10_000))
            await session.admin.drop_partition(session.path("days"), {"day": "mon"})
            assert eventually(lambda: not (tmp_path / "remote" / manifest.place.log).parent.exists())


def _path(name: str) -> object:
    from lakeward.protocol.messages.shared import PbTablePath

    return PbTablePath(database_name="fluss", table_name=name)
