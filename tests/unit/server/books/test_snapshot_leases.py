"""SnapshotLeases: what is pinned, until when, and after a restart."""

from __future__ import annotations

import pytest

from lakeward.errors import InvalidError
from lakeward.model.bucket import TableBucket
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore

A, B = TableBucket(1, None, 0), TableBucket(1, 7, 1)


@pytest.fixture
def store() -> MemoryMetadataStore:
    """Where leases are kept."""
    return MemoryMetadataStore()


def test_a_lease_outlives_a_restart(store: MemoryMetadataStore) -> None:
    """A reader does not notice that the server was gone."""
    SnapshotLeases(store).acquire("r", 1000, {A: 3, B: 4})
    again = SnapshotLeases(store)
    assert again.snapshots_in_use(A) == {3}
    assert again.snapshots_in_use(B) == {4}


def test_acquiring_again_extends_and_replaces(store: MemoryMetadataStore) -> None:
    """The whole lease gets the new time; a bucket has one snapshot per lease."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {A: 3, B: 4})
    leases.acquire("r", 2000, {A: 5})
    leases.acquire("r", 3000, {})
    found = leases.get("r")
    assert found is not None
    assert (found.expires_ms, dict(found.snapshots)) == (3000, {A: 5, B: 4})


def test_two_readers_pin_two_snapshots(store: MemoryMetadataStore) -> None:
    """What one lets go the other still holds."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {A: 3})
    leases.acquire("s", 1000, {A: 5})
    assert leases.snapshots_in_use(A) == {3, 5}
    leases.drop("r")
    assert leases.snapshots_in_use(A) == {5}


def test_releasing_the_last_bucket_ends_a_lease(store: MemoryMetadataStore) -> None:
    """Also in the store; what is not known is fine."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {A: 3, B: 4})
    leases.release("r", [A])
    assert leases.snapshots_in_use(B) == {4}
    leases.release("r", [A, B])
    leases.release("r", [A])
    leases.drop("r")
    assert len(SnapshotLeases(store)) == 0


def test_leases_are_swept_when_their_time_is_up(store: MemoryMetadataStore) -> None:
    """At the very millisecond, and no other."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {A: 3})
    leases.acquire("s", 1001, {A: 4})
    assert leases.sweep(999) == []
    assert leases.sweep(1000) == ["r"]
    assert SnapshotLeases(store).snapshots_in_use(A) == {4}


def test_dropped_buckets_leave_their_leases(store: MemoryMetadataStore) -> None:
    """A table that is gone pins nothing."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {A: 3, B: 4})
    leases.forget(lambda bucket: bucket == A)
    assert leases.snapshots_in_use(A) == set()
    assert leases.snapshots_in_use(B) == {4}


def test_renewing_what_was_never_acquired_creates_nothing(store: MemoryMetadataStore) -> None:
    """An empty lease would pin nothing and stay until it is swept."""
    leases = SnapshotLeases(store)
    leases.acquire("r", 1000, {})
    assert len(leases) == 0


@pytest.mark.parametrize("lease_id", ["", "x" * 257])
def test_ids_are_bounded(store: MemoryMetadataStore, lease_id: str) -> None:
    """They are keys of the metadata store."""
    with pytest.raises(InvalidError):
        SnapshotLeases(store).acquire(lease_id, 1000, {A: 3})
