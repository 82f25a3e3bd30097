"""ArrowFile: Parquet, Arrow IPC files (Feather) and Arrow IPC streams."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import BinaryIO, Protocol, cast

import pyarrow as pa

from lakeward.cli.files.bad_row import BadRowError, rows_that_fit
from lakeward.cli.files.source import STDIN, Source
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import conform
from lakeward.records.texts.misfits import MISFITS

_BATCH_ROWS = 64 * 1024
_COPY_BYTES = 1 << 20
_FILE_MAGIC = b"ARROW1"
_OLD_FEATHER_MAGIC = b"FEA1"


class _Batches(Protocol):
    """A file that was opened: what is in it, and how to read it."""

    schema: pa.Schema
    rows: int | None

    def read(self) -> Iterator[pa.RecordBatch]: ...


class ArrowFile:
    """Rows that have types already; they are made to fit the table without loss."""

    def __init__(self, path: str, kind: str) -> None:
        """`kind` is `parquet` or `arrow`."""
        self._name = "stdin" if path == STDIN else path
        try:
            self._opened = _parquet(path) if kind == "parquet" else _arrow(path)
        except pa.ArrowInvalid as wrong:
            raise BadRowError(self._name, f"this cannot be read as {kind}: {wrong}") from wrong
        self._rows_read = 0

    def progress(self) -> float | None:
        """The share that was read, from 0 to 1, if the number of rows is known."""
        return min(self._rows_read / self._opened.rows, 1.0) if self._opened.rows else None

    def inferred_schema(self) -> pa.Schema:
        """The schema of the file."""
        return self._opened.schema

    def batches(self, schema: Schema) -> Iterator[pa.RecordBatch]:
        """The rows as the table wants them; ends with BadRowError at the first that does not fit."""
        for batch in self._opened.read():
            yield from self._fitting(batch, schema)
            self._rows_read += batch.num_rows

    def _fitting(self, batch: pa.RecordBatch, schema: Schema) -> Iterator[pa.RecordBatch]:
        try:
            yield conform(batch, schema)
        except MISFITS:
            good = rows_that_fit(batch.num_rows, lambda n: conform(batch.slice(0, n), schema))
            if good:
                yield conform(batch.slice(0, good), schema)
            raise self._bad_row(batch.slice(good, 1), self._rows_read + good, schema) from None

    def _bad_row(self, row: pa.RecordBatch, number: int, schema: Schema) -> BadRowError:
        for attempt, place in ((row.slice(0, 0), self._name), (row, f"{self._name}, row {number + 1}")):
            try:
                conform(attempt, schema)
            except MISFITS as wrong:
                return BadRowError(place, str(wrong))
        return BadRowError(self._name, "the rows do not fit the table")


class _Reading:
    def __init__(self, schema: pa.Schema, rows: int | None, read: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self.schema = schema
        self.rows = rows
        self.read = read


def _parquet(path: str) -> _Batches:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(_seekable(path) if path == STDIN else path)
    return _Reading(file.schema_arrow.remove_metadata(), file.metadata.num_rows, lambda: file.iter_batches(_BATCH_ROWS))


def _arrow(path: str) -> _Batches:
    source = Source(path)
    head = source.read(len(_FILE_MAGIC))
    if head.startswith(_OLD_FEATHER_MAGIC):
        raise pa.ArrowInvalid("it is a Feather file of version 1; write it again as version 2")
    if head != _FILE_MAGIC:
        return _stream(_PrefixedSource(head, source))
    source.close()
    return _random_access(path)


def _stream(bytes_: _PrefixedSource) -> _Batches:
    reader = pa.ipc.open_stream(pa.PythonFile(bytes_, "r"))
    return _Reading(reader.schema, None, lambda: iter(reader))


def _random_access(path: str) -> _Batches:
    reader = pa.ipc.open_file(pa.memory_map(path))

    def read() -> Iterator[pa.RecordBatch]:
        return (reader.get_batch(i) for i in range(reader.num_record_batches))

    return _Reading(reader.schema, reader.count_rows(), read)


class _PrefixedSource:
    """A source whose first bytes were read already."""

    def __init__(self, head: bytes, source: Source) -> None:
        self._head = head
        self._source = source
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Exactly `size` bytes, fewer only at the end."""
        found = bytearray(self._head[:size] if size >= 0 else self._head)
        self._head = self._head[len(found) :]
        while size < 0 or len(found) < size:
            piece = self._source.read(_COPY_BYTES if size < 0 else size - len(found))
            if not piece:
                break
            found += piece
        return bytes(found)

    def readable(self) -> bool:
        """Yes."""
        return True

    def close(self) -> None:
        """Close the source."""
        self.closed = True
        self._source.close()


def _seekable(path: str) -> BinaryIO:
    """A pipe's bytes in a temporary file: Parquet keeps its directory at the end."""
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the reader
    shutil.copyfileobj(cast("BinaryIO", Source(path)), spool, _COPY_BYTES)
    spool.seek(0)
    return cast("BinaryIO", spool)
