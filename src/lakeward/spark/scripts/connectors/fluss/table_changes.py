"""ALTER TABLE on a table of a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.language.statements.create_table import PhysicalColumn
from lakeward.language.statements.define import AddColumns, ChangePartitions, ResetOptions, SetOptions, TableChange
from lakeward.model.schema import Column
from lakeward.model.table import TablePath
from lakeward.options.table import TABLE_OPTIONS
from lakeward.spark.scripts.connectors.fluss.fluss_options import (
    AUTO_INCREMENT,
    BUCKET_COUNT,
    BUCKET_KEY,
    FLUSS_OPTIONS,
)
from lakeward.spark.scripts.connectors.fluss.new_table import split_properties

#: What is decided when a table is made.
_FIXED = {BUCKET_COUNT.key, BUCKET_KEY.key, AUTO_INCREMENT.key}


def alter(conn: Connection, path: TablePath, change: TableChange) -> tuple[str, ...]:
    """Make what of a change the cluster stores; sentences that the user should read."""
    notices: list[str] = []
    _check_options(path, change)
    match change:
        case SetOptions(options):
            own, custom = split_properties(_of_the_table(options), notices)
            if own or custom:
                conn.alter_table(str(path), set={**own, **custom})
        case ResetOptions(keys):
            known = [TABLE_OPTIONS.canonical_key(key) for key in _of_the_table(dict.fromkeys(keys, ""))]
            if known:
                conn.alter_table(str(path), reset=known)
        case AddColumns(columns):
            _add_columns(conn, path, (column for column in columns if isinstance(column, PhysicalColumn)))
        case ChangePartitions(is_added=True, partitions=partitions, is_lenient=is_lenient):
            for values in partitions:
                conn.table(str(path)).create_partition(dict(values), exist_ok=is_lenient)
        case ChangePartitions(partitions=partitions, is_lenient=is_lenient):
            for values in partitions:
                conn.table(str(path)).drop_partition(dict(values), missing_ok=is_lenient)
        case _:
            pass
    return tuple(notices)


def _check_options(path: TablePath, change: TableChange) -> None:
    """Refuse what a table has for good."""
    told = change.options if isinstance(change, SetOptions) else change.keys if isinstance(change, ResetOptions) else ()
    fixed = next((key for key in told if FLUSS_OPTIONS.canonical_key(key) in _FIXED), None)
    if fixed is not None:
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {path}: '{fixed}' is said when a table is made, and cannot be changed. Create another table with"
            " it, and INSERT the rows INTO that."
        )


def _of_the_table(options: Mapping[str, str]) -> dict[str, str]:
    """Those that the cluster keeps; others belong to whoever reads or writes."""
    return {
        key: value
        for key, value in options.items()
        if TABLE_OPTIONS.canonical_key(key) in TABLE_OPTIONS.rows or key.startswith("table.datalake.")
    }


def _add_columns(conn: Connection, path: TablePath, columns: Iterable[PhysicalColumn]) -> None:
    added = [Column(column.name, column.type, comment=column.comment) for column in columns]
    if added:
        conn.alter_table(str(path), add_columns=added)


def is_known(key: str) -> bool:
    """Whether a property of a table is an option of the connector."""
    return FLUSS_OPTIONS.canonical_key(key) in FLUSS_OPTIONS.rows or FLUSS_OPTIONS.is_open(key)
