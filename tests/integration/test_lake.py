"""Tiering through our client and a real server: rounds, snapshots, what the log keeps, what is counted."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from arrow_batches import ids_batch
from pyfluss_session import Session
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import EARLIEST, LATEST, WireTable, create_database

import lakeward
from lakeward.client.admin.lake import KEEP_ALL, HeartbeatAnswer, LakeTotals, ReportedSnapshot
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath

NewServer = Callable[..., ServerProcess]
LAKE = {"datalake__format": "iceberg"}
#: Due at once and again after each round.
TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "0 ms"}
EVENTS = TablePath("fluss", "events")


@pytest.fixture
def server(new_server: NewServer) -> ServerProcess:
    """A cluster with a lake."""
    return new_server(**LAKE)


@pytest.fixture
def connection(server: ServerProcess) -> Iterator[lakeward.Connection]:
    """A connection to it."""
    with lakeward.connect(server.bootstrap) as opened:
        yield opened


def bucket(table: lakeward.Table, number: int = 0) -> TableBucket:
    """A bucket of a table without partitions."""
    return TableBucket(table.info.table_id, None, number)


def metrics(server: ServerProcess) -> dict[str, float]:
    """What the server counts about the lake, but for zeros."""
    with urllib.request.urlopen(f"http://{server.bootstrap}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    found = re.findall(r"^lakeward_lake_(\S+) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found if float(value)}


def test_a_round_of_a_tiering_service(connection: lakeward.Connection, server: ServerProcess) -> None:
    """Take, prepare, commit, report: as the service will do it, here and on Apache Fluss."""
    table = connection.create_table("events", "id BIGINT", buckets=2, properties=TIERED)
    lake = connection.lake
    assert lake.heartbeat() == HeartbeatAnswer(0, None)
    round_ = lake.heartbeat(wants_table=True).assigned
    assert (round_.path, round_.tiering_epoch) == (EVENTS, 1)
    assert lake.heartbeat(tiering=[round_]).refused == {}
    assert lake.snapshot("events") is None
    path = lake.prepare("events", round_.table_id, {bucket(table): 10})
    lake.commit(round_.table_id, 77, path, readable_path=path, new_offsets={bucket(table): 10}, keep_from=KEEP_ALL)
    assert lake.snapshot(EVENTS) == ReportedSnapshot(round_.table_id, 77, {bucket(table): 10})
    assert lake.snapshot("events", readable=True) == lake.snapshot("events", snapshot_id=77)
    assert lake.snapshot("events", snapshot_id=78) is None
    assert lake.heartbeat(finished={round_: LakeTotals(1000, 10)}, forced=[round_]).refused == {}
    again = lake.heartbeat(wants_table=True).assigned
    assert again.tiering_epoch == 2
    refused = lake.heartbeat(failed=[round_]).refused
    assert refused[round_.table_id].code is ErrorCode.FENCED_TIERING_EPOCH
    assert metrics(server) == {
        'tables{state="tiering"}': 1,
        'rounds_total{outcome="forced"}': 1,
        "snapshots_committed_total": 1,
    }


def test_what_is_wrong_is_raised(connection: lakeward.Connection) -> None:
    """Each call with the code of its entry."""
    table = connection.create_table("events", "id BIGINT", properties=TIERED)
    lake, table_id = connection.lake, table.info.table_id
    for call, code in (
        (lambda: lake.prepare("events", 99, {}), ErrorCode.TABLE_NOT_EXIST),
        (lambda: lake.prepare("events", table_id, {bucket(table, 1): 1}), ErrorCode.UNKNOWN_TABLE_OR_BUCKET),
        (lambda: lake.commit(table_id, 1, "/etc/passwd"), ErrorCode.UNKNOWN_SERVER_ERROR),
        (lambda: lake.commit(99, 1, "/x"), ErrorCode.TABLE_NOT_EXIST),
        (lambda: lake.snapshot("nope"), ErrorCode.TABLE_NOT_EXIST),
    ):
        with pytest.raises(LakewardError) as wrong:
            call()
        assert wrong.value.code is code


def test_a_table_is_paused_resumed_and_asked_for_by_its_properties(connection: lakeward.Connection) -> None:
    """Through the public protocol only."""
    lake = connection.lake
    connection.create_table("events", "id BIGINT", properties=TIERED)
    connection.alter_table("events", set={"lakeward.tiering.paused": "true"})
    assert lake.heartbeat(wants_table=True).assigned is None
    connection.alter_table("events", set={"lakeward.tiering.requested": "1"})
    requested = lake.heartbeat(wants_table=True).assigned
    assert requested is not None
    lake.heartbeat(finished=[requested])
    assert lake.heartbeat(wants_table=True).assigned is None
    connection.alter_table("events", reset=["lakeward.tiering.paused"])
    assert lake.heartbeat(wants_table=True).assigned is not None


def test_a_kill_loses_nothing_that_was_told(connection: lakeward.Connection, server: ServerProcess) -> None:
    """Snapshots and prepared files are there; earlier rounds are fenced by the coordinator's epoch."""
    table = connection.create_table("events", "id BIGINT", buckets=2, properties=TIERED)
    table_id = table.info.table_id
    old = connection.lake.heartbeat(wants_table=True).assigned
    connection.lake.commit(table_id, 1, connection.lake.prepare("events", table_id, {bucket(table, 0): 1}))
    prepared = connection.lake.prepare("events", table_id, {bucket(table, 1): 2})
    server.restart(kill=True)
    with lakeward.connect(server.bootstrap) as after:
        assert after.lake.snapshot("events").snapshot_id == 1
        refused = after.lake.heartbeat(finished=[old]).refused
        assert refused[table_id].code is ErrorCode.INVALID_COORDINATOR
        new = after.lake.heartbeat(wants_table=True).assigned
        assert (new.coordinator_epoch, new.tiering_epoch) == (1, 1)
        after.lake.commit(table_id, 2, prepared)
        assert after.lake.snapshot("events").offsets == {bucket(table, 0): 1, bucket(table, 1): 2}


