"""Columns that a batch does not have yet, as Arrow would write them: nothing but NULLs.

A batch written before a column was added is projected with that column all the same, because readers take every batch
of a projected answer for one and the same set of columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot

_OFFSET_BYTES = 4
_DECIMAL_BYTES = 16
_WIDTHS = {
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INTEGER: 4,
    TypeRoot.FLOAT: 4,
    TypeRoot.DATE: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.DOUBLE: 8,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
    TypeRoot.DECIMAL: _DECIMAL_BYTES,
}
#: A batch may claim any number of rows; this is more than an honest one needs.
_BYTES_MAX = 256 << 20


def null_nodes(type_: DataType, rows: int) -> Iterator[int]:
    """Length and null count of each node of a column without values, children included."""
    yield from (rows, rows)
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            yield from null_nodes(type_.element, 0)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            yield from (0, 0)
            yield from null_nodes(type_.key, 0)
            yield from null_nodes(type_.value, 0)
        case TypeRoot.ROW:
            for field in type_.fields:
                yield from null_nodes(field.type, rows)
        case _:
            pass


def null_buffers(type_: DataType, rows: int) -> Iterator[int]:
    """Bytes of each buffer of a column without values; all of them hold zeros."""
    if rows * _DECIMAL_BYTES > _BYTES_MAX:
        raise ErrorCode.INVALID_COLUMN_PROJECTION.error(
            f"A batch of {rows} rows is too large to be read with columns that were added after it."
        )
    yield _bits(rows)
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            yield _OFFSET_BYTES * (rows + 1)
            yield from null_buffers(type_.element, 0)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            yield _OFFSET_BYTES * (rows + 1)
            yield 0
            yield from null_buffers(type_.key, 0)
            yield from null_buffers(type_.value, 0)
        case TypeRoot.ROW:
            for field in type_.fields:
                yield from null_buffers(field.type, rows)
        case TypeRoot.STRING | TypeRoot.CHAR | TypeRoot.BYTES:
            yield _OFFSET_BYTES * (rows + 1)
            yield 0
        case TypeRoot.BOOLEAN:
            yield _bits(rows)
        case _:
            yield rows * fixed_width(type_)


def fixed_width(type_: DataType) -> int:
    """Bytes of a value of a type whose values are all of one size."""
    if type_.root is TypeRoot.BINARY:
        assert type_.length is not None
        return type_.length
    if type_.root is TypeRoot.TIME:
        assert type_.precision is not None
        return 4 if type_.precision <= 3 else 8
    return _WIDTHS[type_.root]


def _bits(rows: int) -> int:
    return (rows + 7) // 8
