"""IcebergReader: snapshots, their files place by place, and the rows of a file without those that were deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyiceberg.manifest import DataFile
from pyiceberg.table import Table
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Snapshot

from lakeward.errors import ErrorCode
from lakeward.lake.iceberg.column_bounds import ColumnBounds
from lakeward.lake.iceberg.live_files import LiveFiles, live_files
from lakeward.lake.iceberg.manifest_cache import ManifestCache
from lakeward.lake.iceberg.places import place_of
from lakeward.lake.iceberg.round_snapshot import ROUND_TAG, history, is_round, newest_round
from lakeward.lake.iceberg.row_positions import DeletedPositions
from lakeward.lake.iceberg.snapshot_forms import described
from lakeward.lake.parquet_rows import parquet_rows
from lakeward.lake.port import LakeDeletes, LakeFile, LakeSnapshot, PlacedFile
from lakeward.model.table import TableInfo

_FILE_PATH_ID = 2147483546
#: One for the process: tables are opened anew for every plan.
_MANIFESTS = ManifestCache()


class IcebergReader:
    """One state of the table's metadata; what is committed later is not seen."""

    #: A row that is replaced is deleted by its position: every file stands for itself.
    merges = False

    def __init__(self, table: Table, info: TableInfo) -> None:
        self._table = table
        self._info = info
        self._metadata = table.metadata
        self._deleted = DeletedPositions(table.io)

    def snapshots(self) -> list[LakeSnapshot]:
        """Snapshots that say how far each bucket is, newest first."""
        found: list[LakeSnapshot] = []
        above: list[Snapshot] = []
        for snapshot in history(self._metadata, self._metadata.current_snapshot_id):
            above.append(snapshot)
            if is_round(snapshot):
                found += _on_round(above, snapshot)
                above = []
        if above and not found:  # what lies between was expired by somebody
            try:
                tagged = newest_round(self._metadata)
            except KeyError:
                tagged = None
            found += [] if tagged is None else _on_round(above, tagged)
        return found

    def tags(self) -> dict[str, int]:
        """Tags of the table but for our own, which moves."""
        refs = self._metadata.refs.items()
        return {
            name: ref.snapshot_id
            for name, ref in refs
            if ref.snapshot_ref_type is SnapshotRefType.TAG and name != ROUND_TAG
        }

    def files(self, snapshot_id: int, bounds_of: Iterable[str] = ()) -> list[PlacedFile]:
        """The live files of a snapshot; refuses one with equality deletes, which only compaction turns into rows."""
        snapshot = self._metadata.snapshot_by_id(snapshot_id)
        bounds = ColumnBounds(self._table.schema(), bounds_of)
        found: list[PlacedFile] = []
        for values, files in live_files(snapshot, self._table.io, _MANIFESTS).items():
            if files.equality_deletes:
                raise ErrorCode.INVALID_TABLE.error(
                    f"{self._info.path} holds equality deletes of another tiering service in the lake, which are not "
                    "read here. Compact the table with Iceberg's rewrite_data_files, or read it without the lake."
                )
            found += self._placed(values, files, bounds)
        return found

    def _placed(self, values: tuple[Any, ...], files: LiveFiles, bounds: ColumnBounds) -> Iterator[PlacedFile]:
        specs, schema = self._table.specs(), self._table.schema()
        for file in files.data:
            place = place_of(specs[file.spec_id], schema, self._info, values)
            deletes = tuple(
                LakeDeletes(d.file_path, d.record_count) for d in files.position_deletes if _is_about(d, file)
            )
            yield PlacedFile(
                place, LakeFile(file.file_path, file.record_count, file.file_size_in_bytes, deletes), bounds.of(file)
            )

    def rows(self, files: Sequence[LakeFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The live rows of files."""
        for file in files:
            gone = self._deleted.of(file.path, [d.path for d in file.deletes])
            with self._table.io.new_input(file.path).open() as stream:
                yield from parquet_rows(stream, schema, gone)


def _on_round(above: list[Snapshot], round_: Snapshot) -> list[LakeSnapshot]:
    told = described(round_)
    return [
        replace(told, snapshot_id=s.snapshot_id, committed_ms=s.timestamp_ms, round_id=round_.snapshot_id)
        for s in above
    ]


def _is_about(deletes: DataFile, data: DataFile) -> bool:
    """Whether deletes can name a data file: they say from which path to which."""
    low, high = ((bounds or {}).get(_FILE_PATH_ID) for bounds in (deletes.lower_bounds, deletes.upper_bounds))
    path = data.file_path.encode()
    # Bounds of other writers may be cut off: compare as far as they go.
    return (low is None or path[: len(low)] >= low) and (high is None or path[: len(high)] <= high)
