"""Arrow key columns → key bytes → buckets, whole columns at a time. Heavy to import: clients load it when needed.

`key_encoding` and `bucketing` are the reference and say what the bytes mean; this agrees with them on every value.
Compiled code is cached on disk, so only the first use on a machine waits for the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.errors import ErrorCode
from lakeward.model.data_types import NESTED, DataType, TypeRoot
from lakeward.records.arrow.arrow_rows import values_of
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.kernels import key_columns, key_kernels
from lakeward.records.kernels.key_columns import I64, U8, FixedWidth, Part, Runs, Words
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.key.key_encoding import KeyEncoding, bucket_key_encoding, key_encoder

_SLOT_BYTES = 8
_KIND_BITS = 8


def assign_buckets(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    types: Sequence[DataType],
    bucket_count: int,
    lake_format: str | None,
    *,
    follow_pyfluss: bool = False,
) -> NDArray[np.int32]:
    """The bucket of every row, from its bucket key columns."""
    if bucket_count == 1:
        return np.zeros(len(columns[0]), np.int32)
    table = pa.Table.from_arrays(list(columns), names=[str(i) for i in range(len(columns))])
    made = [
        _assign(batch.columns, types, bucket_count, lake_format, follow_pyfluss=follow_pyfluss)
        for batch in table.to_batches()
        if batch.num_rows
    ]
    return np.concatenate(made) if made else np.zeros(0, np.int32)


def _assign(
    columns: Sequence[pa.Array],
    types: Sequence[DataType],
    bucket_count: int,
    lake_format: str | None,
    *,
    follow_pyfluss: bool,
) -> NDArray[np.int32]:
    encoding = bucket_key_encoding(lake_format)
    key_encoder(encoding, tuple(types))  # refuses types that cannot be keys
    if encoding is KeyEncoding.HUDI or any(t.root in NESTED for t in types):
        return _assign_one_by_one(columns, types, bucket_count, lake_format, follow_pyfluss=follow_pyfluss)
    data, bounds = encode_keys(columns, types, encoding)
    return buckets_of_keys(data, bounds, encoding, bucket_count, follow_pyfluss=follow_pyfluss)


def buckets_of_keys(
    data: U8, bounds: I64, encoding: KeyEncoding, bucket_count: int, *, follow_pyfluss: bool = False
) -> NDArray[np.int32]:
    """The bucket of every encoded bucket key; Hudi's are not made here."""
    buckets = np.zeros(len(bounds) - 1, np.int32)
    if bucket_count == 1:
        return buckets
    if np.any(bounds[1:] == bounds[:-1]):
        raise ErrorCode.INVALID_TARGET_COLUMN.error("A bucket key must not be empty.")
    match encoding:
        case KeyEncoding.PAIMON:
            key_kernels.paimon_buckets(data, bounds, bucket_count, not follow_pyfluss, buckets)
        case KeyEncoding.ICEBERG:
            key_kernels.iceberg_buckets(data, bounds, bucket_count, buckets)
        case _:
            assert encoding is KeyEncoding.COMPACTED
            key_kernels.fluss_buckets(data, bounds, bucket_count, not follow_pyfluss, buckets)
    return buckets


def _assign_one_by_one(
    columns: Sequence[pa.Array],
    types: Sequence[DataType],
    bucket_count: int,
    lake_format: str | None,
    *,
    follow_pyfluss: bool,
) -> NDArray[np.int32]:
    encode = key_encoder(bucket_key_encoding(lake_format), tuple(types))
    rows = zip(*(values_of(c, t) for c, t in zip(columns, types, strict=True)), strict=True)
    found = [bucket_of(encode(row), bucket_count, lake_format, follow_pyfluss=follow_pyfluss) for row in rows]
    return np.array(found, np.int32)


def encode_keys(columns: Sequence[pa.Array], types: Sequence[DataType], encoding: KeyEncoding) -> tuple[U8, I64]:
    """All keys in one buffer, and where each begins and ends (n + 1 bounds). Scalar types only."""
    arrays = [c if c.type == arrow_type(t) else c.cast(arrow_type(t)) for c, t in zip(columns, types, strict=True)]
    if encoding is KeyEncoding.PAIMON:
        return _aligned_keys(arrays, types)
    for i, array in enumerate(arrays):
        if array.null_count:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Key column {i} of type {types[i]} has {array.null_count} NULL; a key column must not be NULL."
            )
    if encoding is KeyEncoding.ICEBERG:
        return _concatenate(len(arrays[0]), [_iceberg_part(arrays[0], types[0])])
    parts = [part for a, t in zip(arrays, types, strict=True) for part in _compacted_parts(a, t)]
    return _concatenate(len(arrays[0]), parts)


def _concatenate(rows: int, parts: Sequence[Part]) -> tuple[U8, I64]:
    sizes = np.zeros(rows, np.int64)
    for part in parts:
        match part:
            case Words(values):
                key_kernels.add_varint_bytes(values, sizes)
            case FixedWidth(fixed):
                sizes += fixed.shape[1]
            case Runs(_, lengths, _, prefixed):
                sizes += lengths
                if prefixed:
                    key_kernels.add_varint_bytes(lengths.astype(np.uint64), sizes)
    bounds = _bounds(sizes)
    out, cursors = np.empty(bounds[-1], np.uint8), bounds[:-1].copy()
    for part in parts:
        match part:
            case Words(values):
                key_kernels.put_varints(values, out, cursors)
            case FixedWidth(fixed):
                key_kernels.put_fixed(fixed, out, cursors)
            case Runs(starts, lengths, data, prefixed):
                key_kernels.put_runs(starts, lengths, data, prefixed, out, cursors)
    return out, bounds


def _bounds(sizes: I64) -> I64:
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds


