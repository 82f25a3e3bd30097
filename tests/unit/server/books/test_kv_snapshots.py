"""KvSnapshots: what is retained, what is leased, and what clients are told."""

from __future__ import annotations

import pytest
from coordinator_world import World, path

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages import snapshot as messages
from lakeward.server.books.kv_snapshots import KvSnapshots, RemoteSnapshot
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore

A = TableBucket(1, None, 0)


def snapshot(number: int, *, is_rocksdb: bool = True) -> RemoteSnapshot:
    """One that holds ten more changes than the one before."""
    return RemoteSnapshot(number, 10 * number, f"kv/db/t-1/0/snap-{number}/_METADATA", is_rocksdb)


def ids(snapshots: KvSnapshots, bucket: TableBucket = A) -> list[int]:
    """The numbers of what there is."""
    return [one.snapshot_id for one in snapshots.of(bucket)]


def test_the_last_ones_are_retained() -> None:
    """What goes is told, so that its files can go after it; numbers go on after a restart."""
    store = MemoryMetadataStore()
    snapshots = KvSnapshots(store, SnapshotLeases(store))
    gone = [snapshots.commit(A, snapshot(number), 2) for number in range(4)]
    assert [[one.snapshot_id for one in some] for some in gone] == [[], [], [0], [1]]
    again = KvSnapshots(store, SnapshotLeases(store))
    assert ids(again) == [2, 3]
    assert again.next_id(A) == 4
    assert again.needed_from(A) == 20
    assert again.latest(A) == snapshot(3)


def test_a_leased_one_stays_until_its_lease_ends() -> None:
    """And then goes at the next look."""
    store = MemoryMetadataStore()
    leases = SnapshotLeases(store)
    snapshots = KvSnapshots(store, leases)
    snapshots.commit(A, snapshot(0), 1)
    leases.acquire("reader", 1000, {A: 0})
    for number in (1, 2):
        snapshots.commit(A, snapshot(number), 1)
    assert ids(snapshots) == [0, 2]
    assert snapshots.needed_from(A) == 0
    assert snapshots.prune(A, 1) == []
    leases.drop("reader")
    assert snapshots.prune(A, 1) == [snapshot(0)]
    assert ids(KvSnapshots(store, leases)) == [2]


def test_a_bucket_without_snapshots() -> None:
    """Nothing is there and nothing is needed."""
    store = MemoryMetadataStore()
    snapshots = KvSnapshots(store, SnapshotLeases(store))
    assert (ids(snapshots), snapshots.latest(A), snapshots.needed_from(A), snapshots.next_id(A)) == ([], None, None, 0)


@pytest.fixture
def keyed(world: World) -> World:
    """A primary key table of two buckets: one with snapshots of two engines, one with none."""
    table = world.create("pk", key=["id"], count=2)
    bucket = TableBucket(table.table_id, None, 0)
    world.coordinator.kv_snapshots.commit(bucket, snapshot(0), 3)
    world.coordinator.kv_snapshots.commit(bucket, snapshot(1, is_rocksdb=False), 3)
    return world


def lease(world: World, *asked: tuple[int, int]) -> messages.AcquireKvSnapshotLeaseRequest:
    """For a minute."""
    buckets = tuple(messages.PbKvSnapshotLeaseForBucket(bucket_id=b, snapshot_id=s) for b, s in asked)
    one = messages.PbKvSnapshotLeaseForTable(table_id=world.table("pk").table_id, bucket_snapshots=buckets)
    return messages.AcquireKvSnapshotLeaseRequest(lease_id="r", lease_duration_ms=60_000, snapshots_to_lease=(one,))


def test_readers_are_told_only_what_rocksdb_can_open(keyed: World) -> None:
    """The newest of those, with the offset at which its log goes on; the list has all."""
    request = messages.GetLatestKvSnapshotsRequest(table_path=path("pk"))
    told = keyed.ask(Api.GET_LATEST_KV_SNAPSHOTS, request).latest_snapshots
    assert [(one.bucket_id, one.snapshot_id, one.log_offset) for one in told] == [(0, 0, 0), (1, None, None)]
    listed = keyed.ask(Api.LIST_KV_SNAPSHOTS, messages.ListKvSnapshotsRequest(table_id=keyed.table("pk").table_id))
    assert [(one.bucket_id, one.snapshot_id, one.log_offset) for one in listed.active_snapshots] == [
        (0, 0, None),
        (0, 1, None),
    ]


def test_a_lease_says_what_it_could_not_pin(keyed: World) -> None:
    """And pins the rest."""
    answer = keyed.ask(Api.ACQUIRE_KV_SNAPSHOT_LEASE, lease(keyed, (0, 0), (1, 5)))
    missing = [(m.bucket_id, m.snapshot_id) for t in answer.unavailable_snapshots for m in t.bucket_snapshots]
    assert missing == [(1, 5)]
    bucket = TableBucket(keyed.table("pk").table_id, None, 0)
    assert keyed.coordinator.snapshot_leases.snapshots_in_use(bucket) == {0}
    keyed.ask(
        Api.RELEASE_KV_SNAPSHOT_LEASE,
        messages.ReleaseKvSnapshotLeaseRequest(
            lease_id="r", buckets_to_release=(messages.PbTableBucket(table_id=bucket.table_id, bucket_id=0),)
        ),
    )
    assert keyed.coordinator.snapshot_leases.snapshots_in_use(bucket) == set()


def test_a_lease_ends_with_its_time(keyed: World) -> None:
    """The coordinator looks every ten minutes."""
    keyed.ask(Api.ACQUIRE_KV_SNAPSHOT_LEASE, lease(keyed, (0, 0)))
    keyed.coordinator.tick()
    assert len(keyed.coordinator.snapshot_leases) == 1
    keyed.clock.advance(11 * 60_000)
    keyed.coordinator.tick()
    assert len(keyed.coordinator.snapshot_leases) == 0


def test_a_dropped_table_takes_its_snapshots_along(keyed: World) -> None:
    """No document stays behind."""
    keyed.ask(Api.ACQUIRE_KV_SNAPSHOT_LEASE, lease(keyed, (0, 0)))
    table = keyed.table("pk")
    keyed.catalog.drop_table(table.table_id)
    assert list(keyed.coordinator.kv_snapshots.buckets()) == []
    assert len(keyed.coordinator.snapshot_leases) == 0
    assert not list(keyed.store.documents("kv-snapshots"))
