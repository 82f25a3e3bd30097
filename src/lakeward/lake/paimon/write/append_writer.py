"""Rows of a log table → data files of one place. Runs in a task and asks nobody."""

from __future__ import annotations

import pyarrow as pa

from lakeward.lake.paimon.write.parquet_files import ROW_GROUP_ROWS, ParquetFiles
from lakeward.lake.paimon.write.writing import Writing, WrittenFiles, file_place
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.lake.rows.conformed_rows import conform_rows

_ROW_GROUP_BYTES = 128 << 20


class AppendWriter:
    """The rows of one place, in the order of the log."""

    def __init__(self, writing: Writing, place: LakePlace) -> None:
        self._shape = writing.shape
        self._place = place
        self._schema = writing.shape.file_schema()
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = self._waiting_bytes = 0
        self._files: ParquetFiles | None = None

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows with the table's columns and the system columns; rows that do not fit are refused, all of them."""
        if not rows.num_rows:
            return
        fitting = conform_rows(rows, self._schema)
        if self._files is None:
            self._files = ParquetFiles(self._shape, file_place(self._shape, self._place, rows))
        self._waiting.append(fitting)
        self._waiting_rows += rows.num_rows
        self._waiting_bytes += fitting.nbytes
        if self._waiting_rows >= ROW_GROUP_ROWS or self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._row_group()

    def finish(self) -> WriteResult:
        """Close the files."""
        self._row_group()
        if self._files is None:
            return WrittenFiles().to_result(0)
        self._files.close()
        entries = self._files.entries
        return WrittenFiles(new=entries).to_result(sum(e.rows for e in entries))

    def abort(self) -> None:
        """Remove what was written."""
        if self._files is not None:
            self._files.abort()

    def _row_group(self) -> None:
        if not self._waiting:
            return
        assert self._files is not None
        self._files.write(pa.Table.from_batches(self._waiting, self._schema))
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0
