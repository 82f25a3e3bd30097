"""Rows → Parquet files of one partition, rolled by size. Runs in a task and asks no catalog."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionKey
from pyiceberg.table.locations import LocationProvider, load_location_provider
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil

from lakeward.lake.iceberg.schema.layout import partition_of
from lakeward.lake.iceberg.schema.types import FileRows
from lakeward.lake.iceberg.write.file_statistics import FileStatistics
from lakeward.lake.port import LakePlace, WriteResult
from lakeward.lake.rows.parquet_codecs import with_codecs
from lakeward.lake.rows.parquet_dictionaries import dictionary_columns, with_dictionaries
from lakeward.runtime.entropy import SystemEntropy

_ROW_GROUP_ROWS = 1 << 19
_ROW_GROUP_BYTES = 128 << 20
_TARGET_BYTES = ("write.target-file-size-bytes", 512 << 20)
_CODEC = ("write.parquet.compression-codec", "zstd")
_LEVEL = "write.parquet.compression-level"


@dataclass(frozen=True, slots=True)
class Writing:
    """What a task must know of a table to write its files."""

    metadata_json: str
    io_properties: dict[str, str]
    #: Of a primary key table: the key, and the live files of the place when the round began.
    keys: tuple[str, ...] = ()
    data_paths: tuple[str, ...] = ()
    delete_paths: tuple[str, ...] = ()
    #: Whether the place has gathered so many files that its rows are rewritten, in this round.
    rewrite: bool = False

    def to_bytes(self) -> bytes:
        """As tasks get it."""
        return pickle.dumps(tuple(getattr(self, f.name) for f in fields(self)))

    @classmethod
    def of_bytes(cls, data: bytes) -> Writing:
        """Back from `to_bytes`; only ever read by our own tasks."""
        return cls(*pickle.loads(data))  # noqa: S301 - made by our own driver

    def open(self) -> tuple[TableMetadata, FileIO]:
        """The table as it was when the round began, and its files."""
        facts = _facts_of(self.metadata_json)
        return facts.metadata, facts.files(self.io_properties)


class _Facts:
    """What follows from a table's metadata: the same for all tasks of a round, which may be thousands."""

    def __init__(self, metadata_json: str) -> None:
        self.metadata: TableMetadata = TableMetadataUtil.parse_raw(metadata_json)
        self._io: FileIO | None = None

    @cached_property
    def file_rows(self) -> FileRows:
        """Its rows as files hold them."""
        return FileRows(self.metadata.schema())

    @cached_property
    def dictionaries(self) -> list[str]:
        """Columns that are worth one by their types."""
        return dictionary_columns(self.file_rows.schema)

    @cached_property
    def statistics(self) -> FileStatistics:
        """What manifests say of its files."""
        return FileStatistics(self.metadata.schema(), self.metadata.properties)

    @cached_property
    def locations(self) -> LocationProvider:
        """Where its files are put."""
        return load_location_provider(self.metadata.location, self.metadata.properties)

    def files(self, properties: dict[str, str]) -> FileIO:
        """Its files, by these properties."""
        io = self._io
        if io is None or io.properties != properties:
            io = self._io = load_file_io(properties, self.metadata.location)
        return io


@lru_cache(maxsize=4)
def _facts_of(metadata_json: str) -> _Facts:
    """A round has one metadata, and few rounds run at a time."""
    return _Facts(metadata_json)


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """What a task has written: data files, position deletes, the data files that those name, and files replaced."""

    data: list[DataFile]
    deletes: list[DataFile] = field(default_factory=list)
    referenced: frozenset[str] = frozenset()
    replaced: frozenset[str] = frozenset()

    def to_bytes(self) -> bytes:
        """As the driver gets it."""
        return pickle.dumps((self.data, self.deletes, self.referenced, self.replaced))

    @classmethod
    def of_bytes(cls, data: bytes, spec_id: int) -> WrittenFiles:
        """Back from `to_bytes`; only ever read by our own driver."""
        found = cls(*pickle.loads(data))  # noqa: S301 - made by our own tasks
        for file in (*found.data, *found.deletes):
            file.spec_id = spec_id  # pickling loses it
        return found


def target_bytes(properties: Mapping[str, str]) -> int:
    """The size at which a file is closed and the next one begun."""
    return int(properties.get(*_TARGET_BYTES))


