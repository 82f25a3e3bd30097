"""Whatever one client asks for, the others are served, memory is bounded, and the server can be stopped."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attacks
import large_work
import pyarrow as pa
import pytest
from arrow_batches import ids_batch
from eventually import eventually
from server_process import ServerProcess
from wire_client import HELLO, WireClient, WireCluster
from wire_kv import WireKv
from wire_tables import WireTable

import lakeward
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import BIGINT
from lakeward.model.schema import Aggregate, Column
from lakeward.protocol.api import Api
from lakeward.protocol.messages.metadata import MetadataRequest

SCALE = 0.05


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that every test of this file leans on."""
    if os.environ.get("LAKEWARD_TEST_BOOTSTRAP"):
        pytest.skip("needs a Lakeward server of its own")
    with ServerProcess(tmp_path_factory.mktemp("crowded") / "data") as server:
        attacks.prepare(server.bootstrap, SCALE)
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.log_text, server.log_text[-8000:]


def others_are_served(server: ServerProcess) -> None:
    """Another client asks and appends."""
    with WireCluster.of(server.bootstrap) as cluster:
        WireTable.find(cluster, attacks.path("plain")).append(ids_batch([7]))


REQUESTS = [
    attacks.every_prefix,
    attacks.huge_limit,
    attacks.wide_fetches,
    attacks.tiny_batches,
    attacks.packed_zeros,
    pytest.param(attacks.tiny_requests, marks=pytest.mark.long),
    attacks.metadata_flood,
    attacks.unknown_tables,
    attacks.new_writers,
    attacks.new_tables,
    attacks.metrics_flood,
]


@pytest.mark.parametrize("attack", REQUESTS, ids=lambda attack: attack.__name__)
def test_requests_that_ask_for_much_are_answered_or_refused(crowded: ServerProcess, attack: attacks.Attack) -> None:
    """None is left without an answer, memory does not run away, and the next client is served."""
    before = crowded.memory_bytes
    said = attack(crowded.bootstrap, SCALE)
    assert said.answered
    assert crowded.memory_bytes - before < 300 << 20
    others_are_served(crowded)


@pytest.mark.parametrize("name", large_work.WORKS)
def test_large_writes_into_tables_of_every_kind(crowded: ServerProcess, name: str) -> None:
    """They are done beside the loop: all rows are there in the end, whatever decides about them."""
    assert large_work.WORKS[name](crowded.bootstrap, SCALE).answered
    others_are_served(crowded)


def test_large_writes_of_many_clients_into_one_bucket(crowded: ServerProcess) -> None:
    """Writes to one bucket come one after the other, and sums tell that none was lost or done twice."""
    with lakeward.connect(crowded.bootstrap) as connection:
        total = Column("total", BIGINT(), aggregate=Aggregate("sum"))
        schema = lakeward.Schema.of([("id", BIGINT()), total], ["id"])
        properties = {"table.merge-engine": "aggregation"}
        connection.create_table("fair.sums", schema, buckets=1, properties=properties)
        rows = pa.record_batch({"id": list(range(1000)), "total": [1] * 1000})

        def write(_: int) -> None:
            with lakeward.connect(crowded.bootstrap) as mine:
                table = mine.table("fair.sums")
                for _ in range(5):
                    table.upsert(rows)
                    assert table.lookup(1)["total"].null_count == 0

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
        table = connection.table("fair.sums")
        assert set(table.snapshot()["total"].to_pylist()) == {20}
        assert table.changelog().to_arrow().num_rows == 1000 + 19 * 2000


def test_a_table_that_is_dropped_while_it_is_filled(crowded: ServerProcess) -> None:
    """The writer is told so, and the server goes on."""
    with lakeward.connect(crowded.bootstrap) as connection, ThreadPoolExecutor(1) as threads:
        table = connection.create_table("fair.short_lived", "id BIGINT, name STRING", primary_key=["id"], buckets=2)
        made = pa.table({"id": range(200_000), "name": ["x"] * 200_000})
        filling = threads.submit(table.upsert, made.to_batches(max_chunksize=20_000), ["id", "name"])
        assert eventually(lambda: table.count() > 0 or filling.done())
        connection.drop_table("fair.short_lived")
        # Who is quick has filled it before it is dropped.
        assert isinstance(filling.exception(), LakewardError | None)
    others_are_served(crowded)


def test_a_key_that_is_repeated_does_not_make_gigabytes(crowded: ServerProcess) -> None:
    """A few kilobytes that ask for 2 GB are refused, and told why."""
    before = crowded.memory_bytes
    said = attacks.repeated_lookup(crowded.bootstrap, 1.0)
    assert len(said.errors) == 3
    assert "server.request.max-answer-size" in said.errors[0]
    assert crowded.memory_bytes - before < 100 << 20
    few = attacks.repeated_lookup(crowded.bootstrap, 0.02)
    assert not few.errors


def test_a_lookup_names_so_many_keys_and_no_more(crowded: ServerProcess) -> None:
    """What is over the limit is refused with the name of the option."""
    with WireCluster.of(crowded.bootstrap) as cluster:
        keyed = WireKv(WireTable.find(cluster, attacks.path("keyed")))
        assert len(keyed.get(*range(5, 905))) == 900
        with pytest.raises(LakewardError, match=r"server\.request\.max-keys"):
            keyed.look_up(*([3] * 20_001))


def test_a_request_names_so_many_buckets_and_no_more(crowded: ServerProcess) -> None:
    """LIST_OFFSETS with 200,000 ids is refused; ten thousand are answered."""
    said = attacks.many_offsets(crowded.bootstrap, 0.4)
    assert len(said.errors) == 3
    assert "server.request.max-elements" in said.errors[0]


