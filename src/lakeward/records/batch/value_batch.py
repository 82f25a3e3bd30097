"""Value record batches: what LIMIT_SCAN and SCAN_KV answer for a primary key table. And the values themselves.

batch := length:i32, the bytes after it | magic:i8 = 0 | record count:i32 | records, each: length:i32 | value
value := schema id:i16 | row
"""

from __future__ import annotations

import numpy as np

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.layout import I8, I32, Field, Layout
from lakeward.records.kernels.record_kernels import ALL_GOOD, LENGTH_BYTES, cut_records, put_records, schema_ids
from lakeward.records.kernels.spans import I64, U8, Spans, read_only

VALUE_BATCH = Layout.of(
    Field("length", I32, "bytes after this field"),
    Field("magic", I8, "version of this header: 0"),
    Field("record_count", I32, "values in the batch"),
)
VALUE_HEADER_BYTES = VALUE_BATCH.size
VALUE_MAGIC = 0
SCHEMA_ID_BYTES = 2
assert VALUE_HEADER_BYTES == 9

_HEADER = VALUE_BATCH.struct
_OVERHEAD_BYTES = 4


def encode_value_batch(values: Spans) -> bytearray:
    """A batch of stored values."""
    size = VALUE_HEADER_BYTES + LENGTH_BYTES * len(values) + int(values.sizes.sum())
    batch = bytearray(size)
    _HEADER.pack_into(batch, 0, size - _OVERHEAD_BYTES, VALUE_MAGIC, len(values))
    put_records(values.starts, values.ends, np.frombuffer(batch, np.uint8), VALUE_HEADER_BYTES)
    return batch


def parse_value_batch(data: memoryview | bytes | bytearray) -> Spans:
    """The values of a batch; CORRUPT_RECORD when the bytes are none."""
    return Spans(*_cut(data))


def _cut(data: memoryview | bytes | bytearray) -> tuple[list[U8], I64, I64]:
    if len(data) < VALUE_HEADER_BYTES:
        raise _damage_error(f"{len(data)} bytes are fewer than its header")
    length, magic, count = _HEADER.unpack_from(data)
    if magic != VALUE_MAGIC or length + _OVERHEAD_BYTES != len(data):
        raise _damage_error(f"{len(data)} bytes are not version {magic} with {length + _OVERHEAD_BYTES} bytes")
    if not 0 <= count <= (len(data) - VALUE_HEADER_BYTES) // LENGTH_BYTES:
        raise _damage_error(f"its bytes hold no {count} values")
    array, places = read_only(data), np.empty((2, count), np.int64)
    bad = cut_records(array, VALUE_HEADER_BYTES, places[0], places[1])
    if bad != ALL_GOOD:
        raise _damage_error(f"value {bad} of {count} does not fit")
    return [array], places[0], places[1]


def split_values(values: Spans) -> tuple[I64, Spans]:
    """The schema id of each stored value, and the rows after them."""
    ids = np.empty(len(values), np.int64)
    bad = schema_ids(values.starts, values.ends, ids)
    if bad != ALL_GOOD:
        raise _damage_error(f"value {bad} of {len(values)} is shorter than a schema id")
    return ids, values.behind(SCHEMA_ID_BYTES)


def _damage_error(what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The value batch is damaged: {what}.")
