"""The server's life: start, stop, kill, start again. Nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import forked
import pyarrow as pa
import pytest
from arrow_batches import ids_batch, read_rows
from pyfluss_session import Session, append, scan
from server_process import ServerProcess
from wire_client import WireClient, WireCluster
from wire_tables import EARLIEST, LATEST, WireTable, create_database, only_bucket

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest

NewServer = Callable[..., ServerProcess]
IDS = pa.schema([("id", pa.int64())])


def ids_of(table: WireTable) -> list[int]:
    """All ids in the first bucket, fetched piece by piece."""
    found: list[int] = []
    while len(found) < table.offset(LATEST):
        answer = table.fetch(len(found) or -2, bucket_bytes=1 << 20)
        rows = [row["id"] for row in read_rows(answer.records, IDS)]
        found += rows
    return found


@pytest.mark.covering("killed")
@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_what_the_official_client_wrote_is_there(new_server: NewServer, kill: bool) -> None:
    """Databases, tables, partitions and rows survive, and the same client goes on after its connection broke."""
    server = new_server()
    schema = pa.schema([("id", pa.int64()), ("day", pa.string())])
    async with await Session.open(server.bootstrap, "kept", writer__batch_timeout_ms="0") as session:
        await session.admin.create_database("kept")
        table = await session.create("plain", schema, bucket_count=2, bucket_keys=["id"], comment="stays")
        await session.create("parts", schema, partition_keys=["day"])
        await session.admin.create_partition(session.path("parts"), {"day": "d1"})
        batch = pa.record_batch([pa.array(range(1000), pa.int64()), ["x"] * 1000], schema=schema)
        await append(table, batch)
        server.restart(kill=kill)
        async with await Session.open(server.bootstrap, "kept", writer__batch_timeout_ms="0") as other:
            assert set(await other.admin.list_databases()) >= {"kept", "fluss"}
            assert (await other.admin.get_table_info(other.path("plain"))).comment == "stays"
            assert list(await other.partitions("parts")) == ["d1"]
            read = await scan(await other.table("plain"), range(2))
            assert sorted(read["id"].to_pylist()) == list(range(1000))
        await append(table, batch)
        assert (await scan(table, range(2))).num_rows == 2000


@pytest.mark.covering("killed")
@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_ids_are_never_given_twice(new_server: NewServer, kill: bool) -> None:
    """Tables and writers of the next life have ids that nobody had before, dropped ones included."""
    server = new_server()
    ids, writers = [], []
    for life in range(3):
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            for number in range(3):
                table = WireTable.create(cluster, "db", f"t_{life}_{number}")
                ids.append(table.table_id)
                writers.append(table.new_writer())
                if number == 2:
                    table.drop()
        server.restart(kill=kill)
    assert len(set(ids)) == len(set(writers)) == 9


@pytest.mark.covering("killed")
@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_writers_go_on_where_they_were(new_server: NewServer, kill: bool) -> None:
    """A retry after the restart is recognised, the next batch is accepted, a gap is refused."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        writer = table.new_writer()
        batches = [ids_batch([n], writer_id=writer, sequence=n) for n in range(9)]
        for batch in batches[:7]:
            table.append(batch)
    server.restart(kill=kill)
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert [table.append(batches[n]) for n in (6, 4, 2)] == [6, 4, 2]
        assert table.produce(batches[8], timeout_ms=50).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE.value
        assert [table.append(batches[n]) for n in (7, 8)] == [7, 8]
        assert ids_of(table) == list(range(9))