class DataFileWriter:
    """The rows of one place, appended to data files."""

    def __init__(self, writing: Writing, place: LakePlace) -> None:
        self._metadata, self._io = writing.open()
        self._facts = _facts_of(writing.metadata_json)
        self._place = place
        self._file_rows = self._facts.file_rows
        properties = self._metadata.properties
        self._target_bytes = target_bytes(properties)
        level = properties.get(_LEVEL)
        self._codec: dict[str, Any] = {
            "compression": properties.get(*_CODEC),
            "use_dictionary": self._facts.dictionaries or False,
            "store_decimal_as_integer": True,
        }
        if level is not None:
            self._codec["compression_level"] = int(level)
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = self._waiting_bytes = 0
        self._partition: PartitionKey | None = None
        self._open: _OpenFile | None = None
        self._files: list[DataFile] = []
        self._paths: list[str] = []
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Take rows with the table's columns and the system columns; rows that do not fit are refused, all of them."""
        if not rows.num_rows:
            return
        fitting = self._file_rows.of(rows)
        self.partition(rows)
        self._waiting.append(fitting)
        self._waiting_rows += rows.num_rows
        self._waiting_bytes += fitting.nbytes
        if self._waiting_rows >= _ROW_GROUP_ROWS or self._waiting_bytes >= _ROW_GROUP_BYTES:
            self._row_group()

    def finish(self) -> WriteResult:
        """Close the files."""
        self._row_group()
        self._close()
        bytes_ = sum(f.file_size_in_bytes for f in self._files)
        return WriteResult(self._rows, bytes_, len(self._files), WrittenFiles(self._files).to_bytes())

    def abort(self) -> None:
        """Remove what was written."""
        if self._open is not None:
            self._open.abandon()
            self._open = None
        for path in self._paths:
            with suppress(FileNotFoundError):  # in a bucket a file appears when it is whole
                self._io.delete(path)

    def fitting(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows as files hold them; those that do not fit are refused, all of them."""
        return self._file_rows.of(rows)

    def partition(self, rows: pa.RecordBatch) -> PartitionKey:
        """The partition of these rows, which is that of every other row."""
        if self._partition is None:
            self._partition = partition_of(self._metadata.spec(), self._metadata.schema(), self._place.bucket, rows)
        return self._partition

    def _row_group(self) -> None:
        if not self._waiting:
            return
        rows = pa.Table.from_batches(self._waiting, self._file_rows.schema)
        if self._open is None:
            self._open = self._new_file(rows)
        self._open.write(rows)
        self._rows += rows.num_rows
        self._waiting, self._waiting_rows, self._waiting_bytes = [], 0, 0
        if self._open.bytes >= self._target_bytes:
            self._close()

    def _new_file(self, rows: pa.Table) -> _OpenFile:
        assert self._partition is not None
        name = f"{self._place.bucket:05}-{SystemEntropy().uuid()}.parquet"
        path = self._facts.locations.new_data_location(name, self._partition)
        self._paths.append(path)
        options = with_codecs(with_dictionaries(self._codec, rows), rows)
        return _OpenFile(self._io, path, self._file_rows.schema, options)

    def _close(self) -> None:
        if self._open is None:
            return
        footer, size = self._open.close()
        assert self._partition is not None
        self._files.append(
            DataFile.from_args(
                content=DataFileContent.DATA,
                file_path=self._open.path,
                file_format=FileFormat.PARQUET,
                partition=self._partition.partition,
                file_size_in_bytes=size,
                sort_order_id=None,
                spec_id=self._metadata.default_spec_id,
                equality_ids=None,
                key_metadata=None,
                **self._facts.statistics.of(footer),
            )
        )
        self._open = None


class _OpenFile:
    """One Parquet file that is being written."""

    def __init__(self, io: FileIO, path: str, schema: pa.Schema, codec: dict[str, Any]) -> None:
        self.path = path
        self._stream: Any = io.new_output(path).create(overwrite=True)
        self._writer = pq.ParquetWriter(self._stream, schema, **codec)

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return int(self._stream.tell())

    def write(self, rows: pa.Table) -> None:
        """One row group."""
        self._writer.write_table(rows, row_group_size=max(rows.num_rows, 1))

    def close(self) -> tuple[Any, int]:
        """The file's footer and its size."""
        self._writer.close()
        size = self.bytes
        self._stream.close()
        return self._writer.writer.metadata, size

    def abandon(self) -> None:
        """Give up; the file is removed by who owns it."""
        self._writer.close()
        self._stream.close()
