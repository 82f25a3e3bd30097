"""Small files of a log table → fewer, larger ones. In the background: no row changes, no round waits or is undone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.place_directory import place_directory
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.paimon.write.parquet_files import FilePlace, ParquetFiles
from lakeward.lake.rows.conformed_rows import conform_rows
from lakeward.lake.rows.parquet_rows import parquet_table

#: So many small files may gather before they become one.
SMALL_FILES_MAX = 8
_SMALL_BYTES = 32 << 20
#: What one pass rewrites at most, so that it is soon over; the rest is for the next one.
_PASS_BYTES = 1 << 30


def small_files(shape: TableShape, live: Iterable[FileEntry]) -> Iterator[list[FileEntry]]:
    """Files to make one of. In a bucketed table they follow each other: its readers rely on the order of the log."""
    places: dict[tuple[bytes, int], list[FileEntry]] = {}
    for entry in live:
        if shape.total_buckets > 0 or _is_small(entry):
            places.setdefault((entry.partition, entry.bucket), []).append(entry)
    left = _PASS_BYTES
    for files in places.values():
        for run in _small_runs(sorted(files, key=lambda f: (f.file["_MIN_SEQUENCE_NUMBER"], f.name))):
            size = sum(f.bytes for f in run)
            if len(run) > SMALL_FILES_MAX and size <= left:
                left -= size
                yield run


def rewrite_files(shape: TableShape, files: Sequence[FileEntry]) -> ParquetFiles:
    """The rows of these files of one place, in larger ones."""
    schema = shape.file_schema()
    values = of_binary(shape.types_of(shape.partition_keys), files[0].partition)
    directory = place_directory(shape, values, files[0].bucket)
    made = ParquetFiles(shape, FilePlace(directory, files[0].partition, files[0].bucket), is_merged=True)
    try:
        held: list[pa.RecordBatch] = []
        for entry in files:
            held += _rows(directory / entry.name, schema)
            if sum(b.nbytes for b in held) >= shape.target_bytes:
                made.write(pa.Table.from_batches(held, schema))
                held = []
        made.write(pa.Table.from_batches(held, schema))
        made.close()
    except BaseException:
        made.abort()
        raise
    return made


def _rows(path: LakePath, schema: pa.Schema) -> list[pa.RecordBatch]:
    return [conform_rows(batch, schema) for batch in parquet_table(path).to_batches()]


def _small_runs(files: Sequence[FileEntry]) -> Iterator[list[FileEntry]]:
    run: list[FileEntry] = []
    for entry in files:
        if _is_small(entry):
            run.append(entry)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _is_small(entry: FileEntry) -> bool:
    return entry.bytes < _SMALL_BYTES
