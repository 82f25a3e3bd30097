"""Whether the columns that somebody declared can hold what the database has."""

from __future__ import annotations

from lakeward.capture.port import SourceTable
from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Column, Schema

#: Digits of whole numbers, by type; each also holds those with fewer.
_DIGITS = {TypeRoot.TINYINT: 3, TypeRoot.SMALLINT: 5, TypeRoot.INTEGER: 10, TypeRoot.BIGINT: 19}
_TEXTS = {TypeRoot.CHAR, TypeRoot.STRING}
_BYTES = {TypeRoot.BINARY, TypeRoot.BYTES}


def check_fit(declared: Schema, table: SourceTable, owner: str) -> None:
    """Refuse a declaration that does not fit a table, with a sentence for each column."""
    wrong = [said for column in declared.columns if (said := _mismatch(column, table)) is not None]
    if wrong:
        raise ErrorCode.INVALID_TABLE.error(f"{owner} does not fit {table.id} of the database: {'; '.join(wrong)}.")


def _mismatch(column: Column, table: SourceTable) -> str | None:
    if column.name not in table.schema.names:
        known = ", ".join(table.schema.names)
        return f"there is no column '{column.name}' there (there are {known})"
    found = table.schema.column(column.name).type
    if fits(found, column.type):
        return None
    native = table.native_types.get(column.name)
    there = f"{native} there, {_bare(found)}" if native else f"{_bare(found)} there"
    return f"column '{column.name}' is {there}, and {_bare(column.type)} here: declare it {_bare(found)}"


def fits(found: DataType, declared: DataType) -> bool:
    """Whether every value of one type is a value of the other; NULLs are not considered."""
    one, other = found.root, declared.root
    if other is TypeRoot.DECIMAL and (one in _DIGITS or one is TypeRoot.DECIMAL):
        digits, scale = (found.precision or 0, found.scale or 0) if one is TypeRoot.DECIMAL else (_DIGITS[one], 0)
        whole = (declared.precision or 0) - (declared.scale or 0)
        return whole >= digits - scale and (declared.scale or 0) >= scale
    if one in _DIGITS and other in _DIGITS:
        return _DIGITS[one] <= _DIGITS[other]
    if one in _TEXTS and other in _TEXTS:
        return other is TypeRoot.STRING or (one is other and (found.length or 0) <= (declared.length or 0))
    if one in _BYTES and other in _BYTES:
        return other is TypeRoot.BYTES or (one is other and found.length == declared.length)
    if one is TypeRoot.FLOAT and other is TypeRoot.DOUBLE:
        return True
    if one is not other:
        return False
    return (
        (found.precision or 0) <= (declared.precision or 0)
        if not found.fields and found.element is None
        else (_bare(found) == _bare(declared))
    )


def _bare(type_: DataType) -> str:
    return str(type_).removesuffix(" NOT NULL")
