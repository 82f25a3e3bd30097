"""Changes of a primary key table → sorted files at level 0 and their changelog. Runs in a task and asks nobody."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lakeward.lake.paimon.read.key_order import last_of_each, sorted_by
from lakeward.lake.paimon.schema.shape import KEY_PREFIX, KIND, SEQUENCE
from lakeward.lake.paimon.write.compaction import merged_rows
from lakeward.lake.paimon.write.parquet_files import CHANGELOG, DATA, FilePlace, ParquetFiles
from lakeward.lake.paimon.write.writing import Writing, WrittenFiles, file_place
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.lake.rows.conformed_rows import conform_rows
from lakeward.lake.rows.system_columns import CHANGE

#: Changes that are held before they are sorted and written.
_HELD_BYTES = 256 << 20


class KeyWriter:
    """The changes of one place. They are held, sorted by key, and written whole; the last of each key is data."""

    def __init__(self, writing: Writing, place: LakePlace) -> None:
        self._writing = writing
        self._shape = writing.shape
        self._place = place
        self._schema = self._shape.file_schema()
        self._keys = [KEY_PREFIX + name for name in self._shape.keys]
        self._next_sequence = writing.next_sequence
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = 0
        self._file_place: FilePlace | None = None
        self._opened: list[ParquetFiles] = []
        self._written = WrittenFiles()
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Take changes: the table's columns, the system columns and `_change_type`; what does not fit is refused."""
        if not rows.num_rows:
            return
        if self._file_place is None:
            self._file_place = file_place(self._shape, self._place, rows)
        fitting = self._number_rows(rows)
        self._next_sequence += rows.num_rows
        self._held.append(fitting)
        self._held_bytes += fitting.nbytes
        if self._held_bytes >= _HELD_BYTES:
            self._flush()

    def finish(self) -> WriteResult:
        """Write what is held; merge the place's files if it is its turn."""
        self._flush()
        if self._writing.merging is not None and self._file_place is not None:
            self._merge()
        return self._written.to_result(self._rows)

    def abort(self) -> None:
        """Remove what was written."""
        for files in self._opened:
            files.abort()

    def _flush(self) -> None:
        if not self._held:
            return
        changes = sorted_by(pa.Table.from_batches(self._held, self._schema), self._keys, SEQUENCE)
        self._held, self._held_bytes = [], 0
        rows = last_of_each(changes, self._keys)
        data = self._files(DATA)
        data.write(rows)
        data.close()
        self._written.new.extend(data.entries)
        self._rows += changes.num_rows
        if not self._shape.writes_changelog:
            return
        if rows is changes:  # the same rows: encoding them once is enough
            self._written.changelog.extend(data.copy(entry, CHANGELOG) for entry in data.entries)
        else:
            changelog = self._files(CHANGELOG)
            changelog.write(changes)
            changelog.close()
            self._written.changelog.extend(changelog.entries)

    def _number_rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Changes as data files have them: keys, number, kind of change, columns."""
        arrays = {KEY_PREFIX + name: rows[name] for name in self._shape.keys}
        arrays[SEQUENCE] = pa.array(np.arange(self._next_sequence, self._next_sequence + rows.num_rows))
        # The log numbers changes +A +I −U +U −D, Paimon +I −U +U −D.
        arrays[KIND] = pa.array(np.maximum(rows[CHANGE].to_numpy(), 1) - np.int8(1))
        arrays |= {f.name: rows[f.name] for f in rows.schema if f.name != CHANGE}
        return conform_rows(pa.RecordBatch.from_pydict(arrays), self._schema)

    def _merge(self) -> None:
        merging, place = self._writing.merging, self._file_place
        assert merging is not None
        assert place is not None
        before = [*merging.files, *self._written.new]
        rows = merged_rows(self._shape, place.directory, [e.name for e in before], is_bottom=merging.is_bottom)
        files = self._files(DATA, merging.level)
        files.write(rows)
        files.close()
        self._written.merged_from.extend(before)
        self._written.merged_to.extend(files.entries)

    def _files(self, prefix: str, level: int = 0) -> ParquetFiles:
        assert self._file_place is not None
        files = ParquetFiles(self._shape, self._file_place, prefix, level)
        self._opened.append(files)
        return files
