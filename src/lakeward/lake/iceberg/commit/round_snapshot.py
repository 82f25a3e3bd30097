"""RoundSnapshot: the snapshot of one tiering round; and where the newest one is found."""

from __future__ import annotations

from collections.abc import Iterator

from pyiceberg.exceptions import ValidationException
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import SnapshotRefType
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.table.update import SetSnapshotRefUpdate, UpdatesAndRequirements

from lakeward.lake.iceberg.commit.file_changes import FileChanges
from lakeward.lake.iceberg.read.table_document import ROUND_TAG
from lakeward.lake.round_properties import is_tiering_round


class RoundSnapshot(FileChanges):
    """A round. An outside append may come in between, another round may not."""

    def _validate_concurrency(self) -> None:
        for snapshot in history(self._transaction.table_metadata, self._parent_snapshot_id):
            if snapshot.snapshot_id == self._starting_snapshot_id:
                break
            if is_round(snapshot):
                raise ValidationException(f"another tiering round was committed first, snapshot {snapshot.snapshot_id}")
        super()._validate_concurrency()

    def _commit(self) -> UpdatesAndRequirements:
        updates, requirements = super()._commit()
        tag = SetSnapshotRefUpdate.model_validate(
            {"ref-name": ROUND_TAG, "type": SnapshotRefType.TAG, "snapshot-id": self._snapshot_id}
        )
        return (*updates, tag), requirements


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
        if is_round(snapshot):
            return snapshot
        oldest = snapshot
    if oldest is None or (oldest.sequence_number or 0) <= 1:  # expiry may remove the link to the parent as well
        return None
    tagged = metadata.snapshot_by_id(metadata.refs[ROUND_TAG].snapshot_id)
    assert tagged is not None, "a tag points to a snapshot"
    return tagged


def is_round(snapshot: Snapshot) -> bool:
    """Whether a tiering service made it."""
    return snapshot.summary is not None and is_tiering_round(snapshot.summary.additional_properties)
