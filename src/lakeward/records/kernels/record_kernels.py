"""The compiled loops that cut batches of records and write them: kv batches, value batches, row-formatted logs.

Records lie one after the other, each with the bytes after it as a 32-bit length in front. Functions that read return
the number of the first record that is not one, or −1.
"""

from __future__ import annotations

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import address, copy_bytes, get_i16, get_i32, get_u8, put_8, put_32
from lakeward.records.kernels.spans import I64, U8
from lakeward.records.kernels.varint_kernels import BYTES_MAX_32, PAST_END, get_varint, put_varint, varint_bytes

LENGTH_BYTES = 4
CHANGE_TYPE_MAX = 4
NO_ROW = -1
ALL_GOOD = -1
_U32_MASK = 0xFFFFFFFF


@kernel
def cut_kv_records(data: U8, at: int, key_starts: I64, key_ends: I64, row_starts: I64, row_ends: I64) -> int:
    """Where keys and rows of a kv batch stand in it; the records take all bytes from `at` on."""
    base, end = address(data), address(data) + len(data)
    at += base
    for i in range(len(key_starts)):
        if end - at < LENGTH_BYTES:
            return i
        length = get_i32(at)
        at += LENGTH_BYTES
        if length < 0 or length > end - at:
            return i
        record_end = at + length
        key_bytes, at = get_varint(at, record_end, BYTES_MAX_32)
        key_bytes &= _U32_MASK
        if at == PAST_END or key_bytes > record_end - at:
            return i
        key_starts[i], key_ends[i] = at - base, at + key_bytes - base
        at += key_bytes
        row_starts[i] = at - base if at < record_end else NO_ROW
        row_ends[i] = record_end - base if at < record_end else NO_ROW
        at = record_end
    return ALL_GOOD if at == end else len(key_starts)


@kernel
def kv_records_bytes(key_starts: I64, key_ends: I64, row_starts: I64, row_ends: I64) -> int:
    """Bytes of kv records with these keys and rows."""
    total = 0
    for i in range(len(key_starts)):
        key_bytes = key_ends[i] - key_starts[i]
        total += LENGTH_BYTES + varint_bytes(key_bytes) + key_bytes + row_ends[i] - row_starts[i]
    return total


@kernel
def put_kv_records(key_starts: I64, key_ends: I64, row_starts: I64, row_ends: I64, out: U8, at: int) -> None:
    """Write kv records; starts and ends are addresses."""
    at += address(out)
    for i in range(len(key_starts)):
        key_bytes, row_bytes = key_ends[i] - key_starts[i], row_ends[i] - row_starts[i]
        body = put_varint(key_bytes, at + LENGTH_BYTES)
        copy_bytes(body, key_starts[i], key_bytes)
        copy_bytes(body + key_bytes, row_starts[i], row_bytes)
        put_32(at, body + key_bytes + row_bytes - at - LENGTH_BYTES)
        at = body + key_bytes + row_bytes


@kernel
def cut_records(data: U8, at: int, starts: I64, ends: I64) -> int:
    """Where the records of a batch stand in it, without their lengths; they take all bytes from `at` on."""
    base, end = address(data), address(data) + len(data)
    at += base
    for i in range(len(starts)):
        if end - at < LENGTH_BYTES:
            return i
        length = get_i32(at)
        at += LENGTH_BYTES
        if length < 0 or length > end - at:
            return i
        starts[i] = at - base
        at += length
        ends[i] = at - base
    return ALL_GOOD if at == end else len(starts)


@kernel
def put_records(starts: I64, ends: I64, out: U8, at: int) -> None:
    """Write records; starts and ends are addresses."""
    at += address(out)
    for i in range(len(starts)):
        size = ends[i] - starts[i]
        put_32(at, size)
        copy_bytes(at + LENGTH_BYTES, starts[i], size)
        at += LENGTH_BYTES + size


@kernel
def cut_changes(data: U8, at: int, change_types: U8, starts: I64, ends: I64) -> int:
    """Change types and rows of a row-formatted log batch."""
    bad = cut_records(data, at, starts, ends)
    if bad != ALL_GOOD:
        return bad
    for i in range(len(starts)):
        if starts[i] == ends[i]:
            return i
        change_types[i] = get_u8(address(data) + starts[i])
        if change_types[i] > CHANGE_TYPE_MAX:
            return i
        starts[i] += 1
    return ALL_GOOD


@kernel
def put_changes(change_types: U8, starts: I64, ends: I64, out: U8, at: int) -> None:
    """Write rows with their change types; starts and ends are addresses."""
    at += address(out)
    for i in range(len(starts)):
        size = ends[i] - starts[i]
        put_32(at, size + 1)
        put_8(at + LENGTH_BYTES, change_types[i])
        copy_bytes(at + LENGTH_BYTES + 1, starts[i], size)
        at += LENGTH_BYTES + 1 + size


@kernel
def schema_ids(starts: I64, ends: I64, ids: I64) -> int:
    """The schema id at the start of each stored value; starts and ends are addresses."""
    for i in range(len(starts)):
        if ends[i] - starts[i] < 2:
            return i
        ids[i] = get_i16(starts[i])
    return ALL_GOOD
