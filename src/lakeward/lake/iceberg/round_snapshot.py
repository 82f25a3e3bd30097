"""RoundSnapshot: one snapshot that adds the data files of a round, and the position deletes that go with them.

pyiceberg writes no delete files yet; this is the producer it lacks. When another commit came first, pyiceberg builds
the snapshot again on top of it: right for an outside append, wrong if it was another tiering round, or if a data file
that our deletes name was replaced. Both are looked for before the second attempt.
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
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update.snapshot import _FastAppendFiles
from pyiceberg.typedef import EMPTY_DICT

from lakeward.lake.iceberg.live_files import live_files
from lakeward.lake.round_properties import is_tiering_round


class RoundSnapshot(_FastAppendFiles):
    """Rows added and rows deleted, in one step."""

    def __init__(self, transaction: Transaction, io: FileIO, snapshot_properties: dict[str, str]) -> None:
        super().__init__(Operation.APPEND, transaction, io, snapshot_properties=snapshot_properties)
        self._delete_files: list[DataFile] = []
        self._referenced: set[str] = set()

    def add_delete_file(self, file: DataFile) -> None:
        """Take a file of position deletes."""
        self._delete_files.append(file)
        self._operation = Operation.OVERWRITE

    def requires(self, data_paths: Iterable[str]) -> None:
        """Data files that must still be live when this is committed."""
        self._referenced.update(data_paths)

    def _validate_concurrency(self) -> None:
        metadata = self._transaction.table_metadata
        for snapshot in history(metadata, self._parent_snapshot_id):
            if snapshot.snapshot_id == self._starting_snapshot_id:
                break
            if snapshot.summary is not None and is_tiering_round(snapshot.summary.additional_properties):
                raise ValidationException(f"another tiering round was committed first, snapshot {snapshot.snapshot_id}")
        if self._parent_snapshot_id == self._starting_snapshot_id or not self._referenced:
            return
        parent = None if self._parent_snapshot_id is None else metadata.snapshot_by_id(self._parent_snapshot_id)
        live = {f.file_path for files in live_files(parent, self._io).values() for f in files.data}
        gone = self._referenced - live
        if gone:
            raise ValidationException(f"a data file was replaced while the round was written: {min(gone)}")

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


def history(metadata: TableMetadata, snapshot_id: int | None) -> Iterator[Snapshot]:
    """A snapshot and those it was built on, as far back as the table remembers."""
    snapshot = None if snapshot_id is None else metadata.snapshot_by_id(snapshot_id)
    while snapshot is not None:
        yield snapshot
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else metadata.snapshot_by_id(parent)
