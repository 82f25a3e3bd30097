"""PaimonReader: snapshots, their files place by place, and the rows of a place: as they are, or merged by key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import LakePath, lake_path
from lakeward.lake.paimon.manifest.commit import live_files
from lakeward.lake.paimon.manifest.manifests import Manifests
from lakeward.lake.paimon.manifest.snapshot_forms import describe_snapshot, is_round
from lakeward.lake.paimon.manifest.snapshots import ROUND_TAG, PaimonSnapshot, Snapshots
from lakeward.lake.paimon.read.file_bounds import FileBounds
from lakeward.lake.paimon.read.merged_reads import merged_batches
from lakeward.lake.paimon.read.overlaps import merged_files
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.place_directory import place_directory, place_of
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.port import LakeFile, LakeSnapshot, PlacedFile
from lakeward.lake.rows.parquet_rows import parquet_rows


class PaimonReader:
    """One table. Files of a primary key table are sorted runs, of which the newest row of a key counts."""

    def __init__(self, snapshots: Snapshots, shape: TableShape) -> None:
        self._snapshots = snapshots
        self._shape = shape
        self.merges = bool(shape.keys)

    def snapshots(self) -> list[LakeSnapshot]:
        """Snapshots that say how far each bucket is, newest first: those of the first time that somebody asked."""
        return list(self._round_snapshots)

    @cached_property
    def _round_snapshots(self) -> list[LakeSnapshot]:
        """Each is a file; a reader is asked for every plan for as long as it is remembered."""
        found: list[LakeSnapshot] = []
        above: list[PaimonSnapshot] = []
        for snapshot in self._snapshots.back_from(self._snapshots.newest()):
            above.append(snapshot)
            if is_round(snapshot):
                told = describe_snapshot(snapshot)
                found += [replace(told, snapshot_id=s.id, committed_ms=s.time_ms, round_id=snapshot.id) for s in above]
                above = []
        return found

    def history(self) -> list[LakeSnapshot]:
        """Every snapshot that is still there, newest first, whoever made it."""
        return [
            LakeSnapshot(s.id, s.time_ms, None, None, None, s.properties)
            for s in self._snapshots.back_from(self._snapshots.newest())
        ]

    def tags(self) -> dict[str, LakeSnapshot]:
        """Tags of the table but for our own, which moves."""
        return {name: self._of_tag(snapshot) for name, snapshot in self._snapshots.tags().items() if name != ROUND_TAG}

    def _of_tag(self, snapshot: PaimonSnapshot) -> LakeSnapshot:
        """As far as the round below it; where that has expired, it is not known how far the buckets were."""
        round_ = next((s for s in self._snapshots.back_from(snapshot) if is_round(s)), None)
        told = describe_snapshot(snapshot if round_ is None else round_)
        return replace(
            told,
            snapshot_id=snapshot.id,
            committed_ms=snapshot.time_ms,
            round_id=None if round_ is None else round_.id,
            offsets={} if round_ is None else told.offsets,
        )

    def files(self, snapshot_id: int, bounds_of: Iterable[str] = ()) -> list[PlacedFile]:
        """The live files of a snapshot, in the order of the log where there is one."""
        snapshot = self._snapshots.read(snapshot_id)
        if snapshot is None:  # a tag keeps more than the snapshot itself does
            snapshot = next((s for s in self._snapshots.all_with_tag() if s.id == snapshot_id), None)
        if snapshot is None:
            raise ErrorCode.LAKE_SNAPSHOT_NOT_EXIST.error(f"Snapshot {snapshot_id} has expired.")
        shape = self._shape
        types = shape.types_of(shape.partition_keys)
        manifests = Manifests(shape.path, types, shape.schema_id)
        bounds = FileBounds(shape, bounds_of)
        found = []
        live = live_files(manifests, snapshot).values()
        merged = merged_files(live, shape.types_of(shape.keys)) if self.merges else set()
        for entry in live:
            directory = place_directory(shape, of_binary(types, entry.partition), entry.bucket)
            is_merged = entry.identity in merged
            file = LakeFile(str(directory / entry.name), entry.rows, entry.bytes, is_merged=is_merged)
            found.append(PlacedFile(place_of(shape, entry.partition, entry.bucket), file, bounds.of(entry)))
        return found

    def rows(self, files: Sequence[LakeFile], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of files of one place; those that share keys are merged."""
        for file in files:
            if not file.is_merged:
                with self._path(file).open("rb") as stream:
                    yield from parquet_rows(stream, schema)
        merged = [self._path(file) for file in files if file.is_merged]
        if merged:
            yield from merged_batches(self._shape, merged, schema)

    def _path(self, file: LakeFile) -> LakePath:
        return lake_path(file.path, self._shape.storage)
