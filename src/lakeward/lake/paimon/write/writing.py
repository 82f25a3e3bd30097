"""What a task is told before it writes, and what it tells the driver afterwards."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import pyarrow as pa

from lakeward.lake.paimon.manifest.manifests import FileEntry
from lakeward.lake.paimon.schema.binary_row import of_arrow, to_binary
from lakeward.lake.paimon.schema.place_directory import file_bucket, place_directory
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.paimon.write.parquet_files import FilePlace
from lakeward.lake.port import LakePlace, WriteResult


@dataclass(frozen=True, slots=True)
class Merging:
    """Sorted files of a place that this round merges, together with what it adds, into files of a level."""

    files: tuple[FileEntry, ...]
    level: int
    #: Whether nothing lies below that level: then there is nothing left that a deleted row would have to hide.
    is_bottom: bool


@dataclass(frozen=True, slots=True)
class Writing:
    """The table, and, for a primary key table, how far the place's rows are numbered and what is to be merged."""

    shape: TableShape
    next_sequence: int = 0
    merging: Merging | None = None

    def to_bytes(self) -> bytes:
        """As tasks get it."""
        return pickle.dumps(self)

    @classmethod
    def of_bytes(cls, data: bytes) -> Writing:
        """Back from `to_bytes`; only ever read by our own tasks."""
        found = pickle.loads(data)  # noqa: S301 - made by our own driver
        assert isinstance(found, cls)
        return found


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What a task has written: new data files, their changelog, and files merged from others."""

    new: list[FileEntry] = field(default_factory=list)
    changelog: list[FileEntry] = field(default_factory=list)
    merged_from: list[FileEntry] = field(default_factory=list)
    merged_to: list[FileEntry] = field(default_factory=list)

    def to_result(self, rows: int) -> WriteResult:
        """As the port wants it."""
        files = [*self.new, *self.changelog, *self.merged_to]
        return WriteResult(rows, sum(e.bytes for e in files), len(files), pickle.dumps(self))

    @classmethod
    def of_bytes(cls, data: bytes) -> WrittenFiles:
        """Back from `to_result`; only ever read by our own driver."""
        found = pickle.loads(data)  # noqa: S301 - made by our own tasks
        assert isinstance(found, cls)
        return found


def file_place(shape: TableShape, place: LakePlace, rows: pa.RecordBatch) -> FilePlace:
    """Where rows that all belong to one place are written."""
    types = shape.types_of(shape.partition_keys)
    values = [of_arrow(t, rows[key][0]) for key, t in zip(shape.partition_keys, types, strict=True)]
    bucket = file_bucket(shape, place)
    return FilePlace(place_directory(shape, values, bucket), to_binary(types, values), bucket)
