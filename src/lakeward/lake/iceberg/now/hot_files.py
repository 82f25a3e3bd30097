"""HotFiles: rows that are not in the lake yet → data files; rows of the lake that are gone → position deletes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata

from lakeward.lake.iceberg.now.kept_keys import KeptKeys
from lakeward.lake.iceberg.now.now_base import NowBase
from lakeward.lake.iceberg.read.row_positions import DELETE_SCHEMA, deleted_positions, matching_rows, read_columns
from lakeward.lake.iceberg.schema.layout import partition_of
from lakeward.lake.iceberg.write.data_writer import DataFileWriter, Writing, WrittenFiles
from lakeward.lake.iceberg.write.delete_file import write_delete_file
from lakeward.lake.port import LakePlace
from lakeward.runtime.entropy import Entropy


@dataclass(frozen=True, slots=True)
class HotFile:
    """A file that was written; `record` is what a manifest says of it."""

    path: str
    rows: int
    record: DataFile


class HotFiles:
    """Writes files of one table into its area; safe to be shared by threads."""

    def __init__(self, base: NowBase, entropy: Entropy, kept: KeptKeys) -> None:
        self._writing: Writing = base.writing()
        self._metadata: TableMetadata
        self._io: FileIO
        self._metadata, self._io = self._writing.open()
        self._entropy = entropy
        self._area = base.area
        self._kept = kept

    def write_rows(self, place: LakePlace, rows: Iterable[pa.RecordBatch]) -> list[HotFile]:
        """Data files of rows with the table's columns and the system columns, in their order."""
        writer = DataFileWriter(self._writing, place)
        try:
            for batch in rows:
                writer.write(batch)
            written = writer.finish()
        except BaseException:
            writer.abort()
            raise
        files = WrittenFiles.of_bytes(written.record, self._metadata.default_spec_id).data
        return [HotFile(file.file_path, file.record_count, file) for file in files]

    def write_deletes(
        self, place: LakePlace, like: pa.RecordBatch, positions: Mapping[str, NDArray[np.int64]]
    ) -> list[HotFile]:
        """A file that names rows of data files by position; `like` is any row of the place."""
        named = [(path, positions[path]) for path in sorted(positions) if len(positions[path])]
        if not named:
            return []
        paths = [pa.array([path], pa.string()).take(pa.array(np.zeros(len(at), np.int32))) for path, at in named]
        places = [pa.array(np.sort(at)) for _, at in named]
        rows = pa.table(
            [pa.chunked_array(paths, pa.string()), pa.chunked_array(places, pa.int64())], schema=DELETE_SCHEMA
        )
        partition = partition_of(self._metadata.spec(), self._metadata.schema(), place.bucket, like)
        locations = load_location_provider(self._metadata.location, self._metadata.properties)
        name = f"{place.bucket:05}-{self._entropy.uuid()}-deletes.parquet"
        path = locations.new_data_location(name, partition)
        record = write_delete_file(self._io, path, rows, partition, self._metadata.default_spec_id)
        return [HotFile(path, rows.num_rows, record)]

    def keep_keys(self, files: Sequence[HotFile], keys: pa.Table) -> None:
        """The keys of files that were just written; those of several are read when they are needed."""
        if len(files) == 1:
            self._kept.keep_keys(files[0].path, keys)

    def positions(self, files: Mapping[str, Sequence[str]], keys: pa.Table) -> dict[str, NDArray[np.int64]]:
        """Where data files, each with its files of deletes, hold live rows of these keys.

        FileNotFoundError where a file is gone.
        """
        found, names = {}, keys.column_names
        for path, delete_paths in files.items():
            rows = self._kept.keys(path, names, partial(read_columns, self._io, path, names))
            at = matching_rows(rows, keys)
            for deletes in delete_paths if len(at) else ():
                gone = self._kept.deletes(deletes, partial(deleted_positions, self._io, [deletes])).get(path)
                at = at if gone is None else at[~np.isin(at, gone)]
            if len(at):
                found[path] = at
        return found

    def remove(self, files: Iterable[HotFile]) -> None:
        """Delete files that nobody was told of."""
        paths = [file.path for file in files]
        self._kept.drop(paths)
        self._area.remove(paths)
