"""Snapshots of state in remote storage: what readers are told, what is shared, leased, removed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rocksdict
from eventually import eventually
from lost_server import LostServer
from wire_client import WireCluster

from lakeward.protocol.api import Api
from lakeward.protocol.messages import snapshot as messages
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.remote.formats.snapshot_metadata import SnapshotMetadata

Start = Callable[..., LostServer]
STATE = "fluss.state"
SHARED = "lakeward_remote_snapshot_shared_bytes_total"
_PATH = PbTablePath(database_name="fluss", table_name="state")
_MINUTE_MS = 60_000


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server that copies its snapshots to a directory."""
    started: list[LostServer] = []

    def begin(**options: str) -> LostServer:
        one = LostServer(tmp_path, {"remote__data__dir": str(tmp_path / "remote")}, **options)
        started.append(one)
        one.process.start()
        return one

    yield begin
    for one in started:
        one.process.kill()


def rows(turn: int, count: int = 2000) -> list[dict[str, Any]]:
    """New rows, of some size, that nothing can compress."""
    return [{"id": turn * count + i, "name": f"{turn}-{hash((turn, i)):x}" * 5} for i in range(count)]


def latest(cluster: WireCluster) -> tuple[int, messages.PbKvSnapshot]:
    """What a reader of snapshots asks first."""
    answer = cluster.coordinator.call(
        Api.GET_LATEST_KV_SNAPSHOTS, messages.GetLatestKvSnapshotsRequest(table_path=_PATH)
    )
    (found,) = answer.latest_snapshots
    return answer.table_id, found


def described(cluster: WireCluster, table_id: int, snapshot_id: int) -> messages.GetKvSnapshotMetadataResponse:
    """And then."""
    request = messages.GetKvSnapshotMetadataRequest(table_id=table_id, bucket_id=0, snapshot_id=snapshot_id)
    answer: messages.GetKvSnapshotMetadataResponse = cluster.coordinator.call(Api.GET_KV_SNAPSHOT_METADATA, request)
    return answer


@pytest.mark.covering("kv__engine", "options0")
@pytest.mark.parametrize("options", [{"kv__engine": "rocksdb"}, {"kv__snapshot__remote_format": "rocksdb"}])
def test_readers_open_the_files_with_rocksdb(start: Start, tmp_path: Path, options: dict[str, str]) -> None:
    """Downloaded under their own names they are a RocksDB with the rows of the offset that is told."""
    server = start(**options)
    with server.connect() as connection, WireCluster.of(server.process.bootstrap) as cluster:
        table = connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1)
        table.upsert(rows(0))
        server.wait_until_copied(STATE, state=[STATE])
        table_id, found = latest(cluster)
        answer = described(cluster, table_id, found.snapshot_id)
        assert answer.log_offset == found.log_offset == 2000
        target = tmp_path / "reader"
        target.mkdir()
        for file in answer.snapshot_files:
            shutil.copyfile(file.remote_path, target / file.local_file_name)
        assert "manifest.json" not in {file.local_file_name for file in answer.snapshot_files}
        database = rocksdict.Rdict(
            str(target), rocksdict.Options(raw_mode=True), access_type=rocksdict.AccessType.read_only()
        )
        values = list(database.values())
        database.close()
        assert len(values) == 2000
        assert {value[:2] for value in values} == {b"\x01\x00"}, "a value begins with the number of its schema"
        expected = table.lookup([0, 1999])["name"].to_pylist()
        missing = messages.GetKvSnapshotMetadataRequest(table_id=table_id, bucket_id=0, snapshot_id=999)
        assert cluster.coordinator.error_code(Api.GET_KV_SNAPSHOT_METADATA, missing) == 41
    server.process.kill()
    server.come_back()  # whatever the form, we read it, too
    with server.connect() as connection:
        assert connection.table(STATE).lookup([0, 1999])["name"].to_pylist() == expected


def test_readers_are_not_told_of_snapshots_that_they_cannot_open(start: Start) -> None:
    """Those of the hash engine are listed, and not offered."""
    server = start(kv__engine="hash")
    with server.connect() as connection, WireCluster.of(server.process.bootstrap) as cluster:
        connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1).upsert(rows(0))
        server.wait_until_copied(STATE, state=[STATE])
        assert latest(cluster)[1].snapshot_id is None
        assert server.snapshot_ids(STATE)[None, 0]


