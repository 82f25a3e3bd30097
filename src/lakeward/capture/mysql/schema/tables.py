"""Tables as the server's INFORMATION_SCHEMA tells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeward.capture.mysql.cells.charsets import Query
from lakeward.capture.mysql.cells.native_type import parse_native_type
from lakeward.capture.mysql.cells.temporal import ColumnForm, ValueRules, ZeroDates
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import SourceTable, TableId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_TABLES = (
    "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_COMMENT FROM INFORMATION_SCHEMA.TABLES"
    " WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY 1, 2"
)
_COLUMNS = (
    "SELECT COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_COMMENT FROM INFORMATION_SCHEMA.COLUMNS"
    " WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} ORDER BY ORDINAL_POSITION"
)
_KEY = (
    "SELECT COLUMN_NAME FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}"
    " AND INDEX_NAME = 'PRIMARY' ORDER BY SEQ_IN_INDEX"
)


@dataclass(frozen=True, slots=True)
class NativeColumn:
    """A column as the server knows it; `native` is its type with `collate …` where it has texts."""

    name: str
    native: str
    nullable: bool = True
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class NativeTable:
    """A table as the server knows it, before it is put into our types."""

    id: TableId
    columns: tuple[NativeColumn, ...]
    key: tuple[str, ...] = ()
    comment: str | None = None


def source_table(table: NativeTable, rules: ValueRules) -> SourceTable:
    """The table in our types."""
    columns = []
    for column in table.columns:
        try:
            type_ = _column_type(column, table.key, rules)
        except LakewardError as wrong:
            raise ErrorCode.INVALID_TABLE.error(f"Column {table.id}.{column.name}: {wrong.message}") from None
        columns.append(Column(column.name, type_, comment=column.comment or None))
    natives = {column.name: column.native for column in table.columns}
    return SourceTable(table.id, Schema.of(columns, table.key), table.comment or None, natives)


def _column_type(column: NativeColumn, key: Sequence[str], rules: ValueRules) -> DataType:
    native = parse_native_type(column.native)
    type_ = native.data_type(time_as_text=rules.time_as_text)
    # A column that must not be NULL may hold a zero date, which becomes NULL.
    becomes_null = native.is_temporal and rules.zero_dates is ZeroDates.NULL
    return type_ if (column.nullable or becomes_null) and column.name not in key else type_.not_null()


def native_table(table: SourceTable) -> NativeTable:
    """Back from our types: what `source_table` was made of."""
    columns = tuple(
        NativeColumn(column.name, table.native_types[column.name], column.type.nullable, column.comment)
        for column in table.schema.columns
    )
    return NativeTable(table.id, columns, table.schema.primary_key, table.comment)


def column_forms(table: SourceTable, rules: ValueRules) -> list[ColumnForm]:
    """How the table's columns are read."""
    return [
        ColumnForm(
            f"{table.id}.{column.name}",
            parse_native_type(table.native_types[column.name]),
            field_.type,
            column.type.nullable,
            rules,
        )
        for column, field_ in zip(table.schema.columns, arrow_schema(table.schema), strict=True)
    ]


def find_tables(query: Query, settings: ServerSettings) -> list[SourceTable]:
    """The tables that the settings name, as they are now."""
    found = [
        (TableId(space, name), comment)
        for space, name, comment in query(_TABLES)
        if settings.is_captured(TableId(space, name))
    ]
    return [source_table(read_table(query, id_, comment), settings.rules) for id_, comment in found]


def read_table(query: Query, id_: TableId, comment: str | None = None) -> NativeTable:
    """One table as it is now; without columns if there is none."""
    names = [quote(id_.space), quote(id_.name)]
    columns = [
        NativeColumn(name, native if collation is None else f"{native} collate {collation}", nullable == "YES", remark)
        for name, native, collation, nullable, remark in query(_COLUMNS.format(*names))
    ]
    key = tuple(row[0] for row in query(_KEY.format(*names)))
    return NativeTable(id_, tuple(columns), key, comment)


def quote(text: str) -> str:
    """A literal, for sessions without backslash escapes."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(*parts: str) -> str:
    """A name of a database, a table or a column."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)