def _compacted_parts(array: pa.Array, type_: DataType) -> list[Part]:
    match type_.root:
        case TypeRoot.BOOLEAN | TypeRoot.TINYINT | TypeRoot.SMALLINT:
            return [FixedWidth(key_columns.as_bytes(key_columns.integers(array, type_)))]
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return [FixedWidth(key_columns.as_bytes(key_columns.floats(array, type_)))]
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            millis, nanos = key_columns.timestamps(array)
            compact = [key_columns.words(millis)]
            return [*compact] if key_columns.is_compact(type_) else [*compact, key_columns.words(nanos)]
        case TypeRoot.DECIMAL if not key_columns.is_compact(type_):
            return [_big_decimal_runs(array, prefixed=True)]
        case _ if key_columns.is_text(type_):
            return [key_columns.runs(array, type_, prefixed=True)]
        case _:
            return [key_columns.words(key_columns.integers(array, type_))]


def _iceberg_part(array: pa.Array, type_: DataType) -> Part:
    match type_.root:
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return FixedWidth(key_columns.as_bytes(key_columns.floats(array, type_)))
        case TypeRoot.TIMESTAMP:
            millis, nanos = key_columns.timestamps(array)
            return FixedWidth(key_columns.as_bytes(millis * 1000 + nanos.astype(np.int64) // 1000))
        case TypeRoot.TIME:
            return FixedWidth(key_columns.as_bytes(key_columns.integers(array, type_).astype(np.int64) * 1000))
        case TypeRoot.DECIMAL:
            return _big_decimal_runs(array, prefixed=False)
        case _ if key_columns.is_text(type_):
            return key_columns.runs(array, type_, prefixed=False)
        case _:
            return FixedWidth(key_columns.as_bytes(key_columns.integers(array, type_).astype(np.int64)))


def _big_decimal_runs(array: pa.Array, *, prefixed: bool) -> Runs:
    big, lengths = _minimal_decimals(array)
    data = big.reshape(-1)
    data.flags.writeable = False
    return Runs(np.arange(len(array), dtype=np.int64) * big.shape[1], lengths, data, prefixed)


def _minimal_decimals(array: pa.Array) -> tuple[U8, I64]:
    little = key_columns.big_decimals(array)
    big, lengths = np.zeros(little.shape, np.uint8), np.empty(len(little), np.int64)
    key_kernels.minimal_big_endian(little, big, lengths)
    return big, lengths


def _aligned_keys(arrays: Sequence[pa.Array], types: Sequence[DataType]) -> tuple[U8, I64]:
    """Keys of Paimon: aligned rows."""
    rows, head_bytes = len(arrays[0]), (len(types) + _KIND_BITS + 63) // 64 * 8
    fixed_bytes = head_bytes + len(types) * _SLOT_BYTES
    heads = np.zeros((rows, head_bytes), np.uint8)
    valid = [np.ascontiguousarray(a.is_valid().cast(pa.uint8()).to_numpy()).copy() for a in arrays]
    for i, present in enumerate(valid, _KIND_BITS):
        heads[:, i >> 3] |= (1 - present) << (i & 7)
    columns = [_AlignedColumn(a, t, v) for a, t, v in zip(arrays, types, valid, strict=True)]
    sizes = np.full(rows, fixed_bytes, np.int64)
    for column in columns:
        sizes += column.behind_bytes
    bounds = _bounds(sizes)
    out, begins = np.zeros(bounds[-1], np.uint8), bounds[:-1]
    key_kernels.put_fixed(heads, out, begins.copy())
    tails = begins + fixed_bytes
    for i, column in enumerate(columns):
        column.put(out, begins, head_bytes + i * _SLOT_BYTES, tails)
    return out, bounds


class _AlignedColumn:
    """One column of aligned keys: how many bytes it needs behind the slots, and how it is written."""

    def __init__(self, array: pa.Array, type_: DataType, valid: U8) -> None:
        self._valid = valid
        self._runs: Runs | None = None
        self._areas: tuple[I64, U8] | None = None
        self.behind_bytes: I64 = np.zeros(len(array), np.int64)
        if key_columns.is_text(type_):
            self._runs = key_columns.runs(array, type_, prefixed=False)
            lengths = self._runs.lengths
            self.behind_bytes = np.where((lengths > 7) & (valid != 0), (lengths + 7) // 8 * 8, 0)
            return
        values: NDArray[np.generic]
        if type_.root in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
            values, nanos = key_columns.timestamps(array)
            if not key_columns.is_compact(type_):
                self._areas = nanos.astype(np.int64), key_columns.as_bytes(values)
        elif type_.root is TypeRoot.DECIMAL and not key_columns.is_compact(type_):
            big, lengths = _minimal_decimals(array)
            self._areas = lengths, big
        elif type_.root in {TypeRoot.FLOAT, TypeRoot.DOUBLE}:
            values = key_columns.floats(array, type_)
        else:
            values = key_columns.integers(array, type_)
        if self._areas is not None:
            self.behind_bytes = valid.astype(np.int64) * self._areas[1].shape[1]
        else:
            self._slots = key_columns.as_bytes(values, _SLOT_BYTES)
            self._slots[valid == 0] = 0

    def put(self, out: U8, begins: I64, slot_at: int, tails: I64) -> None:
        """Write the column's slots, and what lies after them."""
        if self._runs is not None:
            starts, lengths, data, _ = self._runs
            key_kernels.put_run_slots(starts, lengths, data, self._valid, out, begins, slot_at, tails)
        elif self._areas is not None:
            lows, areas = self._areas
            key_kernels.put_area_slots(lows, areas, self._valid, out, begins, slot_at, tails)
        else:
            key_kernels.put_fixed(self._slots, out, begins + slot_at)
