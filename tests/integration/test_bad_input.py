"""Whatever a client does, every other client is served and nothing stored is lost."""

from __future__ import annotations

import os
import random
import socket
import struct
from collections.abc import Iterator

import pyarrow as pa
import pytest
from arrow_batches import ids_batch, read_rows
from server_process import ServerProcess
from wire_client import HELLO, WireClient, WireCluster
from wire_tables import LATEST, WireTable, create_database, table_json

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.messages.database import CreateDatabaseRequest, DropDatabaseRequest
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, ProduceLogRequest
from lakeward.protocol.messages.metadata import MetadataRequest
from lakeward.protocol.messages.partition import CreatePartitionRequest, PbPartitionSpec
from lakeward.protocol.messages.shared import PbKeyValue, PbTablePath
from lakeward.protocol.messages.table import CreateTableRequest

IDS = pa.schema([("id", pa.int64())])
STORED = list(range(100))


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that is mistreated by every test of this file, with rows in it that must survive all of them."""
    if os.environ.get("LAKEWARD_TEST_BOOTSTRAP"):
        pytest.skip("needs a Lakeward server of its own")
    options = {"netty__server__max_pending_response_size": "4mb"}
    with ServerProcess(tmp_path_factory.mktemp("victim") / "data", **options) as server:
        with WireCluster.of(server.bootstrap) as cluster:
            create_database(cluster, "db")
            WireTable.create(cluster, "db", "kept").append(ids_batch(STORED))
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.log_text, server.log_text[-8000:]


@pytest.fixture(autouse=True)
def others_are_undisturbed(victim: ServerProcess) -> Iterator[None]:
    """After every test another client writes and reads, and the stored rows are there."""
    yield
    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.find(cluster, PbTablePath(database_name="db", table_name="kept"))
        before = table.offset(LATEST)
        assert table.append(ids_batch([7])) == before
        rows = [row["id"] for row in read_rows(table.fetch(0).records, IDS)]
        assert rows == STORED + [7] * (before + 1 - len(STORED))


def send_and_expect_the_end(server: ServerProcess, data: bytes) -> None:
    """Send bytes; the server must hang up, with or without last words."""
    with WireClient.of(server.bootstrap) as client:
        try:
            client.send_bytes(data)
        except ConnectionError:
            return
        assert client.is_closed_by_server()


# -- frames


@pytest.mark.covering("0", "7")
@pytest.mark.parametrize("seed", range(20))
def test_garbage_is_refused_or_ends_the_connection(victim: ServerProcess, seed: int) -> None:
    """Random bytes never do more than end their own connection."""
    data = random.Random(seed).randbytes(5000)
    with WireClient.of(victim.bootstrap) as client:
        try:
            client.send_bytes(data)
            client.socket.shutdown(socket.SHUT_WR)
            while client.socket.recv(65536):
                pass
        except ConnectionError:
            pass


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 1, 7, 100 * 2**20, 2**31 - 1], ids=str)
def test_impossible_lengths_end_the_connection(victim: ServerProcess, length: int) -> None:
    """Negative, too short for a header, or larger than any request: refused before a byte of it is awaited."""
    send_and_expect_the_end(victim, struct.pack(">i", length) + b"x" * 100)


def test_a_good_request_before_garbage_is_answered(victim: ServerProcess) -> None:
    """Frames are taken one by one: the answer to the first comes before the end."""
    with WireClient.of(victim.bootstrap) as client:
        _, good = client.frame(Api.API_VERSIONS.value, 0, encode(HELLO))
        client.send_bytes(good + struct.pack(">i", -5))
        assert client.receive().request_id == 0
        assert client.receive().error.error_code == ErrorCode.CORRUPT_MESSAGE.value
        assert client.socket.recv(1) == b""


@pytest.mark.parametrize("cut", [1, 3, 4, 11, 12, 20])
def test_half_a_frame_and_goodbye(victim: ServerProcess, cut: int) -> None:
    """A client that dies in the middle of a request leaves no trace."""
    with WireClient.of(victim.bootstrap) as client:
        _, data = client.frame(Api.API_VERSIONS.value, 0, encode(HELLO))
        client.send_bytes(data[:cut])


def test_many_clients_that_say_nothing(victim: ServerProcess) -> None:
    """Silent connections cost a little memory each and hold up nobody."""
    with WireClient.of(victim.bootstrap) as first:
        first.call(Api.API_VERSIONS, HELLO)
        before = victim.memory_bytes
        silent = [socket.create_connection((victim.host, victim.port), 30) for _ in range(300)]
        for client in silent[::3]:
            client.sendall(b"\x00\x00")
        first.call(Api.GET_METADATA, MetadataRequest())
        assert victim.memory_bytes - before < 100 << 20
        for client in silent:
            client.close()


def test_large_frames_that_never_come_cost_nothing(victim: ServerProcess) -> None:
    """Announcing 90 MB is not sending 90 MB: memory grows with what has come, not with what was claimed."""
    with WireClient.of(victim.bootstrap) as probe:
        probe.call(Api.API_VERSIONS, HELLO)
        before = victim.memory_bytes
        liars = [WireClient.of(victim.bootstrap) for _ in range(40)]
        for liar in liars:
            liar.send_bytes(struct.pack(">ihhi", 90 << 20, Api.PRODUCE_LOG.value, 0, 0) + bytes(1000))
        probe.call(Api.GET_METADATA, MetadataRequest())
        assert victim.memory_bytes - before < 50 << 20
        for liar in liars:
            liar.close()


def test_a_client_that_never_reads_is_no_burden(victim: ServerProcess) -> None:
    """Answers that nobody takes do not pile up: the server stops reading from such a client."""
    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.create(cluster, "db", "unread")
        table.append(b"".join(ids_batch(range(n, n + 500)) for n in range(0, 50_000, 500)))
        request = table.fetch_request(0, bucket_bytes=48 << 10)
    deaf = WireClient.of(victim.bootstrap)
    deaf.socket.settimeout(0.5)
    before = victim.memory_bytes
    frames = b"".join(deaf.frame(Api.FETCH_LOG.value, 0, encode(request))[1] for _ in range(20_000))
    with pytest.raises(TimeoutError):  # the server has stopped reading
        deaf.send_bytes(frames * 20)
    with WireClient.of(victim.bootstrap) as other:
        other.call(Api.GET_METADATA, MetadataRequest())
        assert victim.memory_bytes - before < 24 << 20
    deaf.close()


def test_a_client_that_reads_late_gets_everything(victim: ServerProcess) -> None:
    """Back-pressure delays answers, it does not lose any."""
    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.create(cluster, "db", "late")
        payload = b"".join(ids_batch(range(n, n + 500)) for n in range(0, 20_000, 500))
        table.append(payload)
        request = table.fetch_request(0)
    with WireClient.of(victim.bootstrap) as client:
        ids = client.send_all([(Api.FETCH_LOG, request)] * 300)
        answers = {client.receive().request_id for _ in ids}
        assert answers == set(ids)


# -- requests


def nested(depth: int) -> bytes:
    """A predicate inside a predicate, so many times."""
    body = b""
    for _ in range(depth):
        inner = b"\x08\x00" + (b"\x12" + _varint(len(body)) + body if body else b"")
        body = b"\x08\x01" + b"\x1a" + _varint(len(inner)) + inner
    return body


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def test_a_deeply_nested_request_is_refused(victim: ServerProcess) -> None:
    """Recursion has an end: the request is corrupt, the server is well."""
    predicate = nested(20_000)
    table = b"\x08\x00\x10\x00" + b"\x2a" + _varint(len(predicate)) + predicate + b"\x30\x01"
    body = b"\x08\x01\x10\x01" + b"\x1a" + _varint(len(table)) + table
    with WireClient.of(victim.bootstrap) as client:
        request_id, data = client.frame(Api.FETCH_LOG.value, 0, body)
        client.send_bytes(data)
        assert client.frame_of(request_id).error.error_code == ErrorCode.CORRUPT_MESSAGE.value


def test_a_request_that_names_a_million_buckets_is_refused(victim: ServerProcess) -> None:
    """A small request cannot make a large amount of work."""
    body = b"\x08\x01\x10\x01\x18\x00" + b"\x2a" + _varint(1_000_000) + bytes(1_000_000)
    with WireClient.of(victim.bootstrap) as client:
        request_id, data = client.frame(Api.LIST_OFFSETS.value, 0, body)
        client.send_bytes(data)
        assert client.frame_of(request_id).error.error_code == ErrorCode.OPERATION_NOT_ATTEMPTED.value


@pytest.mark.parametrize("api", [api for api in Api if api is not Api.API_VERSIONS], ids=lambda api: api.name)
def test_every_api_survives_an_empty_and_a_random_body(victim: ServerProcess, api: Api) -> None:
    """Each request is answered exactly once, whatever its body."""
    chance = random.Random(api.value)
    with WireClient.of(victim.bootstrap) as client:
        bodies = [b"", b"\x08\x01", b"\x0a\x00", b"\x12\x00", *(chance.randbytes(40) for _ in range(10))]
        frames = [client.frame(api.value, 0, body) for body in bodies]
        if api in {Api.DROP_DATABASE, Api.DROP_TABLE}:
            frames = frames[:1]
        client.send_bytes(b"".join(data for _, data in frames))
        assert {client.receive().request_id for _ in frames} == {request_id for request_id, _ in frames}


# -- names


BAD_NAMES = ["../../etc", "..", ".", "", "a/b", "a\\b", "a\x00b", "x" * 300, "__internal", "käse", "a b", "\n", "$x"]


@pytest.mark.parametrize("name", BAD_NAMES, ids=repr)
def test_names_that_lead_elsewhere_are_refused(victim: ServerProcess, name: str) -> None:
    """No name of a database, table or partition touches anything outside its place."""
    before = sorted(path for path in victim.data_dir.parent.rglob("*") if path.is_dir())
    with WireCluster.of(victim.bootstrap) as cluster:
        ask = cluster.coordinator.error_code
        database = CreateDatabaseRequest(database_name=name, ignore_if_exists=False)
        assert ask(Api.CREATE_DATABASE, database) == ErrorCode.INVALID_DATABASE.value
        json = table_json(("id", "BIGINT"), ("day", "STRING"), partition_key=["day"])
        path = PbTablePath(database_name="db", table_name=name)
        table = CreateTableRequest(table_path=path, table_json=json, ignore_if_exists=False)
        assert ask(Api.CREATE_TABLE, table) == ErrorCode.INVALID_TABLE.value
        good = PbTablePath(database_name="db", table_name=f"parts_{BAD_NAMES.index(name)}")
        cluster.coordinator.call(
            Api.CREATE_TABLE, CreateTableRequest(table_path=good, table_json=json, ignore_if_exists=False)
        )
        spec = PbPartitionSpec(partition_key_values=(PbKeyValue(key="day", value=name),))
        partition = CreatePartitionRequest(table_path=good, partition_spec=spec, ignore_if_not_exists=False)
        assert ask(Api.CREATE_PARTITION, partition) == ErrorCode.PARTITION_SPEC_INVALID.value
        drop = DropDatabaseRequest(database_name=name, ignore_if_not_exists=False, cascade=True)
        assert ask(Api.DROP_DATABASE, drop) != 0
    assert sorted(path for path in victim.data_dir.parent.rglob("*") if path.is_dir()) == before


@pytest.mark.parametrize(
    "json",
    [
        b"",
        b"{}",
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        b"null",
        b"{" * 100_000,
        b'{"schema":' * 5000,
        table_json(("id", "NO_SUCH_TYPE")),
        table_json(("id", "BIGINT"), ("id", "BIGINT")),
        table_json(("id", "BIGINT"), bucket_count=-1),
        table_json(("id", "BIGINT"), bucket_count=10**18),
        table_json(("id", "BIGINT"), bucket_count="many"),
        table_json(("id", "BIGINT"), properties={"table.log.ttl": None}),
        table_json(("id", "BIGINT"), properties=[]),
        table_json(("id", "BIGINT"), schema=None),
        table_json(("id", "BIGINT"), partition_key=[["id"]]),
    ],
    ids=range(17),
)
def test_descriptors_that_make_no_sense_are_refused(victim: ServerProcess, json: bytes) -> None:
    """A table that cannot be is refused with a code of its own, never with an unexpected error."""
    path = PbTablePath(database_name="db", table_name="impossible")
    with WireCluster.of(victim.bootstrap) as cluster:
        code = cluster.coordinator.error_code(
            Api.CREATE_TABLE, CreateTableRequest(table_path=path, table_json=json, ignore_if_exists=False)
        )
    wanted = {ErrorCode.INVALID_TABLE, ErrorCode.INVALID_CONFIG, ErrorCode.BUCKET_MAX_NUM, ErrorCode.CORRUPT_MESSAGE}
    assert code in {row.value for row in wanted}


# -- batches


def test_batches_for_what_is_not_there(victim: ServerProcess) -> None:
    """Dropped tables, unknown partitions and buckets are refused one by one, in the bucket's own answer."""
    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.create(cluster, "db", "gone")
        table.drop()
        for partition, bucket in [(None, 0), (None, 5), (3, 0), (-1, -1), (2**62, 2**31 - 1)]:
            request = ProduceLogRequest(
                acks=-1,
                table_id=table.table_id,
                timeout_ms=100,
                buckets_req=(
                    PbProduceLogReqForBucket(partition_id=partition, bucket_id=bucket, records=bytes(ids_batch([1]))),
                ),
            )
            (answer,) = cluster.tablet.call(Api.PRODUCE_LOG, request).buckets_resp
            assert answer.error_code in {
                ErrorCode.NOT_LEADER_OR_FOLLOWER.value,
                ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value,
            }
            assert (answer.partition_id, answer.bucket_id) == (partition, bucket)


