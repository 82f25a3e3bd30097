"""Keys into requests and values out of answers: the same bytes as the message codec's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.keys.packed_bytes import PackedBytes
from lakeward.client.lookup.lookup_kernels import (
    ABSENT,
    BUCKET,
    DAMAGED,
    HEAD_WORDS,
    KEY_TAG,
    PARTITION,
    REFUSED,
    cut_values,
    fields_bytes,
    put_fields,
)
from lakeward.protocol.codec import decode, encode
from lakeward.protocol.messages.kv import PbLookupReqForBucket, PbLookupRespForBucket, PbValue
from lakeward.records.kernels.spans import read_only

#: Long enough for lengths of two and three bytes.
BYTES = st.one_of(st.binary(max_size=5), st.binary(min_size=120, max_size=140), st.just(b"x" * 17_000))


def cut(body: bytes, room: int) -> tuple[int, list[int], list[bytes | None]]:
    """Count, head and values of an answer."""
    starts, ends, head = (np.empty(n, np.int64) for n in (room, room, HEAD_WORDS))
    count = cut_values(read_only(body), head, starts, ends)
    spans = zip(starts[: max(count, 0)].tolist(), ends[: max(count, 0)].tolist(), strict=True)
    return count, head.tolist(), [None if start == ABSENT else body[start:end] for start, end in spans]


@given(st.lists(BYTES, max_size=20))
def test_keys_are_written_as_the_codec_reads_them(keys: list[bytes]) -> None:
    """A bucket's part of a request, its keys by compiled code."""
    packed = PackedBytes.of(keys)
    starts, ends = packed.bounds[:-1], packed.bounds[1:]
    fields = bytearray(fields_bytes(starts, ends))
    put_fields(KEY_TAG, packed.data, starts, ends, np.frombuffer(fields, np.uint8))
    whole = encode(PbLookupReqForBucket(partition_id=7, bucket_id=3)) + fields
    assert decode(PbLookupReqForBucket, whole).keys == tuple(keys)


@given(
    st.lists(st.none() | BYTES.filter(bool), max_size=20),
    st.none() | st.integers(0, 2**40),
    st.integers(0, 1000),
    st.none() | st.just("an old name"),
)
def test_values_are_found_where_the_codec_puts_them(
    values: list[bytes | None], partition: int | None, bucket: int, name: str | None
) -> None:
    """Absent values, any bucket, and fields that are of no interest."""
    answer = PbLookupRespForBucket(
        partition_id=partition,
        bucket_id=bucket,
        values=tuple(PbValue(values=v) for v in values),
        original_partition_name=name,
    )
    count, head, found = cut(encode(answer), len(values))
    assert (count, head[BUCKET]) == (len(values), bucket)
    assert head[PARTITION] == (ABSENT if partition is None else partition)
    assert found == values


def test_an_error_is_noticed() -> None:
    """Wherever in the answer it stands."""
    refused = PbLookupRespForBucket(bucket_id=5, error_code=12, error_message="moved")
    count, head, _ = cut(encode(refused), 3)
    assert (count, head[BUCKET]) == (REFUSED, 5)


def test_more_values_than_keys_are_counted_not_written() -> None:
    """The room for values is never exceeded."""
    answer = encode(PbLookupRespForBucket(bucket_id=1, values=(PbValue(values=b"v"),) * 4))
    starts, ends, head = np.empty(2, np.int64), np.empty(2, np.int64), np.empty(HEAD_WORDS, np.int64)
    assert cut_values(read_only(answer), head, starts, ends) == 4


@given(st.data())
def test_damaged_answers_are_refused_or_short(data: st.DataObject) -> None:
    """Cut off or changed anywhere, an answer never makes a value of bytes outside it."""
    values = tuple(PbValue(values=b"value" * i) for i in range(1, 4))
    whole = bytearray(encode(PbLookupRespForBucket(bucket_id=1, values=values)))
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        whole = whole[:at]
    else:
        whole[at] = data.draw(st.integers(0, 255))
    starts, ends, head = np.full(3, ABSENT), np.full(3, ABSENT), np.empty(HEAD_WORDS, np.int64)
    count = cut_values(read_only(bytes(whole)), head, starts, ends)
    assert count >= REFUSED
    assert ((starts == ABSENT) | ((starts >= 0) & (starts <= ends) & (ends <= len(whole)))).all()


@pytest.mark.parametrize(
    "body", [b"\x2a", b"\x2a\x05\x0a", b"\x2a\x03\x12\x01x", b"\x2a\x02\x0a\x05", b"\x0d", b"\x08"]
)
def test_what_is_no_answer_is_damaged(body: bytes) -> None:
    """Lengths past the end, other fields where the value belongs, numbers that do not end."""
    assert cut(body, 1)[0] == DAMAGED
