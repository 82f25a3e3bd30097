"""Small files of a log table → fewer, larger ones, bucket by bucket, in a snapshot that changes no row.

It runs beside rounds and gets in nobody's way: rounds only add files, so either commits on top of the other. Whoever
replaced one of the files first wins, and what was written here is removed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq
from pyiceberg.conversions import from_bytes
from pyiceberg.exceptions import CommitFailedException, ValidationException
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.typedef import EMPTY_DICT
from pyiceberg.types import LongType

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.iceberg.commit.file_changes import FileChanges
from lakeward.lake.iceberg.commit.live_files import live_files
from lakeward.lake.iceberg.schema.layout import spec_columns
from lakeward.lake.iceberg.schema.places import Places
from lakeward.lake.iceberg.write.data_writer import DataFileWriter, Writing, WrittenFiles
from lakeward.lake.port import LakePlace
from lakeward.lake.rows.system_columns import OFFSET
from lakeward.model.table import TableInfo

#: So many small files may gather in a place before they become one.
SMALL_FILES_MAX = 8
_SMALL_BYTES = 32 << 20
#: What one pass rewrites at most, so that it is soon over; the rest is for the next one.
_PASS_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """How many files became how many."""

    before: int
    after: int


class CompactionSnapshot(FileChanges):
    """Other files, the same rows."""

    def _summary(self, snapshot_properties: dict[str, str] = EMPTY_DICT) -> Summary:
        summary = super()._summary(snapshot_properties)
        return Summary(Operation.REPLACE, **summary.additional_properties)


def compact(table: Table, info: TableInfo) -> CompactionResult:
    """Rewrite the places of a log table with too many small files; LakeConflictError if somebody was faster."""
    table.refresh()
    planned_on = table.metadata.current_snapshot_id
    chosen = dict(_untidy(table, info))
    if not chosen:
        return CompactionResult(0, 0)
    writing = Writing(table.metadata.model_dump_json(), dict(table.io.properties))
    written: list[DataFile] = []
    try:
        for place, files in chosen.items():
            written.extend(_rewrite_files(table, writing, place, files))
        gone = [file.file_path for files in chosen.values() for file in files]
        with table.transaction() as change:
            snapshot = CompactionSnapshot(change, table.io, {})
            for file in written:
                snapshot.append_data_file(file)
            snapshot.remove_files(gone)
            snapshot.expect_snapshot(planned_on)
            snapshot.commit()
    except (CommitFailedException, ValidationException) as wrong:
        for file in written:
            table.io.delete(file.file_path)
        raise LakeConflictError(f"The compaction of {info.path} was overtaken: {wrong}") from wrong
    return CompactionResult(len(gone), len(written))


def _untidy(table: Table, info: TableInfo) -> Iterator[tuple[LakePlace, list[DataFile]]]:
    """Places and their small files, in the order of the log; files with deletes on them are left alone."""
    spec, schema, left = table.spec(), table.schema(), _PASS_BYTES
    places = Places(spec_columns(spec, schema), info)
    for values, files in live_files(table.current_snapshot(), table.io).items():
        if files.position_deletes or files.equality_deletes:
            continue
        small = [f for f in files.data if f.file_size_in_bytes < _SMALL_BYTES and f.spec_id == spec.spec_id]
        size = sum(f.file_size_in_bytes for f in small)
        if len(small) <= SMALL_FILES_MAX or size > left:
            continue
        left -= size
        offset_id = schema.find_field(OFFSET).field_id
        yield (
            places.of(values),
            sorted(small, key=lambda f: _first_offset(f, offset_id)),
        )


def _first_offset(file: DataFile, offset_id: int) -> int:
    bound: Any = (file.lower_bounds or {}).get(offset_id)
    return 0 if bound is None else int(from_bytes(LongType(), bound))


def _rewrite_files(table: Table, writing: Writing, place: LakePlace, files: Sequence[DataFile]) -> list[DataFile]:
    writer = DataFileWriter(writing, place)
    try:
        for file in files:
            with table.io.new_input(file.file_path).open() as stream:
                for batch in pq.ParquetFile(stream).iter_batches():
                    writer.write(batch)
        return WrittenFiles.of_bytes(writer.finish().record, table.metadata.default_spec_id).data
    except BaseException:
        writer.abort()
        raise
