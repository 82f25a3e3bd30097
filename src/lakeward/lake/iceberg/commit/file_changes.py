"""FileChanges: one snapshot that adds files and removes files, of data and of position deletes.

pyiceberg writes no delete files and replaces no files yet; this is the producer it lacks. When another commit came
first, pyiceberg builds the snapshot again on top of it: wrong where a file is gone that this one names. That is looked
for, before the first attempt too: files take their time to be written.
"""

from __future__ import annotations

from collections.abc import Iterable

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
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import EMPTY_DICT

from lakeward.lake.iceberg.commit.live_files import live_paths


class FileChanges(_FastAppendFiles):
    """Files added and files removed, in one step."""

    def __init__(self, transaction: Transaction, io: FileIO, snapshot_properties: dict[str, str]) -> None:
        super().__init__(Operation.APPEND, transaction, io, snapshot_properties=snapshot_properties)
        self._delete_files: list[DataFile] = []
        self._referenced: set[str] = set()
        self._removed: set[str] = set()

    def remove_files(self, paths: Iterable[str]) -> None:
        """Files, of data or deletes, whose rows were rewritten."""
        self._removed.update(paths)
        if self._removed:
            self._operation = Operation.OVERWRITE

    def add_delete_file(self, file: DataFile) -> None:
        """Take a file of position deletes."""
        self._delete_files.append(file)
        self._operation = Operation.OVERWRITE

    def requires(self, data_paths: Iterable[str]) -> None:
        """Data files that must still be live when this is committed."""
        self._referenced.update(data_paths)

    def expect_snapshot(self, snapshot_id: int | None) -> None:
        """The files were written with this snapshot in mind; what was committed since must not contradict them."""
        self._starting_snapshot_id = snapshot_id
        self._validate_concurrency()

    def _validate_concurrency(self) -> None:
        needed = self._referenced | self._removed
        if self._parent_snapshot_id == self._starting_snapshot_id or not needed:
            return
        metadata = self._transaction.table_metadata
        parent = None if self._parent_snapshot_id is None else metadata.snapshot_by_id(self._parent_snapshot_id)
        gone = needed - live_paths(parent, self._io)
        if gone:
            raise ValidationException(f"a data file was replaced while the round was written: {min(gone)}")

    def _manifests(self) -> list[ManifestFile]:
        self._gone_files: list[DataFile] = []
        return [*self._delete_manifests(), *super()._manifests()]

    def _existing_manifests(self) -> list[ManifestFile]:
        found = super()._existing_manifests()
        return found if not self._removed else [kept for m in found for kept in self._rewrite_manifest(m)]

    def _rewrite_manifest(self, manifest: ManifestFile) -> list[ManifestFile]:
        """A manifest as it is, or written again: what stays as existing, what goes as deleted."""
        entries = manifest.fetch_manifest_entry(self._io, discard_deleted=True)
        going = [e for e in entries if e.data_file.file_path in self._removed]
        if not going:
            return [manifest]
        self._gone_files.extend(e.data_file for e in going)
        spec = self.spec(manifest.partition_spec_id)
        kind = DeleteManifestWriter if manifest.content == ManifestContent.DELETES else ManifestWriterV2
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
        writer = DeleteManifestWriter(
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


class DeleteManifestWriter(ManifestWriterV2):
    """A manifest of deletes."""

    def content(self) -> ManifestContent:
        """What it lists."""
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}
