"""Overwriting: a table has no rows one could take out of a log, but it has partitions, which can be dropped."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.client.staged.part import Part
from lakeward.client.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath


def check_overwrite(path: TablePath, info: TableInfo) -> None:
    """Refuse to overwrite what has no partitions."""
    if not info.descriptor.partition_keys:
        raise ErrorCode.TABLE_NOT_PARTITIONED.error(
            f"Table {path} has no partitions, and only partitions can be overwritten; append, or drop the table and"
            " create it again."
        )


def clear_partitions(conn: Connection, path: TablePath, parts: Sequence[bytes] | None) -> None:
    """Drop the partitions that these staged parts go to, or all of them; a commit creates them anew."""
    table = conn.table(str(path))
    targets = None if parts is None else {e.partition for part in parts for e in Part.of_bytes(part).entries}
    for partition in table.partitions():
        if targets is None or partition.name in targets:
            table.drop_partition(partition.spec, missing_ok=True)
