"""Tables that no data file can hold, refused before a round begins: another cluster may have accepted them."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.model.data_types import is_hollow
from lakeward.model.table import TableInfo


def check_storable(info: TableInfo) -> None:
    """Refuse a table with a ROW without fields."""
    for column in info.schema.columns:
        if is_hollow(column.type):
            raise ErrorCode.INVALID_TABLE.error(
                f"{info.path} cannot be tiered: column '{column.name}' is {column.type}, and Parquet has no place for "
                "a ROW without fields. Set 'table.datalake.enabled' to false, or create the table without the column."
            )
