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


def small_files(
    shape: TableShape, live: Iterable[FileEntry], small_max: int = SMALL_FILES_MAX
) -> Iterator[list[FileEntry]]:
    """Files to make one of: runs of more than `small_max` small ones.

    In a bucketed table they follow each other: its readers rely on the order of the log.
    """
    limit = min(_SMALL_BYTES, shape.target_bytes)
    places: dict[tuple[bytes, int], list[FileEntry]] = {}
    for entry in live:
        if shape.total_buckets > 0 or entry.bytes < limit:
            places.setdefault((entry.partition, entry.bucket), []).append(entry)
    for files in places.values():
        for run in _small_runs(sorted(files, key=lambda f: (f.file["_MIN_SEQUENCE_NUMBER"], f.name)), limit):
            if len(run) > small_max:
                yield run


def one_pass(runs: Iterable[list[FileEntry]]) -> Iterator[list[FileEntry]]:
    """Runs that are rewritten in one pass."""
    left = _PASS_BYTES
    for run in runs:
        size = sum(f.bytes for f in run)
        if size <= left:
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


def _small_runs(files: Sequence[FileEntry], limit: int) -> Iterator[list[FileEntry]]:
    run: list[FileEntry] = []
    for entry in files:
        if entry.bytes < limit:
            run.append(entry)
        elif run:
            yield run
            run = []
    if run:
        yield run
