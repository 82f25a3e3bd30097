"""Partitions whose name belongs to another one now: what tiering wrote of the old one is removed, in a snapshot."""

from __future__ import annotations

import re
from collections.abc import Collection

from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.table import Table

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.iceberg.file_changes import FileChanges
from lakeward.lake.iceberg.layout import spec_columns
from lakeward.lake.iceberg.live_files import live_files
from lakeward.lake.iceberg.places import Places
from lakeward.model.table import TableInfo

#: What people have loaded into the lake themselves has other names, and stays.
_OUR_NAMES = re.compile(r"/\d{5}-[0-9a-f-]{36}(-deletes)?\.parquet$")


def forget(table: Table, info: TableInfo, partitions: Collection[tuple[str, ...]]) -> int:
    """Remove our files of partitions; how many. LakeConflictError if somebody changed them meanwhile."""
    table.refresh()
    planned_on = table.metadata.current_snapshot_id
    places = Places(spec_columns(table.spec(), table.schema()), info)
    gone = [
        file.file_path
        for values, files in live_files(table.current_snapshot(), table.io).items()
        if places.of(values).partition_values in partitions
        for file in (*files.data, *files.position_deletes)
        if _OUR_NAMES.search(file.file_path)
    ]
    if not gone:
        return 0
    try:
        with table.transaction() as change:
            snapshot = FileChanges(change, table.io, {})
            snapshot.remove_files(gone)
            snapshot.planned_on(planned_on)
            snapshot.commit()
    except (CommitFailedException, ValidationException) as wrong:
        raise LakeConflictError(f"Old partitions of {info.path} could not be removed: {wrong}") from wrong
    return len(gone)