def test_a_batch_that_claims_billions_of_rows(victim: ServerProcess) -> None:
    """Counts in a header are checked against what is there before offsets are given out."""
    from lakeward.records.batch.log_batch import seal

    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.create(cluster, "db", "claims")
        batch = ids_batch([1])
        batch[28:32] = (2**31 - 2).to_bytes(4, "little")
        batch[44:48] = (2**31 - 1).to_bytes(4, "little")
        seal(batch)
        assert table.produce(batch).error_code == ErrorCode.INVALID_TARGET_COLUMN.value
        assert table.offset(LATEST) == 0


@pytest.mark.parametrize("seed", range(30))
def test_batches_with_random_damage_are_refused(victim: ServerProcess, seed: int) -> None:
    """Flips, cuts and foreign bytes with a right checksum: refused, or stored and readable, never a crash."""
    from lakeward.records.batch.log_batch import seal

    chance = random.Random(seed)
    with WireCluster.of(victim.bootstrap) as cluster:
        table = WireTable.create(cluster, "db", f"damage_{seed}")
        for _ in range(20):
            batch = ids_batch(range(10), chance.choice([None, "lz4", "zstd"]))
            for _ in range(chance.randint(1, 4)):
                batch[chance.randrange(13, len(batch))] = chance.randrange(256)
            if chance.random() < 0.7:
                seal(batch)
            answer = table.produce(batch, timeout_ms=0)
            assert answer.error_code in {None, 35, 14, 9, 31}
        for columns in (None, (0,)):
            assert table.fetch(-2, columns=columns).error_code is None
