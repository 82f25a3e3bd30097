"""Frames: golden bytes."""

from __future__ import annotations

import struct

import pytest

from lakeward.errors import ErrorCode
from lakeward.protocol.codec import encode_parts
from lakeward.protocol.frames import (
    LENGTH_BYTES,
    RequestHeader,
    error_frame,
    failure_frame,
    request_frame,
    request_in,
    response_frame,
)
from lakeward.protocol.messages.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataResponse,
    PbApiVersion,
    PbServerNode,
)


def text(parts: list) -> str:
    """A frame in hex."""
    return b"".join(parts).hex()


def test_the_first_frame_of_the_official_client() -> None:
    """What pyfluss sends first is what we would send in its place."""
    hello = ApiVersionsRequest(client_software_name="fluss-rust", client_software_version="1.0.0")
    wanted = "0000001b03e80000000000000a0a666c7573732d727573741205312e302e30"
    assert text(request_frame(1000, 0, 0, encode_parts(hello))) == wanted


def test_answers_have_the_bytes_of_the_specification() -> None:
    """The worked examples: versions, metadata, an error, a negative code, a failure."""
    rows = (
        PbApiVersion(api_key=1000, min_version=0, max_version=0),
        PbApiVersion(api_key=1016, min_version=0, max_version=2),
    )
    versions = ApiVersionsResponse(api_versions=rows, server_type=2)
    assert text(response_frame(0, encode_parts(versions))) == (
        "0000001900000000000a0708e807100018000a0708f807100018021002"
    )
    metadata = MetadataResponse(
        coordinator_server=PbServerNode(node_id=0, host="h", port=9123),
        tablet_servers=(PbServerNode(node_id=1, host="h", port=9124),),
    )
    assert text(response_frame(1, encode_parts(metadata))) == (
        "0000001900000000010a08080012016818a3471208080112016818a447"
    )
    assert text(error_frame(2, ErrorCode.TABLE_NOT_EXIST, "no")) == "0000000b010000000208071202" + "6e6f"
    assert text(error_frame(3, ErrorCode.UNKNOWN_SERVER_ERROR, None)) == "00000010010000000308ffffffffffffffffff01"
    assert text(failure_frame(ErrorCode.CORRUPT_MESSAGE, None)) == "00000003020803"


@pytest.mark.parametrize("request_id", [0, -1, 2**31 - 1, -(2**31)])
def test_any_request_id_fits(request_id: int) -> None:
    """Ids are signed and opaque."""
    assert struct.unpack(">ibi", b"".join(response_frame(request_id, []))) == (5, 0, request_id)


def test_a_request_is_read_as_it_was_written() -> None:
    """Header and body of a frame without its length; the body is a view."""
    frame = memoryview(b"".join(request_frame(1015, 2, -7, [b"bo", b"dy"])))[LENGTH_BYTES:]
    header, body = request_in(frame)
    assert header == RequestHeader(1015, 2, -7)
    assert body == b"body"
    assert body.obj is frame.obj