def test_files_are_shared_and_the_last_ones_kept(start: Start, tmp_path: Path) -> None:
    """A file that two snapshots have is copied once; what no snapshot has any more goes, after a restart as well."""
    server = start(kv__engine="rocksdb")
    directory = tmp_path / "remote" / "kv" / "fluss" / "state-0" / "0"
    with server.connect() as connection:
        table = connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1)
        shared = 0.0
        for turn in range(6):
            before = server.snapshot_ids(STATE).get((None, 0), [])
            table.upsert(rows(turn))
            assert eventually(lambda before=before: server.snapshot_ids(STATE)[None, 0][-1:] > before[-1:])
            if turn == 3:
                shared += server.metric(SHARED)
                orphan = directory / "shared" / "00000000-orphan"
                orphan.write_bytes(b"what a crash left")
                server.process.restart(kill=True)
    assert shared + server.metric(SHARED) > 0
    assert eventually(lambda: len(server.snapshot_ids(STATE)[None, 0]) == 2)

    def documents() -> list[bytes]:
        return [file.read_bytes() for file in sorted(directory.glob("snap-*/_METADATA"))]

    def only_named_files() -> bool:
        try:
            found = documents()
            present = {path for path in directory.rglob("*") if path.is_file() and path.name != "_METADATA"}
            if documents() != found:  # a snapshot came or went meanwhile
                return False
        except FileNotFoundError:
            return False
        named = {Path(file.path) for one in found for file in SnapshotMetadata.of_json(one).files}
        assert named <= present or len(found) > 2, "something is named that is not there"
        return len(found) == 2 and named == present

    assert eventually(only_named_files), sorted(directory.rglob("*"))


def test_a_lease_keeps_a_snapshot(start: Start) -> None:
    """Its files stay while newer ones come and a restart passes; when the lease is dropped they go."""
    server = start(kv__engine="rocksdb")
    with server.connect() as connection, WireCluster.of(server.process.bootstrap) as cluster:
        table = connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=1)
        table.upsert(rows(0))
        server.wait_until_copied(STATE, state=[STATE])
        table_id, leased = latest(cluster)
        files = [Path(file.remote_path) for file in described(cluster, table_id, leased.snapshot_id).snapshot_files]
        one = messages.PbKvSnapshotLeaseForBucket(bucket_id=0, snapshot_id=leased.snapshot_id)
        asked = messages.PbKvSnapshotLeaseForTable(table_id=table_id, bucket_snapshots=(one,))
        request = messages.AcquireKvSnapshotLeaseRequest(
            lease_id="reader", lease_duration_ms=_MINUTE_MS, snapshots_to_lease=(asked,)
        )
        answer = cluster.coordinator.call(Api.ACQUIRE_KV_SNAPSHOT_LEASE, request)
        assert answer.unavailable_snapshots == ()
    for turn in range(1, 5):
        with server.connect() as connection:
            connection.table(STATE).upsert(rows(turn, 200))
        before = server.snapshot_ids(STATE)[None, 0][-1]
        assert eventually(lambda before=before: server.snapshot_ids(STATE)[None, 0][-1] > before)
        if turn == 2:
            server.process.restart(kill=True)
    assert server.snapshot_ids(STATE)[None, 0][0] == leased.snapshot_id
    assert len(server.snapshot_ids(STATE)[None, 0]) == 3
    assert all(file.exists() for file in files)
    with WireCluster.of(server.process.bootstrap) as cluster:
        cluster.coordinator.call(Api.DROP_KV_SNAPSHOT_LEASE, messages.DropKvSnapshotLeaseRequest(lease_id="reader"))
    assert eventually(lambda: leased.snapshot_id not in server.snapshot_ids(STATE)[None, 0])
    assert eventually(lambda: not files[-1].exists())


def test_a_dropped_table_leaves_nothing(start: Start, tmp_path: Path) -> None:
    """Neither snapshots nor log."""
    server = start()
    with server.connect() as connection:
        connection.create_table(STATE, "id INT, name STRING", primary_key=["id"], buckets=2).upsert(rows(0))
        server.wait_until_copied(STATE, state=[STATE])
        connection.drop_table(STATE)
    left = [tmp_path / "remote" / "kv" / "fluss" / "state-0", tmp_path / "remote" / "log" / "fluss" / "state-0"]
    # os.walk passes over directories that go while it looks
    assert eventually(lambda: not any(files for place in left for _, _, files in os.walk(place))), left
