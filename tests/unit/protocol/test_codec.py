"""Messages and bytes: golden frames, round trips, damage."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from message_strategies import all_messages, messages

from lakeward.errors import CorruptError, InvalidError
from lakeward.protocol.codec import decode, decode_in_steps, encode, encode_parts
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbProduceLogReqForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.metadata import ApiVersionsResponse, MetadataRequest, PbApiVersion, PbBucketMetadata
from lakeward.protocol.messages.shared import ErrorResponse, PbTablePath
from lakeward.rpc.dispatch import at_once

MESSAGES = all_messages()


def test_the_worked_example_of_the_specification() -> None:
    """A fetch is byte for byte what the specification shows."""
    bucket = PbFetchLogReqForBucket(bucket_id=0, fetch_offset=-2, max_fetch_bytes=8)
    table = PbFetchLogReqForTable(
        table_id=0, projection_pushdown_enabled=True, projected_fields=(0, 2), buckets_req=(bucket,)
    )
    request = FetchLogRequest(follower_server_id=-1, max_bytes=16, tables_req=(table,), max_wait_ms=500, min_bytes=1)
    wanted = "08ffffffffffffffffff0110101a190800100" + "11a020002220f100018feffffffffffffffff01200820f4032801"
    assert encode(request).hex() == wanted
    assert decode(FetchLogRequest, bytes.fromhex(wanted)) == request


def test_zeros_and_false_are_written() -> None:
    """Required fields are always on the wire: Java refuses a message that leaves one out."""
    assert encode(PbApiVersion(api_key=0, min_version=0, max_version=0)).hex() == "080010001800"
    versions = ApiVersionsResponse(api_versions=(PbApiVersion(api_key=1016, min_version=0, max_version=2),))
    assert encode(versions).hex() == "0a0708f80710001802"


def test_absent_and_empty_differ() -> None:
    """An optional field that is empty is there, one that is None is not."""
    assert encode(PbFetchLogRespForBucket(bucket_id=1)).hex() == "1001"
    assert encode(PbFetchLogRespForBucket(bucket_id=1, records=b"")).hex() == "10014200"
    assert encode(PbFetchLogRespForBucket(bucket_id=1, records=[])).hex() == "10014200"
    assert decode(PbFetchLogRespForBucket, bytes.fromhex("10014200")).records == b""


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_every_message_makes_the_round_trip(cls: type) -> None:
    """Whatever a message holds, it is the same after encoding and decoding."""

    @settings(max_examples=10)
    @given(messages(cls))
    def round_trip(message: object) -> None:
        assert decode(cls, encode(message)) == message

    round_trip()


@pytest.mark.parametrize("cls", MESSAGES, ids=lambda cls: cls.__name__)
def test_no_bytes_break_the_decoder(cls: type) -> None:
    """Random bytes, and good messages with random damage, are decoded or refused as corrupt; nothing else happens."""

    @settings(max_examples=15)
    @given(st.binary(max_size=60) | st.tuples(messages(cls), st.data()).map(_damaged))
    def survives(data: bytes) -> None:
        with contextlib.suppress(CorruptError):
            decode(cls, data)

    survives()


def _damaged(drawn: tuple) -> bytes:
    message, data = drawn
    good = bytearray(encode(message))
    if good:
        for place in data.draw(st.lists(st.integers(0, len(good) - 1), max_size=3)):
            good[place] = data.draw(st.integers(0, 255))
        del good[data.draw(st.integers(0, len(good))) :]
    return bytes(good)


@given(messages(FetchLogRequest), st.integers(0, 3))
def test_unknown_fields_are_skipped(message: FetchLogRequest, place: int) -> None:
    """Fields of a later version, of any kind, change nothing."""
    unknown = [b"\xf8\x7f\x05", b"\xf9\x7f" + bytes(8), b"\xfa\x7f\x02ab", b"\xfd\x7f" + bytes(4)][place]
    assert decode(FetchLogRequest, unknown + encode(message) + unknown) == message


@pytest.mark.parametrize("data", ["180318041805", "1a03030405", "18031a020405"], ids=["one by one", "packed", "both"])
def test_repeated_numbers_come_packed_or_one_by_one(data: str) -> None:
    """Both ways of writing a list of numbers are understood, whatever the declaration says."""
    assert decode(MetadataRequest, bytes.fromhex(data)).partitions_id == (3, 4, 5)


def test_a_number_is_cut_to_its_width() -> None:
    """A 32-bit field that carries a 64-bit number takes its lower half, as protobuf readers do."""
    assert decode(PbBucketMetadata, bytes.fromhex("08ffffffffffffffffff01")).bucket_id == -1
    assert decode(PbBucketMetadata, bytes.fromhex("0885808080f01f")).bucket_id == 5


@pytest.mark.parametrize("data", ["", "1203616263"])
def test_a_missing_required_field_is_corrupt(data: str) -> None:
    """The message says which class lacks what."""
    with pytest.raises(CorruptError, match="ErrorResponse"):
        decode(ErrorResponse, bytes.fromhex(data))


@pytest.mark.parametrize("data", ["0a01ff1200", "0a02c3281200"])
def test_text_that_is_no_text_is_corrupt(data: str) -> None:
    """Names must be UTF-8."""
    with pytest.raises(CorruptError):
        decode(PbTablePath, bytes.fromhex(data))


@pytest.mark.parametrize("cls", all_messages())
@settings(max_examples=5)
@given(data=st.data())
def test_a_bit_at_a_time_is_the_same(cls: type, data: st.DataObject) -> None:
    """What is decoded in steps is what is decoded at once."""
    written = memoryview(encode(data.draw(messages(cls))))
    assert at_once(decode_in_steps(cls, written)) == decode(cls, written)


def test_much_is_decoded_in_many_steps() -> None:
    """A request that names thousands of tables lets others have their turn, and has an end as well."""
    paths = tuple(PbTablePath(database_name="d", table_name=f"t{n}") for n in range(1000))
    written = encode(MetadataRequest(table_path=paths))
    assert len(list(decode_in_steps(MetadataRequest, written))) > 10
    with pytest.raises(InvalidError, match="max-elements"):
        at_once(decode_in_steps(MetadataRequest, written, 999))


def test_lists_have_an_end() -> None:
    """More elements than may come are refused, packed or not, in one list or in several, nested or not."""
    assert len(decode(MetadataRequest, b"\x18\x01" * 10, 10).partitions_id) == 10
    one_path = encode(MetadataRequest(table_path=(PbTablePath(database_name="d", table_name="t"),)))
    for data in (b"\x18\x01" * 11, b"\x1a\x0b" + bytes(11), one_path * 6 + b"\x18\x01" * 5):
        with pytest.raises(InvalidError, match=r"server\.request\.max-elements"):
            decode(MetadataRequest, data, 10)


# -- payloads


def produce(payload: object) -> ProduceLogRequest:
    """An append of one payload."""
    bucket = PbProduceLogReqForBucket(bucket_id=0, records=payload)
    return ProduceLogRequest(acks=-1, table_id=1, timeout_ms=1, buckets_req=(bucket,))


def test_a_payload_is_a_view_into_the_frame() -> None:
    """A megabyte of rows is not copied when it comes."""
    frame = memoryview(bytearray(encode(produce(b"x" * 1_000_000))))
    records = decode(ProduceLogRequest, frame).buckets_req[0].records
    assert isinstance(records, memoryview)
    assert records.obj is frame.obj
    assert records == b"x" * 1_000_000


def test_a_payload_is_gathered_when_it_goes() -> None:
    """Nor is it copied when it leaves, in one piece or in several."""
    large = memoryview(bytes(1_000_000))
    assert any(part is large for part in encode_parts(produce(large)))
    pieces = [large[:5000], b"ab", large[5000:]]
    parts = encode_parts(produce(pieces))
    assert all(any(part is piece for part in parts) for piece in pieces)
    assert b"".join(parts) == encode(produce(b"".join(pieces)))
