"""The compiled loops behind lookups: keys into a request, values out of an answer, as protobuf lays them out."""

from __future__ import annotations

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import address, copy_bytes, get_u8, put_8
from lakeward.records.kernels.spans import I64, U8
from lakeward.records.kernels.varint_kernels import BYTES_MAX_64, PAST_END, get_varint, put_varint, varint_bytes

KEY_TAG = 3 << 3 | 2
_PARTITION_TAG, _BUCKET_TAG = 1 << 3, 2 << 3
_VALUE_TAG = 5 << 3 | 2
_VALUE_BYTES_TAG = 1 << 3 | 2
_ERROR_TAG = 3 << 3
_VARINT, _LENGTH = 0, 2
ABSENT = -1
DAMAGED = -1
REFUSED = -2
PARTITION, BUCKET, HEAD_WORDS = 0, 1, 2


@kernel
def fields_bytes(starts: I64, ends: I64) -> int:
    """Bytes of repeated fields of one tag; starts and ends are positions."""
    total = 0
    for i in range(len(starts)):
        size = ends[i] - starts[i]
        total += 1 + varint_bytes(size) + size
    return total


@kernel
def put_fields(tag: int, data: U8, starts: I64, ends: I64, out: U8) -> None:
    """Write stretches of a buffer as repeated fields of one tag."""
    base, at = address(data), address(out)
    for i in range(len(starts)):
        size = ends[i] - starts[i]
        put_8(at, tag)
        at = put_varint(size, at + 1)
        copy_bytes(at, base + starts[i], size)
        at += size


@kernel
def cut_values(data: U8, head: I64, starts: I64, ends: I64) -> int:
    """Where each value of one bucket's answer stands in it, −1 where there is none.

    Partition (−1 for none) and bucket are put into `head`. Returns how many values the answer has, also beyond the room
    for them; DAMAGED when it is no answer, REFUSED when it holds an error.
    """
    base, end, found, refused = address(data), address(data) + len(data), 0, False
    at = base
    head[PARTITION], head[BUCKET] = ABSENT, ABSENT
    while at < end:
        tag = get_u8(at)
        at += 1
        if tag == _VALUE_TAG:
            size, at = get_varint(at, end, BYTES_MAX_64)
            if at == PAST_END or size < 0 or size > end - at:
                return DAMAGED
            if found < len(starts):
                starts[found] = ends[found] = ABSENT
                if size:
                    value_end = at + size
                    if get_u8(at) != _VALUE_BYTES_TAG:
                        return DAMAGED
                    length, start = get_varint(at + 1, value_end, BYTES_MAX_64)
                    if start == PAST_END or start + length != value_end:
                        return DAMAGED
                    starts[found], ends[found] = start - base, value_end - base
            found += 1
            at += size
        elif tag & 7 == _VARINT:
            number, at = get_varint(at, end, BYTES_MAX_64)
            if at == PAST_END:
                return DAMAGED
            if tag == _PARTITION_TAG:
                head[PARTITION] = number
            elif tag == _BUCKET_TAG:
                head[BUCKET] = number
            elif tag == _ERROR_TAG and number:
                refused = True
        elif tag & 7 == _LENGTH:
            size, at = get_varint(at, end, BYTES_MAX_64)
            if at == PAST_END or size < 0 or size > end - at:
                return DAMAGED
            at += size
        else:
            return DAMAGED
    return REFUSED if refused else found
