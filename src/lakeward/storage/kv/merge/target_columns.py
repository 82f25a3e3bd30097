"""Target columns: those that the rows of a request speak of. The others keep what they have."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo


def checked_targets(table: TableInfo, target_columns: Sequence[int] | None) -> frozenset[int] | None:
    """The positions a request writes to; None for whole rows. INVALID_TARGET_COLUMN when the table cannot take them."""
    schema = table.schema
    targets = frozenset(target_columns or ())
    outside = sorted(t for t in targets if not 0 <= t < len(schema.columns))
    if outside:
        raise _refusal(table, f"there is no column {outside[0]}, there are {len(schema.columns)}")
    for name in schema.auto_increment:
        if not targets:
            raise _refusal(table, f"'{name}' is filled in by the server; name the other columns as target columns")
        if schema.positions[name] in targets:
            raise _refusal(table, f"'{name}' is filled in by the server and cannot be a target column")
    if not targets or len(targets) == len(schema.columns):
        return None
    missing = [key for key in schema.primary_key if schema.positions[key] not in targets]
    if missing:
        raise _refusal(table, f"'{missing[0]}' is part of the primary key and must be a target column")
    for column in schema.columns:
        if not column.type.nullable and column.name not in schema.primary_key:
            raise _refusal(
                table, f"'{column.name}' is NOT NULL; only whole rows can be written, not some of their columns"
            )
    return targets


def whole_rows_only(table: TableInfo, engine: str) -> LakewardError:
    """The error for target columns in a table whose merge engine takes whole rows."""
    return _refusal(table, f"the merge engine '{engine}' takes whole rows, not some of their columns")


def _refusal(table: TableInfo, why: str) -> LakewardError:
    return ErrorCode.INVALID_TARGET_COLUMN.error(f"Table {table.path} cannot be written to so: {why}.")