@pytest.mark.oracle
async def test_the_official_client_reads_the_snapshot(connection: lakeward.Connection, server: ServerProcess) -> None:
    """`get_latest_lake_snapshot` of pyfluss: id, buckets and offsets."""
    table = connection.create_table("events", "id BIGINT", buckets=2, properties=TIERED)
    table_id = table.info.table_id
    path = connection.lake.prepare("events", table_id, {bucket(table, 0): 100, bucket(table, 1): 7})
    connection.lake.commit(table_id, 4045266965226676323, path, readable_path=path)
    async with await Session.open(server.bootstrap, "fluss") as session:
        snapshot = await session.admin.get_latest_lake_snapshot(session.path("events"))
        assert snapshot.snapshot_id == 4045266965226676323
        offsets = {b.bucket_id: snapshot.get_bucket_offset(b) for b in snapshot.get_table_buckets()}
        assert offsets == {0: 100, 1: 7}
        written = await session.create("by_pyfluss", pa.schema([("id", pa.int64())]), properties=TIERED)
        assert written is not None


def test_the_log_keeps_what_the_lake_has_not(new_server: NewServer) -> None:
    """`table.log.ttl` counts only what is tiered; below that, a reader is told where the rows are."""
    server = new_server(**LAKE, log__retention__check_interval="20ms")
    properties = TIERED | {"table.log.ttl": "1 ms", "table.log.segment.file-size": "200b"}
    with WireCluster.of(server.bootstrap) as cluster, lakeward.connect(server.bootstrap) as connection:
        create_database(cluster, "fluss")
        kept, gone = (
            WireTable.create(cluster, "fluss", name, properties=properties | more)
            for name, more in (("kept", {}), ("gone", {"table.datalake.enabled": "false"}))
        )
        for table in (kept, gone):
            for number in range(10):
                table.append(ids_batch([number]))
        while gone.offset(EARLIEST) != 9:
            pass  # retention has been at work, on both tables alike
        assert kept.offset(EARLIEST) == 0
        assert metrics(server)['lag_rows{table="fluss.kept"}'] == 10
        assert metrics(server)['lag_seconds{table="fluss.kept"}'] > 0
        path = connection.lake.prepare("kept", kept.table_id, {TableBucket(kept.table_id, None, 0): 5})
        connection.lake.commit(kept.table_id, 1, path)
        while kept.offset(EARLIEST) != 5:
            pass
        assert kept.offset(LATEST) == 10
        assert metrics(server)['lag_rows{table="fluss.kept"}'] == 5
        told = kept.fetch(2)
        assert told.error_code == ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value
        assert "The lake has it" in told.error_message
