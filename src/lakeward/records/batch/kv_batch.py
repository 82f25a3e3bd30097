"""Kv record batches: what a PUT_KV carries for one bucket. They are never stored, only turned into a changelog.

header | records, each: length:i32 | key length:varint | key | row, or nothing to delete the key
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER
from lakeward.records.batch.crc32c import checksum
from lakeward.records.batch.layout import I8, I16, I32, I64, U32, Field, Layout
from lakeward.records.kernels.record_kernels import (
    ALL_GOOD,
    LENGTH_BYTES,
    cut_kv_records,
    kv_records_bytes,
    put_kv_records,
)
from lakeward.records.kernels.spans import U8, Positions, Spans, read_only

KV_BATCH = Layout.of(
    Field("length", I32, "bytes after this field"),
    Field("magic", I8, "version of this header: 0"),
    Field("crc", U32, "CRC-32C from schema_id to the end"),
    Field("schema_id", I16, "schema that the rows were written with"),
    Field("attributes", I8, "none yet; 0"),
    Field("writer_id", I64, "idempotent writer, or −1"),
    Field("batch_sequence", I32, "number of the batch at that writer and bucket, or −1"),
    Field("record_count", I32, "records in the batch"),
)
KV_HEADER_BYTES = KV_BATCH.size
KV_OVERHEAD_BYTES = 4
KV_MAGIC = 0
assert KV_HEADER_BYTES == 28

_HEADER = KV_BATCH.struct
_CRC = struct.Struct("<I")
_COUNT = struct.Struct("<i")
_WRITER = struct.Struct("<qi")
_CRC_AT = KV_BATCH.offset("crc")
_CHECKED_AT = KV_BATCH.offset("schema_id")
_WRITER_AT = KV_BATCH.offset("writer_id")
_COUNT_AT = KV_BATCH.offset("record_count")
_RECORD_BYTES_MIN = LENGTH_BYTES + 1
_LENGTH_MAX = (1 << 31) - 1


class KvBatch(NamedTuple):
    """A kv batch, read: its header, and where keys and rows stand in `data`."""

    schema_id: int
    writer_id: int
    batch_sequence: int
    record_count: int
    data: U8
    key_starts: Positions
    key_ends: Positions
    row_starts: Positions
    """−1 where the record deletes its key; so `row_ends`."""
    row_ends: Positions

    @property
    def keys(self) -> Spans:
        """The keys."""
        return Spans([self.data], self.key_starts, self.key_ends)


def parse_kv_batch(data: memoryview | bytes | bytearray, *, crc_was_checked: bool = False) -> KvBatch:
    """The one batch that the bytes are; CORRUPT_RECORD when they are anything else."""
    size = len(data)
    if size < KV_HEADER_BYTES:
        raise _damage_error(f"{size} bytes are fewer than its header")
    length, magic, crc, schema_id, _, writer_id, sequence, count = _HEADER.unpack_from(data)
    if magic != KV_MAGIC:
        raise _damage_error(f"version {magic} is unknown")
    if length + KV_OVERHEAD_BYTES != size:
        raise _damage_error(f"it claims {length + KV_OVERHEAD_BYTES} bytes and has {size}")
    if not crc_was_checked and checksum(memoryview(data)[_CHECKED_AT:]) != crc:
        raise _damage_error("its CRC is wrong")
    if not 0 <= count <= (size - KV_HEADER_BYTES) // _RECORD_BYTES_MIN:
        raise _damage_error(f"its bytes hold no {count} records")
    array = read_only(data)
    places = np.empty((4, count), np.int64)
    bad = cut_kv_records(array, KV_HEADER_BYTES, places[0], places[1], places[2], places[3])
    if bad != ALL_GOOD:
        what = f"record {bad} of {count} does not fit" if bad < count else f"bytes follow its {count} records"
        raise _damage_error(what)
    return KvBatch(schema_id, writer_id, sequence, count, array, *places)


def build_kv_batch(
    schema_id: int,
    keys: Spans,
    rows: Spans | None,
    writer_id: int = NO_WRITER,
    batch_sequence: int = NO_SEQUENCE,
) -> bytearray:
    """A batch of upserts and deletes: an empty row deletes its key, as do all without rows."""
    assert rows is None or len(rows) == len(keys)
    row_starts, row_ends = (keys.ends, keys.ends) if rows is None else (rows.starts, rows.ends)
    size = KV_HEADER_BYTES + int(kv_records_bytes(keys.starts, keys.ends, row_starts, row_ends))
    if size > _LENGTH_MAX:
        raise ErrorCode.RECORD_TOO_LARGE.error(f"A kv batch of {size} bytes is over 2 GB; write fewer rows at once.")
    batch = bytearray(size)
    put_kv_records(keys.starts, keys.ends, row_starts, row_ends, np.frombuffer(batch, np.uint8), KV_HEADER_BYTES)
    _HEADER.pack_into(batch, 0, size - KV_OVERHEAD_BYTES, KV_MAGIC, 0, schema_id, 0, 0, 0, len(keys))
    seal_kv_batch(batch, writer_id, batch_sequence)
    return batch


def seal_kv_batch(batch: bytearray, writer_id: int, batch_sequence: int) -> None:
    """Write who sends the batch and the checksum into it; a batch that goes again is sealed again."""
    _WRITER.pack_into(batch, _WRITER_AT, writer_id, batch_sequence)
    _CRC.pack_into(batch, _CRC_AT, checksum(memoryview(batch)[_CHECKED_AT:]))


def kv_record_count(batch: bytes | bytearray | memoryview) -> int:
    """How many records a batch claims to have, as far as its bytes could hold them; nothing else is looked at."""
    if len(batch) < KV_HEADER_BYTES:
        return 0
    claimed = int(_COUNT.unpack_from(batch, _COUNT_AT)[0])
    return min(max(claimed, 0), (len(batch) - KV_HEADER_BYTES) // _RECORD_BYTES_MIN)


def kv_crc_is_right(batch: bytes | bytearray | memoryview) -> bool:
    """Whether the bytes are those of a whole batch as it was sealed."""
    if len(batch) < KV_HEADER_BYTES:
        return False
    length, magic, *_ = _HEADER.unpack_from(batch)
    if length + KV_OVERHEAD_BYTES != len(batch) or magic != KV_MAGIC:
        return False
    return bool(checksum(memoryview(batch)[_CHECKED_AT:]) == _CRC.unpack_from(batch, _CRC_AT)[0])


def _damage_error(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The kv batch is damaged: {what}.")
