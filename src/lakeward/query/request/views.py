"""Views of a table: its rows, what its lake has, its changelog, its binlog. Named as in Apache Fluss: `orders$lake`."""

from __future__ import annotations

import enum

from lakeward.errors import ErrorCode
from lakeward.model.data_types import BIGINT, ROW, STRING, TIMESTAMP_LTZ
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.table import LAKE_ENABLED

CHANGE_TYPE, LOG_OFFSET, COMMIT_TIMESTAMP = "_change_type", "_log_offset", "_commit_timestamp"
BEFORE, AFTER = "before", "after"
_SEPARATOR = "$"


class View(enum.StrEnum):
    """What a read shows of a table; the text is the suffix of its name."""

    ROWS = "rows"
    LAKE = "lake"
    CHANGELOG = "changelog"
    BINLOG = "binlog"


def parse_name(text: str, default_database: str = "fluss") -> tuple[TablePath, View]:
    """`db.table`, `table`, or one of them with `$lake`, `$changelog` or `$binlog`."""
    name, dollar, suffix = text.partition(_SEPARATOR)
    path = TablePath.parse(name, default_database)
    if not dollar:
        return path, View.ROWS
    if suffix not in {View.LAKE, View.CHANGELOG, View.BINLOG}:
        raise ErrorCode.TABLE_NOT_EXIST.error(
            f"{path} has no view '${suffix}'; there are {path}$lake, {path}$changelog and {path}$binlog."
        )
    return path, View(suffix)


def view_name(path: TablePath, view: View) -> str:
    """The name that `parse_name` reads."""
    return str(path) if view is View.ROWS else f"{path}{_SEPARATOR}{view}"


def check_view(info: TableInfo, view: View) -> None:
    """Refuse a view that the table does not have."""
    if view is View.LAKE and not LAKE_ENABLED.read(info.descriptor.properties):
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"{info.path} is not tiered into a lake, so it has no $lake: set 'table.datalake.enabled' on the table."
        )
    if view is View.BINLOG and not info.descriptor.has_primary_key:
        raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(
            f"{info.path} has no primary key, so its rows never change and it has no $binlog; "
            f"{info.path}$changelog shows what was appended."
        )


def view_schema(schema: Schema, view: View) -> Schema:
    """The columns of a view of a table with this schema."""
    if view in {View.ROWS, View.LAKE}:
        return schema
    told = [
        Column(CHANGE_TYPE, STRING().not_null()),
        Column(LOG_OFFSET, BIGINT().not_null()),
        Column(COMMIT_TIMESTAMP, TIMESTAMP_LTZ(3).not_null()),
    ]
    if view is View.CHANGELOG:
        return Schema.of([*told, *(Column(c.name, c.type, comment=c.comment) for c in schema.columns)])
    row = ROW([(c.name, c.type) for c in schema.columns])
    return Schema.of([*told, Column(BEFORE, row), Column(AFTER, row)])
