"""The files of a place → as few as they can be: of a log table its small ones joined, by key all of them merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.read.merged_reads import merged_batches
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.place_directory import place_directory
from lakeward.lake.paimon.schema.shape import KIND, TableShape
from lakeward.lake.paimon.write.compaction import last_level
from lakeward.lake.paimon.write.log_compaction import rewrite_files, small_files
from lakeward.lake.paimon.write.parquet_files import DATA, ROW_GROUP_ROWS, FilePlace, ParquetFiles
from lakeward.lake.port import Tally

#: What one snapshot rewrites, about, so that it is soon over; the rest is for the next one.
_STEP_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class UntidyFiles:
    """Files of one place that become fewer."""

    files: list[FileEntry]

    @property
    def place(self) -> tuple[bytes, int]:
        """Partition and bucket."""
        return self.files[0].partition, self.files[0].bucket

    @property
    def tally(self) -> Tally:
        """What goes."""
        return Tally(len(self.files), sum(entry.bytes for entry in self.files))


def untidy_files(shape: TableShape, live: Iterable[FileEntry]) -> list[UntidyFiles]:
    """What could be fewer files; of a primary key table, places whose files have to be merged by every reader."""
    if not shape.keys:
        return [UntidyFiles(run) for run in small_files(shape, live, 1)]
    places: dict[tuple[bytes, int], list[FileEntry]] = {}
    for entry in live:
        places.setdefault((entry.partition, entry.bucket), []).append(entry)
    return [UntidyFiles(files) for files in places.values() if any(f.level < last_level(shape, files) for f in files)]


def first_step(found: Iterable[UntidyFiles]) -> list[UntidyFiles]:
    """As much as fits into one snapshot's work; what is larger alone comes alone."""
    chosen: list[UntidyFiles] = []
    left = _STEP_BYTES
    for one in found:
        if one.tally.bytes <= left or not chosen:
            chosen.append(one)
            left -= one.tally.bytes
    return chosen


def rewrite(shape: TableShape, untidy: UntidyFiles) -> ParquetFiles:
    """The same rows in fewer files."""
    return _merge(shape, untidy.files) if shape.keys else rewrite_files(shape, untidy.files)


def _merge(shape: TableShape, files: Sequence[FileEntry]) -> ParquetFiles:
    """The newest row of each key, at the last level; below it nothing is left that a deleted row would hide."""
    directory = _directory(shape, files[0])
    place = FilePlace(directory, files[0].partition, files[0].bucket)
    made = ParquetFiles(shape, place, DATA, last_level(shape, files))
    schema = shape.file_schema()
    try:
        for rows in _row_groups(merged_batches(shape, [directory / f.name for f in files], schema), schema):
            inserted = pa.array(np.zeros(rows.num_rows, np.int8))
            made.write(rows.set_column(schema.get_field_index(KIND), schema.field(KIND), inserted))
        made.close()
    except BaseException:
        made.abort()
        raise
    return made


def _row_groups(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(b.num_rows for b in held) >= ROW_GROUP_ROWS:
            yield pa.Table.from_batches(held, schema)
            held = []
    if held:
        yield pa.Table.from_batches(held, schema)


def _directory(shape: TableShape, entry: FileEntry) -> LakePath:
    return place_directory(shape, of_binary(shape.types_of(shape.partition_keys), entry.partition), entry.bucket)
