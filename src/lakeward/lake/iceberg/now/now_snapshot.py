"""A committed snapshot and hot files → a snapshot on top of it: manifests, a manifest list, a metadata file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyiceberg.manifest import (
    DataFile,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriter,
    ManifestWriterV2,
    write_manifest_list,
)
from pyiceberg.table.metadata import TableMetadataV2
from pyiceberg.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, SnapshotLogEntry, Summary

from lakeward.lake.iceberg.commit.file_changes import DeleteManifestWriter
from lakeward.lake.iceberg.now.hot_files import HotFile
from lakeward.lake.iceberg.now.now_base import NowBase
from lakeward.runtime.entropy import Entropy

_COMPRESSION: Any = "deflate"
_BEFORE_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class NowSnapshot:
    """A metadata file with its text, and all files that were written for it."""

    snapshot_id: int
    metadata_location: str
    metadata_json: str
    table_location: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HotPart:
    """What is laid over a snapshot: new files, and committed ones whose rows are all among the new."""

    data: Sequence[HotFile] = ()
    deletes: Sequence[HotFile] = ()
    hidden: frozenset[str] = frozenset()
    #: What people see of it in the snapshot's summary.
    told: Mapping[str, str] = field(default_factory=dict)


def write_now(base: NowBase, hot: HotPart, entropy: Entropy) -> NowSnapshot:
    """The snapshot, written into the area; what was written is removed if it fails."""
    build = _Build(base, hot, entropy)
    try:
        return build.write()
    except BaseException:
        base.area.remove(build.paths)
        raise


class _Build:
    def __init__(self, base: NowBase, hot: HotPart, entropy: Entropy) -> None:
        self._base = base
        self._hot = hot
        self._entropy = entropy
        self._id = base.metadata.new_snapshot_id()
        self.paths: list[str] = []

    def write(self) -> NowSnapshot:
        manifests = [*self._new_manifests(), *self._committed_manifests()]
        metadata, parent = self._base.metadata, self._base.snapshot
        number = metadata.last_sequence_number + 1
        # Readers with transactions (DuckDB) take the newest snapshot of before they began, perhaps before the newest
        # round: so this one is the only one, and its time is before anybody's beginning.
        time_ms = min([metadata.last_updated_ms, *(one.timestamp_ms for one in metadata.snapshots)]) - _BEFORE_MS
        path = self._path(f"-snap-{self._id}.avro")
        parent_id = None if parent is None else parent.snapshot_id
        with write_manifest_list(
            2, self._base.io.new_output(path), self._id, parent_id, number, _COMPRESSION
        ) as writer:
            writer.add_manifests(manifests)
        snapshot = Snapshot.model_validate(
            {
                "snapshot-id": self._id,
                "parent-snapshot-id": parent_id,
                "sequence-number": number,
                "timestamp-ms": time_ms,
                "manifest-list": path,
                "summary": self._summary(),
                "schema-id": metadata.current_schema_id,
            }
        )
        text = _with_snapshot(metadata, snapshot, self._base.uuid).model_dump_json()
        location = self._path(".metadata.json")
        with self._base.io.new_output(location).create(overwrite=True) as stream:
            stream.write(text.encode())
        return NowSnapshot(self._id, location, text, metadata.location, tuple(self.paths))

    def _path(self, ending: str) -> str:
        path = self._base.area.new_path(self._entropy, ending)
        self.paths.append(path)
        return path

    def _new_manifests(self) -> Iterator[ManifestFile]:
        for kind, files in ((ManifestWriterV2, self._hot.data), (DeleteManifestWriter, self._hot.deletes)):
            if files:
                yield self._manifest(kind, [self._entry(file.record) for file in files])

    def _entry(self, file: DataFile) -> ManifestEntry:
        return ManifestEntry.from_args(
            status=ManifestEntryStatus.ADDED,
            snapshot_id=self._id,
            sequence_number=None,
            file_sequence_number=None,
            data_file=file,
        )

    def _manifest(
        self, kind: type[ManifestWriter], entries: Sequence[ManifestEntry], spec_id: int | None = None
    ) -> ManifestFile:
        metadata = self._base.metadata
        spec = metadata.specs()[metadata.default_spec_id if spec_id is None else spec_id]
        output = self._base.io.new_output(self._path("-m0.avro"))
        with kind(spec, metadata.schema(), output, self._id, _COMPRESSION) as writer:
            for entry in entries:
                writer.add_entry(entry)
        return writer.to_manifest_file()

    def _committed_manifests(self) -> Iterator[ManifestFile]:
        if self._base.snapshot is None:
            return
        for manifest in self._base.snapshot.manifests(self._base.io):
            if not self._hot.hidden:
                yield manifest
                continue
            entries = manifest.fetch_manifest_entry(self._base.io, discard_deleted=True)
            left = [entry for entry in entries if entry.data_file.file_path not in self._hot.hidden]
            if len(left) == len(entries):
                yield manifest
            elif left:
                kind = DeleteManifestWriter if manifest.content == ManifestContent.DELETES else ManifestWriterV2
                yield self._manifest(kind, [_existing(entry) for entry in left], manifest.partition_spec_id)

    def _summary(self) -> Summary:
        added = sum(file.rows for file in self._hot.data)
        deleted = sum(file.rows for file in self._hot.deletes)
        told = {
            "added-data-files": str(len(self._hot.data)),
            "added-records": str(added),
            **({"added-delete-files": str(len(self._hot.deletes))} if deleted else {}),
            **({"added-position-deletes": str(deleted)} if deleted else {}),
            **self._hot.told,
        }
        is_append = not self._hot.deletes and not self._hot.hidden
        return Summary(Operation.APPEND if is_append else Operation.OVERWRITE, **told)


def _existing(entry: ManifestEntry) -> ManifestEntry:
    return ManifestEntry.from_args(
        status=ManifestEntryStatus.EXISTING,
        snapshot_id=entry.snapshot_id,
        sequence_number=entry.sequence_number,
        file_sequence_number=entry.file_sequence_number,
        data_file=entry.data_file,
    )


def _with_snapshot(metadata: TableMetadataV2, snapshot: Snapshot, uuid: str) -> TableMetadataV2:
    main = SnapshotRef.model_validate({"snapshot-id": snapshot.snapshot_id, "type": SnapshotRefType.BRANCH})
    logged = SnapshotLogEntry.model_validate(
        {"snapshot-id": snapshot.snapshot_id, "timestamp-ms": snapshot.timestamp_ms}
    )
    return metadata.model_copy(
        update={
            "table_uuid": type(metadata.table_uuid)(uuid),
            "last_updated_ms": metadata.last_updated_ms + 1,
            "last_sequence_number": snapshot.sequence_number,
            "current_snapshot_id": snapshot.snapshot_id,
            "snapshots": [snapshot],
            "snapshot_log": [logged],
            "metadata_log": [],
            "statistics": [],
            "partition_statistics": [],
            "refs": {MAIN_BRANCH: main},
        }
    )