def test_sequence_numbers_begin_again_after_the_largest(new_server: NewServer) -> None:
    """Behind batch 2147483647 comes batch 0, also when it overtakes its predecessor."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        writer = table.new_writer()
        table.append(ids_batch([0], writer_id=writer, sequence=0))
    server.stop()
    (snapshot,) = server.data_dir.rglob("*.writer_snapshot")
    state = json.loads(snapshot.read_text())
    del state["crc32c"]
    state["writer_id_entries"][0]["last_batch_sequence"] = 2**31 - 3
    snapshot.write_text(json.dumps(state))
    server.start()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert table.append(ids_batch([1], writer_id=writer, sequence=2**31 - 2)) == 1
        late = [ids_batch([n], writer_id=writer, sequence=s) for n, s in [(2, 2**31 - 1), (3, 0), (4, 1)]]
        requests = [(Api.PRODUCE_LOG, table.produce_request(batch)) for batch in reversed(late)]
        offsets = [cluster.tablet.answer(i).buckets_resp[0].base_offset for i in cluster.tablet.send_all(requests)]
        assert offsets == [4, 3, 2]
        assert [table.append(batch) for batch in late] == [2, 3, 4]
        assert ids_of(table) == [0, 1, 2, 3, 4]


def test_a_torn_tail_is_cut_and_told(new_server: NewServer) -> None:
    """A batch that was half written when the power went is gone, the rest is there, and the log says so."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        for number in range(10):
            table.append(ids_batch([number]))
    server.kill()
    (path,) = server.data_dir.rglob("*.log")
    path.write_bytes(path.read_bytes()[:-5])
    server.start()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert ids_of(table) == list(range(9))
        assert table.append(ids_batch([99])) == 9
    assert "cut" in server.log_text


@pytest.mark.covering("SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_stops_it_in_good_order(new_server: NewServer, number: int) -> None:
    """It answers who waits, syncs, and exits with 0."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t")
        table.append(ids_batch([1]))
        waiting = cluster.tablet.send(Api.FETCH_LOG, table.fetch_request(1, max_wait_ms=60_000, min_bytes=1))
        cluster.tablet.call(Api.GET_METADATA, MetadataRequest())
        assert server._end(number) == 0
        assert bytes(only_bucket(cluster.tablet.answer(waiting)).records) == b""
        assert cluster.tablet.is_closed_by_server()
    assert "Traceback" not in server.log_text
    assert list(server.data_dir.rglob("*.writer_snapshot"))


def test_a_second_server_on_the_same_directory_is_refused(new_server: NewServer) -> None:
    """With one clear sentence and an exit code; the first server does not notice."""
    server = new_server()
    command = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", str(server.data_dir)]
    second = forked.run(command)
    assert second.returncode != 0
    assert "in use" in second.stderr + second.stdout
    assert str(server.data_dir) in second.stderr + second.stdout
    assert "Traceback" not in second.stderr
    with WireClient.of(server.bootstrap) as client:
        assert client.call(Api.GET_METADATA, MetadataRequest()).tablet_servers


def test_a_taken_port_is_told_plainly(new_server: NewServer, tmp_path: Path) -> None:
    """Who starts a second server on a port that is in use learns which, not how asyncio works."""
    server = new_server()
    command = [sys.executable, "-m", "lakeward", "serve", "--port", str(server.port), "--data-dir", str(tmp_path / "x")]
    second = forked.run(command)
    assert second.returncode != 0
    assert str(server.port) in second.stderr
    assert "Traceback" not in second.stderr


def test_old_rows_are_let_go(new_server: NewServer) -> None:
    """Segments roll by size and expire by age; readers from the beginning start where rows are left."""
    server = new_server(log__retention__check_interval="100ms", log__segment__file_size="2kb")
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        table = WireTable.create(cluster, "db", "t", properties={"table.log.ttl": "300ms"})
        total = 0
        while table.offset(EARLIEST) == 0:
            total = table.append(ids_batch(range(total, total + 50))) + 50
        start = table.offset(EARLIEST)
        assert table.fetch(0).error_code == ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value
        first = read_rows(table.fetch(-2).records, IDS)[0]["id"]
        assert first >= start
    server.restart(kill=True)
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.find(cluster, table.path)
        assert table.offset(EARLIEST) >= start
        assert table.append(ids_batch([1])) == total


def test_a_dropped_table_leaves_the_disk(new_server: NewServer) -> None:
    """Its files go, also when the server was killed before it had deleted them."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "db")
        for number in range(20):
            table = WireTable.create(cluster, "db", f"t{number}", bucket_count=4)
            for bucket in range(4):
                table.append(ids_batch([1]), bucket=bucket)
            if number % 2:
                table.drop()
    server.restart(kill=True)
    server.stop()  # whatever was to be deleted has been deleted when it has stopped
    assert len([p for p in (server.data_dir / "db").iterdir() if p.name.startswith("t")]) == 10
    assert len(list(server.data_dir.rglob("*.log"))) == 40
