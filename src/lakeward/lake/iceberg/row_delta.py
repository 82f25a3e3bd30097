"""RowDelta: one snapshot that adds data files and the position deletes that go with them.

pyiceberg writes no delete files yet; this is the producer it lacks. Position deletes name data files by path, so the
snapshot is only right while every file they name is live: that is checked again when another commit came first.
"""

from __future__ import annotations

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

from lakeward.lake.iceberg.live_files import live_files


class RowDelta(_FastAppendFiles):
    """Rows added and rows deleted, in one step."""

    def __init__(self, transaction: Transaction, io: FileIO, snapshot_properties: dict[str, str]) -> None:
        super().__init__(Operation.OVERWRITE, transaction, io, snapshot_properties=snapshot_properties)
        self._delete_files: list[DataFile] = []
        self._referenced: set[str] = set()

    def add_delete_file(self, file: DataFile) -> None:
        """Take a file of position deletes."""
        self._delete_files.append(file)

    def requires(self, data_paths: set[str]) -> None:
        """Data files that must still be live when this is committed."""
        self._referenced |= data_paths

    def _validate_concurrency(self) -> None:
        if self._parent_snapshot_id == self._starting_snapshot_id or not self._referenced:
            return
        metadata = self._transaction.table_metadata
        parent = None if self._parent_snapshot_id is None else metadata.snapshot_by_id(self._parent_snapshot_id)
        live = {f.file_path for files in live_files(parent, self._io).values() for f in files.data}
        gone = self._referenced - live
        if gone:
            raise ValidationException(f"A data file was replaced while the round was written: {min(gone)}")

    def _manifests(self) -> list[ManifestFile]:
        return [*self._delete_manifests(), *super()._manifests()]

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
        data = self._added_data_files
        self._added_data_files = [*data, *self._delete_files]  # counted as what they are, by their content
        try:
            return super()._summary(snapshot_properties)
        finally:
            self._added_data_files = data


class _DeleteManifestWriter(ManifestWriterV2):
    def content(self) -> ManifestContent:
        return ManifestContent.DELETES

    @property
    def _meta(self) -> dict[str, str]:
        return {**super()._meta, "content": "deletes"}
