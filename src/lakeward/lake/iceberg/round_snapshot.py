"""RoundSnapshot: one snapshot that adds the data files of a round, and the position deletes that go with them.

pyiceberg writes no delete files yet; this is the producer it lacks. When another commit came first, pyiceberg builds
the snapshot again on top of it: right for an outside append, wrong if it was another tiering round, or if a data file
that our deletes name was replaced. Both are looked for, before the first attempt too: a round takes its time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyiceberg.exceptions import ValidationException
from pyiceberg.io import FileIO
from pyiceberg.manifest import (
    DataFile,
    ManifestContent,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    ManifestWriterV2,
)
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import SetSnapshotRefUpdate, UpdatesAndRequirements
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import EMPTY_DICT

from lakeward.lake.iceberg.live_files import live_paths
from lakeward.lake.round_properties import is_tiering_round

#: The tag on the newest round: no engine expires a snapshot that is tagged, whoever else writes to the table.
ROUND_TAG = "lakeward-tiering"


class RoundSnapshot(_FastAppendFiles):
    """Rows added and rows deleted, in one step."""

    def __init__(self, transaction: Transaction, io: FileIO, snapshot_properties: dict[str, str]) -> None:
        super().__init__(Operation.APPEND, transaction, io, snapshot_properties=snapshot_properties)
        self._delete_files: list[DataFile] = []
        self._referenced: set[str] = set()
        self._removed: set[str] = set()

    def remove_files(self, paths: Iterable[str]) -> None:
        """Files, of data or deletes, whose rows were written anew."""
        self._removed.update(paths)
        if self._removed:
            self._operation = Operation.OVERWRITE

    def add_delete_file(self, file: DataFile) -> None:
        """Take a file of position deletes."""
        self._delete_files.append(file)
        self._operation = Operation.OVERWRITE

    def planned_on(self, snapshot_id: int | None) -> None:
        """The files were written with this snapshot in mind; what was committed since must not contradict them."""
        self._starting_snapshot_id = snapshot_id
        self._validate_concurrency()

    def requires(self, data_paths: Iterable[str]) -> None:
        """Data files that must still be live when this is committed."""
        self._referenced.update(data_paths)

    def _validate_concurrency(self) -> None:
        metadata = self._transaction.table_metadata
        for snapshot in history(metadata, self._parent_snapshot_id):
            if snapshot.snapshot_id == self._starting_snapshot_id:
                break
            if _is_round(snapshot):
                raise ValidationException(f"another tiering round was committed first, snapshot {snapshot.snapshot_id}")
        needed = self._referenced | self._removed
        if self._parent_snapshot_id == self._starting_snapshot_id or not needed:
            return
        parent = None if self._parent_snapshot_id is None else metadata.snapshot_by_id(self._parent_snapshot_id)
        gone = needed - live_paths(parent, self._io)
        if gone:
            raise ValidationException(f"a data file was replaced while the round was written: {min(gone)}")

    def _commit(self) -> UpdatesAndRequirements:
        updates, requirements = super()._commit()
        tag = SetSnapshotRefUpdate.model_validate(
            {"ref-name": ROUND_TAG, "type": SnapshotRefType.TAG, "snapshot-id": self._snapshot_id}
        )
        return (*updates, tag), requirements

    def _manifests(self) -> list[ManifestFile]:
        self._gone_files: list[DataFile] = []
        return [*self._delete_manifests(), *super()._manifests()]

    def _existing_manifests(self) -> list[ManifestFile]:
        found = super()._existing_manifests()
        return found if not self._removed else [kept for m in found for kept in self._without_removed(m)]

    def _without_removed(self, manifest: ManifestFile) -> list[ManifestFile]:
        """A manifest as it is, or written again: what stays as existing, what goes as deleted."""
        entries = manifest.fetch_manifest_entry(self._io, discard_deleted=True)
        going = [e for e in entries if e.data_file.file_path in self._removed]
        if not going:
            return [manifest]
        self._gone_files.extend(e.data_file for e in going)
        spec = self.spec(manifest.partition_spec_id)
        kind = _DeleteManifestWriter if manifest.content == ManifestContent.DELETES else ManifestWriterV2
        writer = kind(spec, self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression)
        with writer:
            for entry in entries:
                removed = entry.data_file.file_path in self._removed
                writer.add_entry(
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.DELETED if removed else ManifestEntryStatus.EXISTING,
                        snapshot_id=self._snapshot_id if removed else entry.snapshot_id,
                        sequence_number=entry.sequence_number,
                        file_sequence_number=entry.file_sequence_number,
                        data_file=entry.data_file,
                    )
                )
        return [writer.to_manifest_file()]

    def _delete_manifests(self) -> list[ManifestFile]:
        if not self._delete_files:
            return []
        metadata = self._transaction.table_metadata
        writer = _DeleteManifestWriter(
            metadata.spec(), self.schema(), self.new_manifest_output(), self._snapshot_id, self._compression
        )
        with writer:
            for file in self._delete_files:
                writer.add(
                    ManifestEntry.from_args(
                        status=ManifestEntryStatus.ADDED,
                        snapshot_id=self._snapshot_id,
                        sequence_number=None,
                        file_sequence_number=None,
                        data_file=file,
                    )
                )
        return [writer.to_manifest_file()]

    def _summary(self, snapshot_properties: dict[str, str] = EMPTY_DICT) -> Summary:
        # All are counted as what they are, by their content.
        data, self._added_data_files = self._added_data_files, [*self._added_data_files, *self._delete_files]
        self._deleted_data_files = set(self._gone_files)
        try:
            return super()._summary(snapshot_properties)
        finally:
            self._added_data_files, self._deleted_data_files = data, set()


class _DeleteManifestWriter(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}


def history(metadata: TableMetadata, snapshot_id: int | None) -> Iterator[Snapshot]:
    """A snapshot and those it was built on, as far back as the table remembers."""
    snapshot = None if snapshot_id is None else metadata.snapshot_by_id(snapshot_id)
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else metadata.snapshot_by_id(parent)


def newest_round(metadata: TableMetadata) -> Snapshot | None:
    """The newest snapshot of a tiering service that the table's rows are built on; others' commits are looked through.

    Where what lies between was expired by somebody, the tag tells. KeyError if there is none: it cannot be known then
    what the table holds.
    """
    oldest = None
    for snapshot in history(metadata, metadata.current_snapshot_id):
        if _is_round(snapshot):
            return snapshot
        oldest = snapshot
    if oldest is None or (oldest.sequence_number or 0) <= 1:  # expiry may remove the link to the parent as well
        return None
    tagged = metadata.snapshot_by_id(metadata.refs[ROUND_TAG].snapshot_id)
    assert tagged is not None, "a tag points to a snapshot"
    return tagged


def _is_round(snapshot: Snapshot) -> bool:
    return snapshot.summary is not None and is_tiering_round(snapshot.summary.additional_properties)
