"""Keys of a put against its rows: the same key, in this bucket, or the batch is refused.

A key that differs from its row is found under one name and shown under another, until a restart makes the row's key the
right one: then two rows have one key. Who is right cannot be told, so nothing of the batch is written.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.options import table as rows
from lakeward.records.batch.kv_batch import KvBatch
from lakeward.records.columnar.row_kernels import RowForm, decode_rows
from lakeward.records.kernels import key_check_kernels as kernels
from lakeward.records.kernels.row_programs import FIELD, row_program
from lakeward.records.kernels.spans import I64, Spans
from lakeward.records.key.key_encoding import KeyEncoding, bucket_key_encoding
from lakeward.records.key.key_rows import keys_of_columns
from lakeward.storage.kv.kv_table import KvTable

_DAY_MS = 86_400_000
_MICROS_PER_MS = 1000
_IN_MICROS = {TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_COMPACT_DIGITS_MAX = 18
_FORMS = {
    KeyEncoding.COMPACTED: kernels.COMPACTED,
    KeyEncoding.ICEBERG: kernels.ICEBERG,
    KeyEncoding.PAIMON: kernels.PAIMON,
}
_BUCKETS = {
    KeyEncoding.COMPACTED: kernels.FLUSS_BUCKETS,
    KeyEncoding.ICEBERG: kernels.ICEBERG_BUCKETS,
    KeyEncoding.PAIMON: kernels.PAIMON_BUCKETS,
}
_WHY = {
    kernels.NOT_A_KEY: "the bytes of its key are no key of this table",
    kernels.OTHER_KEY: "its key is not the key of its row",
    kernels.NULL_KEY: "its row is NULL in a column of the key",
    kernels.NOT_A_ROW: "its row is none of this schema",
    kernels.UNFIT: "its value is outside the range of its type",
    kernels.OTHER_BUCKET: "its key belongs into another bucket, by Java's way as by that of pyfluss",
}


class _Plan(NamedTuple):
    """What the kernel is told of a table and a schema."""

    columns: I64
    head_bytes: int
    key_columns: I64


@lru_cache(maxsize=512)
def _plan(types: tuple[DataType, ...], key_positions: tuple[int, ...]) -> _Plan:
    program = row_program(types, RowForm.COMPACTED)
    lines = [
        (int(program.fields[c, FIELD]), *_rule(t, is_key=c in key_positions), _part(c, key_positions), _unit(t))
        for c, t in enumerate(types)
    ]
    while lines and lines[-1][kernels.RULE] == kernels.ANY and lines[-1][kernels.PART] == kernels.NO_PART:
        lines.pop()
    return _Plan(np.array(lines, np.int64), int(program.head_bytes[-1]), np.array(key_positions, np.int64))


def _rule(type_: DataType, *, is_key: bool) -> tuple[int, int]:
    if type_.root is TypeRoot.DECIMAL and type_.precision is not None and type_.precision <= _COMPACT_DIGITS_MAX:
        return kernels.WITHIN, 10**type_.precision
    if type_.root is TypeRoot.TIME:
        return kernels.BELOW, _DAY_MS
    if type_.root is TypeRoot.BOOLEAN and is_key:
        return kernels.BELOW, 2
    return kernels.ANY, 0


def _part(column: int, key_positions: tuple[int, ...]) -> int:
    return key_positions.index(column) if column in key_positions else kernels.NO_PART


def _unit(type_: DataType) -> int:
    if type_.root is TypeRoot.DECIMAL:
        return kernels.DECIMAL_UNIT
    return _MICROS_PER_MS if type_.root in _IN_MICROS else 1


def check_keys(table: KvTable, batch: KvBatch, bucket: int) -> None:
    """Refuse a batch with a key that is not its row's, or not of this bucket."""
    schema = table.schema(batch.schema_id)
    types = tuple(column.type for column in schema.columns)
    if table.kv_format != RowForm.COMPACTED or table.key_encoding not in _FORMS:
        _check_decoded(table, batch, types)
        return
    plan = _plan(types, table.key_positions)
    kind, parts = _buckets(table)
    status, record, column = kernels.check_records(
        batch.data,
        batch.key_starts,
        batch.key_ends,
        batch.row_starts,
        batch.row_ends,
        plan.columns,
        plan.head_bytes,
        plan.key_columns,
        _FORMS[table.key_encoding],
        parts,
        kind,
        table.info.bucket_count,
        bucket,
        np.empty(2 * len(plan.key_columns) + 1, np.int64),
        np.empty(int((batch.key_ends - batch.key_starts).max(initial=0)) if len(parts) else 0, np.uint8),
    )
    if status != kernels.OK:
        where = f"record {record}" if column < 0 else f"record {record}, column '{schema.names[column]}'"
        raise _damage_error(table, f"{where}: {_WHY[status]}")


def _buckets(table: KvTable) -> tuple[int, I64]:
    """How buckets are found, and from which parts of the key; none: from the key as it is.

    The bucket keys of Hudi, and those of other lakes that are not the primary key, are made of values and not of bytes
    of the key; these are not looked at.
    """
    descriptor = table.info.descriptor
    encoding = bucket_key_encoding(rows.LAKE_FORMAT.read(descriptor.properties))
    physical = descriptor.physical_primary_key
    bucket_keys = tuple(descriptor.bucket_keys)
    none = np.zeros(0, np.int64)
    if table.info.bucket_count == 1 or encoding is not table.key_encoding:
        return kernels.NO_BUCKETS, none
    if bucket_keys == physical:
        return _BUCKETS[encoding], none
    if encoding is KeyEncoding.COMPACTED:
        return kernels.FLUSS_BUCKETS, np.array([physical.index(name) for name in bucket_keys], np.int64)
    return kernels.NO_BUCKETS, none


def _check_decoded(table: KvTable, batch: KvBatch, types: tuple[DataType, ...]) -> None:
    """The same for indexed rows, which have to be decoded for it."""
    with_row = np.flatnonzero(batch.row_starts >= 0)
    if not len(with_row):
        return
    found = Spans([batch.data], batch.row_starts[with_row], batch.row_ends[with_row])
    columns = decode_rows(found, types, RowForm(table.kv_format))
    keys = keys_of_columns(columns, types, table.key_positions, table.key_encoding)
    sent = Spans([batch.data], batch.key_starts[with_row], batch.key_ends[with_row])
    if kernels.first_difference(keys.starts, keys.ends, sent.starts, sent.ends) >= 0:
        raise _damage_error(table, _WHY[kernels.OTHER_KEY])


def _damage_error(table: KvTable, what: str) -> LakewardError:
    return ErrorCode.CORRUPT_RECORD.error(f"The kv batch for table {table.info.path} is damaged: {what}.")