@pytest.mark.parametrize(
    "holding",
    [attacks.unread_flood, attacks.parked_fetches, attacks.idle_connections, attacks.slow_headers],
    ids=lambda attack: attack.__name__,
)
def test_clients_that_hold_on_hold_up_nobody(crowded: ServerProcess, holding: Callable[..., object]) -> None:
    """Memory is bounded while they are there, and others are served."""
    before = crowded.memory_bytes
    with holding(crowded.bootstrap, SCALE):  # type: ignore[attr-defined]
        others_are_served(crowded)
        assert crowded.memory_bytes - before < 200 << 20


def test_cursors_end_with_their_connection(crowded: ServerProcess) -> None:
    """Eight clients that opened a cursor and went away do not keep the ninth from scanning."""
    with attacks.abandoned_cursors(crowded.bootstrap, SCALE), WireCluster.of(crowded.bootstrap) as cluster:
        keyed = WireKv(WireTable.find(cluster, attacks.path("keyed")))
        assert eventually(lambda: not keyed.open_scan(batch_bytes=100).error_code)


def test_a_cursor_belongs_to_who_opened_it(crowded: ServerProcess) -> None:
    """Another client can neither read nor close it."""
    with WireCluster.of(crowded.bootstrap) as one, WireCluster.of(crowded.bootstrap) as other:
        mine = WireKv(WireTable.find(one, attacks.path("keyed")))
        theirs = WireKv(WireTable.find(other, attacks.path("keyed")))
        cursor = mine.open_scan(batch_bytes=100).scanner_id
        stolen = theirs.scan_kv(scanner_id=cursor, call_seq_id=1, batch_size_bytes=100)
        assert stolen.error_code == ErrorCode.UNKNOWN_SCANNER_ID.value
        theirs.scan_kv(scanner_id=cursor, close_scanner=True)
        assert not mine.scan_kv(scanner_id=cursor, call_seq_id=1, batch_size_bytes=100).error_code


@pytest.mark.long
def test_requests_that_do_not_end_share_a_bound(tmp_path: Path) -> None:
    """Memory for frames on their way is bounded, and who holds it without sending loses it to others."""
    with ServerProcess(tmp_path / "data", netty__server__max_receive_memory="64mb") as server:
        attacks.prepare(server.bootstrap, SCALE)
        before = server.memory_bytes
        with attacks.unfinished_frames(server.bootstrap, 0.2):
            assert server.memory_bytes - before < 100 << 20
            others_are_served(server)
            assert eventually(lambda: "netty.server.max-receive-memory" in server.log_text)
        assert server.stop() == 0
        assert "Traceback" not in server.log_text


def test_batches_that_are_looked_into_beside_the_loop_keep_their_order(crowded: ServerProcess) -> None:
    """Large and small ones of one client, sent without waiting: each gets the offsets behind the one before it."""
    counts = [200_000, 1, 90_000, 2, 1, 150_000, 3] * 3
    with WireCluster.of(crowded.bootstrap) as cluster:
        table = WireTable.create(cluster, attacks.DATABASE, "in_order")
        asked = [(Api.PRODUCE_LOG, table.produce_request(bytes(ids_batch(range(n), "zstd")))) for n in counts]
        ids = cluster.tablet.send_all(asked)
        bases = [cluster.tablet.answer(one).buckets_resp[0].base_offset for one in ids]
    assert bases == [sum(counts[:place]) for place in range(len(counts))]


def test_clients_that_leave_while_their_batches_are_looked_into_harm_nobody(crowded: ServerProcess) -> None:
    """Their memory goes to others only when the thread is done with it."""
    batch = bytes(ids_batch(range(500_000), "zstd"))
    for _ in range(5):
        with WireCluster.of(crowded.bootstrap) as cluster:
            table = WireTable.find(cluster, attacks.path("plain"))
            cluster.tablet.send_all([(Api.PRODUCE_LOG, table.produce_request(batch))] * 3)
        others_are_served(crowded)


@pytest.mark.parametrize("holding", [attacks.unread_flood, attacks.parked_fetches], ids=lambda a: a.__name__)
def test_a_crowded_server_can_be_stopped(tmp_path: Path, holding: Callable[..., object]) -> None:
    """SIGTERM is obeyed while clients flood it."""
    with ServerProcess(tmp_path / "data") as server:
        attacks.prepare(server.bootstrap, SCALE)
        with holding(server.bootstrap, SCALE):  # type: ignore[attr-defined]
            assert server.stop() == 0


@pytest.mark.long
def test_connections_are_bounded_below_the_open_files_and_it_is_told(tmp_path: Path) -> None:
    """With 1,024 descriptors allowed the server says how many clients it takes, refuses more, and goes on."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("needs to open connections itself")
    command = ["prlimit", "--nofile=1024:1024", "true"]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs prlimit")
    with ServerProcess(tmp_path / "data") as server:
        assert "ulimit" not in server.log_text
        limits = Path(f"/proc/{server.pid}/limits").read_text()
        allowed = int(re.search(r"Max open files\s+(\d+)", limits)[1])  # type: ignore[index]
        assert allowed >= min(hard, 10_768)
    with ServerProcess(tmp_path / "data", netty__server__max_connections="20") as server:
        with attacks.idle_connections(server.bootstrap, 0.02) as clients:
            assert len(clients) == 100
            assert eventually(lambda: "connections are open" in server.log_text)
        assert server.log_text.count("refused") < 10
        assert eventually(lambda: _greeted(server))


def _greeted(server: ServerProcess) -> bool:
    try:
        with WireClient.of(server.bootstrap) as client:
            client.call(Api.API_VERSIONS, HELLO)
            client.call(Api.GET_METADATA, MetadataRequest())
            return True
    except ConnectionError:
        return False
