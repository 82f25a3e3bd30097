"""Does a table that is there fit what is to come? A sentence for each column that does not."""

from __future__ import annotations

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema

_WHOLE = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT)
_DIGITS = {TypeRoot.TINYINT: 3, TypeRoot.SMALLINT: 5, TypeRoot.INTEGER: 10, TypeRoot.BIGINT: 19}
_TEXTS = (TypeRoot.CHAR, TypeRoot.STRING)
_BYTES = (TypeRoot.BINARY, TypeRoot.BYTES)
_TIMES = (TypeRoot.TIME, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)


def can_hold(wide: DataType, narrow: DataType) -> bool:
    """Whether every value of one type is a value of another."""
    if wide.root is narrow.root:
        return _same_root(wide, narrow)
    if wide.root in _WHOLE and narrow.root in _WHOLE:
        return _WHOLE.index(wide.root) > _WHOLE.index(narrow.root)
    if wide.root is TypeRoot.DECIMAL and narrow.root in _DIGITS:
        return (wide.precision or 0) - (wide.scale or 0) >= _DIGITS[narrow.root]
    if wide.root is TypeRoot.DOUBLE and narrow.root is TypeRoot.FLOAT:
        return True
    return wide.root in {TypeRoot.STRING, TypeRoot.BYTES} and narrow.root in (
        _TEXTS if wide.root is TypeRoot.STRING else _BYTES
    )


def _same_root(wide: DataType, narrow: DataType) -> bool:
    if wide.root is TypeRoot.DECIMAL:
        whole = (wide.precision or 0) - (wide.scale or 0) >= (narrow.precision or 0) - (narrow.scale or 0)
        return whole and (wide.scale or 0) >= (narrow.scale or 0)
    if wide.root in _TIMES:
        return (wide.precision or 0) >= (narrow.precision or 0)
    if wide.root in {TypeRoot.CHAR, TypeRoot.BINARY}:
        return (wide.length or 0) >= (narrow.length or 0)
    return str(wide.as_nullable()) == str(narrow.as_nullable())


def misfits(wanted: Schema, there: Schema, *, may_add: bool) -> list[str]:
    """What stands against writing rows of one schema into a table of another; columns that can be added do not."""
    wrong = []
    if set(wanted.primary_key) != set(there.primary_key):  # in any order they name the same rows
        wrong.append(f"its primary key is {_names(there.primary_key)}, and would be {_names(wanted.primary_key)}")
    for column in wanted.columns:
        if column.name not in there.positions:
            wrong += [] if may_add else [f"it has no column {column.name} {column.type.as_nullable()}"]
        elif not can_hold(there.column(column.name).type, column.type):
            found = there.column(column.name).type
            wrong.append(f"its column {column.name} is {found}, which cannot hold {column.type.as_nullable()}")
    wrong += [
        f"its column {column.name} must not be NULL, and nothing comes for it"
        for column in there.columns
        if not column.type.nullable and column.name not in wanted.positions
    ]
    return wrong


def _names(columns: tuple[str, ...]) -> str:
    return f"({', '.join(columns)})" if columns else "none"
