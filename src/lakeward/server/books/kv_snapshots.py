"""KvSnapshots: which snapshots of each bucket's state are in remote storage. Naming one here is its commit.

The last few of a bucket are retained, and those that a lease pins. Numbers are never given twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from lakeward.model.bucket import TableBucket
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "kv-snapshots"


@dataclass(frozen=True, slots=True)
class RemoteSnapshot:
    """A snapshot in remote storage."""

    snapshot_id: int
    log_offset: int
    #: Where its _METADATA is, relative to the store's root.
    metadata_path: str
    #: Whether its files are a RocksDB that any client can open.
    is_rocksdb: bool


@dataclass(frozen=True, slots=True)
class _OfBucket:
    next_id: int
    snapshots: tuple[RemoteSnapshot, ...]


_NONE = _OfBucket(0, ())


class KvSnapshots:
    """The snapshots of all buckets, oldest first."""

    def __init__(self, store: MetadataStore, leases: SnapshotLeases) -> None:
        self._store = store
        self._leases = leases
        self._of_bucket = {_bucket_of(d.key): _of_text(d.text) for d in store.documents(AREA)}

    # -- reading

    def of(self, bucket: TableBucket) -> Sequence[RemoteSnapshot]:
        """All snapshots of a bucket: those retained and those that are leased."""
        return self._of_bucket.get(bucket, _NONE).snapshots

    def latest(self, bucket: TableBucket) -> RemoteSnapshot | None:
        """The newest snapshot of a bucket."""
        found = self.of(bucket)
        return found[-1] if found else None

    def find(self, bucket: TableBucket, snapshot_id: int) -> RemoteSnapshot | None:
        """The snapshot with a number."""
        return next((one for one in self.of(bucket) if one.snapshot_id == snapshot_id), None)

    def needed_from(self, bucket: TableBucket) -> int | None:
        """The offset from which the log is needed to go on from the oldest snapshot; None without any snapshot."""
        return min((one.log_offset for one in self.of(bucket)), default=None)

    def next_id(self, bucket: TableBucket) -> int:
        """The number of the bucket's next snapshot."""
        return self._of_bucket.get(bucket, _NONE).next_id

    def buckets(self) -> Iterator[TableBucket]:
        """The buckets that have, or had, a snapshot."""
        return iter(list(self._of_bucket))

    # -- changing

    def learn(self, bucket: TableBucket, snapshots: Sequence[RemoteSnapshot]) -> list[RemoteSnapshot]:
        """Have these and no others, which a coordinator elsewhere keeps; returns those that it has given up."""
        named = {one.snapshot_id for one in snapshots}
        gone = [one for one in self.of(bucket) if one.snapshot_id not in named]
        highest = max([self.next_id(bucket) - 1, *named])
        self._of_bucket[bucket] = _OfBucket(highest + 1, tuple(sorted(snapshots, key=lambda one: one.snapshot_id)))
        return gone

    def commit(self, bucket: TableBucket, snapshot: RemoteSnapshot, keep: int) -> list[RemoteSnapshot]:
        """Remember a snapshot that is whole in remote storage; returns those it makes superfluous, forgotten now."""
        return self._keep(
            bucket, (*self.of(bucket), snapshot), max(self.next_id(bucket), snapshot.snapshot_id + 1), keep
        )

    def prune(self, bucket: TableBucket, keep: int) -> list[RemoteSnapshot]:
        """Forget snapshots of a bucket that are neither among the last nor leased any more; returns them."""
        if len(self.of(bucket)) <= keep:
            return []
        return self._keep(bucket, self.of(bucket), self.next_id(bucket), keep)

    def _keep(
        self, bucket: TableBucket, found: Sequence[RemoteSnapshot], next_id: int, keep: int
    ) -> list[RemoteSnapshot]:
        leased = self._leases.snapshots_in_use(bucket)
        retained = {one.snapshot_id for one in found[-keep:]} | leased
        kept = tuple(one for one in found if one.snapshot_id in retained)
        state = _OfBucket(next_id, kept)
        if state != self._of_bucket.get(bucket):
            with self._store.change() as change:
                change.put_document(Document(AREA, _key_of(bucket), _to_text(state)))
            self._of_bucket[bucket] = state
        return [one for one in found if one.snapshot_id not in retained]

    def discard(self, bucket: TableBucket, snapshot_ids: set[int]) -> None:
        """Forget snapshots that turned out to be of no use."""
        before = self._of_bucket.get(bucket, _NONE)
        kept = _OfBucket(before.next_id, tuple(one for one in before.snapshots if one.snapshot_id not in snapshot_ids))
        if kept != before:
            with self._store.change() as change:
                change.put_document(Document(AREA, _key_of(bucket), _to_text(kept)))
            self._of_bucket[bucket] = kept

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Buckets were dropped with their tables."""
        gone = [bucket for bucket in self._of_bucket if is_gone(bucket)]
        if gone:
            with self._store.change() as change:
                for bucket in gone:
                    change.delete_document(AREA, _key_of(bucket))
        for bucket in gone:
            del self._of_bucket[bucket]


def _key_of(bucket: TableBucket) -> str:
    partition = "" if bucket.partition_id is None else bucket.partition_id
    return f"{bucket.table_id}/{partition}/{bucket.bucket}"


def _bucket_of(key: str) -> TableBucket:
    table_id, partition_id, bucket = key.split("/")
    return TableBucket(int(table_id), int(partition_id) if partition_id else None, int(bucket))


def _to_text(state: _OfBucket) -> str:
    return json.dumps({"version": 1, **asdict(state)})


def _of_text(text: str) -> _OfBucket:
    node = json.loads(text)
    return _OfBucket(node["next_id"], tuple(RemoteSnapshot(**one) for one in node["snapshots"]))
