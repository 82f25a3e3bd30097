"""Commits share the snapshots of old: the metadata is what a whole copy gives, and nobody changes what is shared."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from lake_tables import Rounds, pyiceberg_table, read_by_pyiceberg, table_info
from pydantic import ValidationError
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot, SnapshotLogEntry
from pyiceberg.table.update import RemoveSnapshotsUpdate, SetPropertiesUpdate, update_table_metadata

from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.commit.remembering_transaction import RememberingTransaction
from lakeward.lake.port import LakePlace


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A primary key table with three rounds."""
    made = Rounds(lake_format("iceberg"), tmp_path, table_info({"id": "BIGINT NOT NULL"}, key="id", buckets=1))
    for number in range(3):
        made.round({LakePlace(0): [{"id": 1}, {"id": 10 + number}]})
    return made


def told(metadata: TableMetadata) -> Any:
    """All that is written of it, but for the time of the change."""
    return json.loads(metadata.model_dump_json()) | {"last-updated-ms": 0}


def test_rounds_add_to_what_was_and_leave_it_as_it_was(rounds: Rounds) -> None:
    """As a reader finds it that never heard of us: each snapshot on top of the one before it, in the log as well."""
    before = pyiceberg_table(rounds.warehouse).metadata
    rounds.round({LakePlace(0): [{"id": 20}]})
    after = pyiceberg_table(rounds.warehouse).metadata
    assert told(after)["snapshots"][:-1] == told(before)["snapshots"]
    assert told(after)["snapshot-log"][:-1] == told(before)["snapshot-log"]
    ids = [snapshot.snapshot_id for snapshot in after.snapshots]
    assert len(set(ids)) == 4
    assert [snapshot.parent_snapshot_id for snapshot in after.snapshots] == [None, *ids[:-1]]
    assert [entry.snapshot_id for entry in after.snapshot_log] == ids
    assert after.current_snapshot_id == ids[-1]
    assert sorted(row["id"] for row in read_by_pyiceberg(rounds.warehouse)) == [1, 10, 11, 12, 20]


@pytest.mark.parametrize("is_expired", [False, True])
def test_a_change_gives_what_a_whole_copy_gives(
    rounds: Rounds, is_expired: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a snapshot loses its parent: that one is made anew, the shared one keeps it."""
    base = pyiceberg_table(rounds.warehouse).metadata
    updates = (
        RemoveSnapshotsUpdate(snapshot_ids=[base.snapshots[0].snapshot_id])
        if is_expired
        else SetPropertiesUpdate(updates={"a": "b"}),
    )
    was = told(base)
    shared = update_table_metadata(base, updates)
    assert shared.snapshots[-1] is base.snapshots[-1]
    with monkeypatch.context() as patch:
        for kind in (Snapshot, SnapshotLogEntry):
            patch.delattr(kind, "__deepcopy__")
        whole = update_table_metadata(base, updates)
    assert whole.snapshots[-1] is not base.snapshots[-1]
    assert told(shared) == told(whole) != was
    assert told(base) == was


def test_a_transaction_does_not_change_the_table_it_began_with(rounds: Rounds) -> None:
    """Metadata that somebody holds stays as it is, through the commit of others and one that is given up."""
    table = pyiceberg_table(rounds.warehouse)
    held, was = table.metadata, told(table.metadata)
    change = RememberingTransaction(table)
    change.set_properties({"a": "given up"})
    assert change.table_metadata is change.table_metadata, "worked out once"
    assert told(held) == was
    with RememberingTransaction(table) as change:
        change.set_properties({"a": "b"})
    rounds.round({LakePlace(0): [{"id": 1}]})
    assert told(held) == was
    assert table.metadata.properties["a"] == "b"
    assert table.metadata.snapshots == held.snapshots


def test_what_is_shared_cannot_be_set(rounds: Rounds) -> None:
    """pyiceberg forbids it, which is why a copy may be the thing itself."""
    metadata = pyiceberg_table(rounds.warehouse).metadata
    for one, name in ((metadata.snapshots[0], "parent_snapshot_id"), (metadata.snapshot_log[0], "timestamp_ms")):
        assert copy.deepcopy(one) is one
        with pytest.raises(ValidationError, match="frozen"):
            setattr(one, name, 7)
