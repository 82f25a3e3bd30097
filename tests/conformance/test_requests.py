"""The life of a request: versions, pipelining, order, refusals."""

from __future__ import annotations

import struct

import pytest
from server_process import ServerProcess
from wire_client import HELLO, WireClient, WireCluster
from wire_tables import WireTable

from lakeward.errors import ErrorCode
from lakeward.protocol.api import Api
from lakeward.protocol.codec import encode
from lakeward.protocol.frames import ERROR, FAILURE, SUCCESS
from lakeward.protocol.messages.database import DatabaseExistsRequest
from lakeward.protocol.messages.metadata import MetadataRequest


def test_versions_come_first_and_name_the_apis(cluster: WireCluster) -> None:
    """Every API a client of a log table sends is listed once, with its highest version."""
    answer = cluster.tablet.call(Api.API_VERSIONS, HELLO)
    listed = {row.api_key: (row.min_version, row.max_version) for row in answer.api_versions}
    assert len(listed) == len(answer.api_versions)
    for api in (Api.GET_METADATA, Api.PRODUCE_LOG, Api.FETCH_LOG, Api.LIST_OFFSETS, Api.INIT_WRITER, Api.LIMIT_SCAN):
        assert listed[api.value] == (0, 0)


@pytest.mark.parametrize("key", [0, 1, 999, 1065, 2000, 32767, -1])
def test_an_unknown_api_is_refused(lakeward: ServerProcess, key: int) -> None:
    """An API from the future is answered with UNSUPPORTED_VERSION, never with silence."""
    with WireClient.of(lakeward.bootstrap) as client:
        request_id, data = client.frame(key, 0, b"")
        client.send_bytes(data)
        frame = client.frame_of(request_id)
        assert (frame.kind, frame.error.error_code) == (ERROR, ErrorCode.UNSUPPORTED_VERSION.value)
        assert client.call(Api.API_VERSIONS, HELLO)


@pytest.mark.parametrize("version", [1, 99, 32767, -1])
def test_an_unknown_version_is_refused(lakeward: ServerProcess, version: int) -> None:
    """A version that was not offered is refused by name; the connection stays good."""
    with WireClient.of(lakeward.bootstrap) as client:
        assert client.error_code(Api.GET_METADATA, MetadataRequest(), version) == 2
        assert client.call(Api.GET_METADATA, MetadataRequest()).tablet_servers


@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x7f", b"\x08", b"\x0b", bytes(12)])
def test_a_body_that_is_no_message_is_refused(lakeward: ServerProcess, body: bytes) -> None:
    """Bytes that do not parse, or lack a required field, are CORRUPT_MESSAGE; the connection stays good."""
    with WireClient.of(lakeward.bootstrap) as client:
        request_id, data = client.frame(Api.DATABASE_EXISTS.value, 0, body)
        client.send_bytes(data)
        assert client.frame_of(request_id).error.error_code == ErrorCode.CORRUPT_MESSAGE.value
        assert client.call(Api.API_VERSIONS, HELLO)


def test_fields_from_the_future_are_skipped(cluster: WireCluster) -> None:
    """A newer client may send fields we do not know."""
    unknown = b"\xf8\x07\x05" + b"\xfa\x07\x03abc" + b"\xfd\x07" + bytes(4) + b"\xf9\x07" + bytes(8)
    body = encode(DatabaseExistsRequest(database_name="fluss")) + unknown
    request_id, data = cluster.coordinator.frame(Api.DATABASE_EXISTS.value, 0, body)
    cluster.coordinator.send_bytes(data)
    frame = cluster.coordinator.frame_of(request_id)
    assert (frame.kind, frame.body) == (SUCCESS, b"\x08\x01")


def test_a_hundred_requests_in_one_write(cluster: WireCluster) -> None:
    """Requests may be pipelined without limit; each gets exactly one answer, matched by its id."""
    names = ["fluss" if number % 3 else "not_there" for number in range(100)]
    ids = cluster.coordinator.send_all(
        [(Api.DATABASE_EXISTS, DatabaseExistsRequest(database_name=name)) for name in names]
    )
    answers = [cluster.coordinator.answer(request_id) for request_id in reversed(ids)]
    assert [answer.exists for answer in reversed(answers)] == [name == "fluss" for name in names]


def test_requests_may_come_byte_by_byte(server: ServerProcess) -> None:
    """How the network cuts the stream is of no importance."""
    with WireClient.of(server.bootstrap) as client:
        _, first = client.frame(Api.GET_METADATA.value, 0, b"")
        second_id, second = client.frame(Api.API_VERSIONS.value, 0, encode(HELLO))
        for byte in first + second:
            client.send_bytes(bytes([byte]))
        assert client.frame_of(second_id).kind == SUCCESS
        assert client.frame_of(0).kind == SUCCESS


@pytest.mark.parametrize("request_id", [0, -1, 2**31 - 1, -(2**31)])
def test_any_request_id_is_echoed(lakeward: ServerProcess, request_id: int) -> None:
    """Ids are the client's business: any number comes back as it was sent."""
    with WireClient.of(lakeward.bootstrap) as client:
        client.send_bytes(struct.pack(">ihhi", 8, Api.GET_METADATA.value, 0, request_id))
        assert client.receive().request_id == request_id


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 7, 100 * 1024 * 1024, 2**31 - 1])
def test_a_length_that_cannot_be_ends_the_connection(lakeward: ServerProcess, length: int) -> None:
    """Behind a wrong length nothing can be understood: the server says so and hangs up."""
    with WireClient.of(lakeward.bootstrap) as client:
        client.send_bytes(struct.pack(">i", length))
        frame = client.receive()
        assert frame.kind == FAILURE
        assert frame.error.error_code == ErrorCode.CORRUPT_MESSAGE.value
        assert client.socket.recv(1) == b""


def test_writes_of_one_connection_are_appended_in_order(cluster: WireCluster, database: str) -> None:
    """Fifty appends in one write get consecutive offsets in the order they were sent."""
    from arrow_batches import ids_batch

    table = WireTable.create(cluster, database, "ordered")
    ids = cluster.tablet.send_all([(Api.PRODUCE_LOG, table.produce_request(ids_batch([n]))) for n in range(50)])
    offsets = [cluster.tablet.answer(request_id).buckets_resp[0].base_offset for request_id in ids]
    assert offsets == list(range(50))
