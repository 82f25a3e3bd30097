"""Changes of a primary key table → data files with the new rows, position deletes for the old ones. Runs in a task."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.manifest import DataFile
from pyiceberg.table.locations import load_location_provider

from lakeward.lake.iceberg.read.row_positions import DELETE_SCHEMA, deleted_positions, positions_of, rows_without
from lakeward.lake.iceberg.write.data_writer import DataFileWriter, Writing, WrittenFiles
from lakeward.lake.iceberg.write.delete_file import write_delete_file
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.lake.rows.last_changes import last_changes
from lakeward.lake.rows.system_columns import CHANGE, CHANGE_FIELD, DELETED
from lakeward.runtime.entropy import SystemEntropy


class MergeWriter:
    """The changes of one place. They are held until `finish`, the last of each key is kept."""

    def __init__(self, writing: Writing, place: LakePlace) -> None:
        self._writing = writing
        self._metadata, self._io = writing.open()
        self._place = place
        self._keys = list(writing.keys)
        self._changes: list[pa.RecordBatch] = []
        self._data = DataFileWriter(writing, place)
        self._delete_path: str | None = None

    def write(self, rows: pa.RecordBatch) -> None:
        """Take changes: the table's columns, the system columns and `_change_type`."""
        if rows.num_rows:
            fitting = self._data.fitting(rows)
            self._data.partition(rows)
            self._changes.append(fitting.append_column(CHANGE_FIELD, rows[CHANGE]))

    def finish(self) -> WriteResult:
        """Write the new rows, and the places of those they replace."""
        if not self._changes:
            return WriteResult(0, 0, 0, WrittenFiles([]).to_bytes())
        changes = last_changes(pa.Table.from_batches(self._changes), self._keys)
        self._changes = []
        kept = changes.filter(pc.not_equal(changes[CHANGE], DELETED)).drop_columns([CHANGE])
        files = self._rewrite_files(changes, kept) if self._writing.rewrite else self._add_files(changes, kept)
        written = [*files.data, *files.deletes]
        return WriteResult(changes.num_rows, sum(f.file_size_in_bytes for f in written), len(written), files.to_bytes())

    def _add_files(self, changes: pa.Table, kept: pa.Table) -> WrittenFiles:
        data = self._data_files(kept)
        replaced = self._replaced_positions(changes)
        deletes = [self._delete_file(replaced, changes)] if replaced.num_rows else []
        return WrittenFiles(data, deletes, frozenset(pc.unique(replaced["file_path"]).to_pylist()))

    def _rewrite_files(self, changes: pa.Table, kept: pa.Table) -> WrittenFiles:
        """Old rows that no change replaces, and the new ones: one file instead of many, and no deletes."""
        schema = kept.schema
        gone = deleted_positions(self._io, self._writing.delete_paths)
        keys = changes.select(self._keys)
        for path in sorted(self._writing.data_paths):
            for batch in rows_without(self._io, path, gone.get(path), keys, schema):
                self._data.write(batch)
        data = self._data_files(kept)
        return WrittenFiles(data, replaced=frozenset([*self._writing.data_paths, *self._writing.delete_paths]))

    def _data_files(self, rows: pa.Table) -> list[DataFile]:
        for batch in rows.to_batches():
            self._data.write(batch)
        written = self._data.finish()
        return WrittenFiles.of_bytes(written.record, self._metadata.default_spec_id).data

    def abort(self) -> None:
        """Remove what was written."""
        self._data.abort()
        if self._delete_path is not None:
            with suppress(FileNotFoundError):
                self._io.delete(self._delete_path)

    def _replaced_positions(self, changes: pa.Table) -> pa.Table:
        """Where the rows lie that these changes replace: file and position."""
        keys = changes.select(self._keys)
        gone = deleted_positions(self._io, self._writing.delete_paths)
        found = list(positions_of(self._io, self._writing.data_paths, gone, keys))
        paths = [pa.array([path] * len(at), pa.string()) for path, at in found]
        positions = [pa.array(at) for _, at in found]
        return pa.table(
            [pa.chunked_array(paths, pa.string()), pa.chunked_array(positions, pa.int64())], schema=DELETE_SCHEMA
        )

    def _delete_file(self, rows: pa.Table, changes: pa.Table) -> DataFile:
        partition = self._data.partition(changes.slice(0, 1).to_batches()[0])
        locations = load_location_provider(self._metadata.location, self._metadata.properties)
        name = f"{self._place.bucket:05}-{SystemEntropy().uuid()}-deletes.parquet"
        self._delete_path = locations.new_data_location(name, partition)
        return write_delete_file(self._io, self._delete_path, rows, partition, self._metadata.default_spec_id)
