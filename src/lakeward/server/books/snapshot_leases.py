"""SnapshotLeases: which snapshots of key/value state readers still use. Durable, so that a restart breaks no reader.

A lease pins one snapshot per bucket until it is released, dropped, or its time is up. Acquiring again extends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.server.metadata_store.port import Document, MetadataStore

AREA = "kv-snapshot-leases"
_ID_CHARACTERS_MAX = 256


@dataclass(frozen=True, slots=True)
class Lease:
    """What one reader holds."""

    expires_ms: int
    snapshots: Mapping[TableBucket, int]


class SnapshotLeases:
    """The leases by their ids."""

    def __init__(self, store: MetadataStore) -> None:
        self._store = store
        self._leases = {document.key: _of_text(document.text) for document in store.documents(AREA)}

    def __len__(self) -> int:
        return len(self._leases)

    def get(self, lease_id: str) -> Lease | None:
        """A lease, whether or not its time is up."""
        return self._leases.get(lease_id)

    def snapshots_in_use(self, bucket: TableBucket) -> set[int]:
        """The snapshots of a bucket that somebody uses."""
        return {lease.snapshots[bucket] for lease in self._leases.values() if bucket in lease.snapshots}

    def acquire(self, lease_id: str, expires_ms: int, snapshots: Mapping[TableBucket, int]) -> None:
        """Begin or extend a lease; a bucket that it has already is leased with its new snapshot."""
        if not 0 < len(lease_id) <= _ID_CHARACTERS_MAX:
            raise ErrorCode.INVALID_CONFIG.error(f"A lease's id has 1 to {_ID_CHARACTERS_MAX} characters.")
        before = self._leases.get(lease_id)
        held = {**(before.snapshots if before else {}), **snapshots}
        if held:
            self._put(lease_id, Lease(expires_ms, held))

    def release(self, lease_id: str, buckets: Iterable[TableBucket]) -> None:
        """Let go of some buckets; without any left the lease is gone. An unknown lease is fine."""
        lease = self._leases.get(lease_id)
        gone = set(buckets)
        if lease is None or gone.isdisjoint(lease.snapshots):
            return
        kept = {bucket: snapshot for bucket, snapshot in lease.snapshots.items() if bucket not in gone}
        if kept:
            self._put(lease_id, replace(lease, snapshots=kept))
        else:
            self._delete([lease_id])

    def drop(self, lease_id: str) -> None:
        """Let go of everything. An unknown lease is fine."""
        if lease_id in self._leases:
            self._delete([lease_id])

    def sweep(self, now_ms: int) -> list[str]:
        """Drop leases whose time is up; their ids."""
        expired = [lease_id for lease_id, lease in self._leases.items() if lease.expires_ms <= now_ms]
        if expired:
            self._delete(expired)
        return expired

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Buckets were dropped with their tables."""
        for lease_id, lease in list(self._leases.items()):
            self.release(lease_id, [bucket for bucket in lease.snapshots if is_gone(bucket)])

    def _put(self, lease_id: str, lease: Lease) -> None:
        with self._store.change() as change:
            change.put_document(Document(AREA, lease_id, _to_text(lease)))
        self._leases[lease_id] = lease

    def _delete(self, lease_ids: list[str]) -> None:
        with self._store.change() as change:
            for lease_id in lease_ids:
                change.delete_document(AREA, lease_id)
        for lease_id in lease_ids:
            del self._leases[lease_id]


def _to_text(lease: Lease) -> str:
    held = [[*bucket, snapshot_id] for bucket, snapshot_id in lease.snapshots.items()]
    return json.dumps({"version": 1, "expires_ms": lease.expires_ms, "snapshots": held})


def _of_text(text: str) -> Lease:
    node = json.loads(text)
    return Lease(node["expires_ms"], {TableBucket(*bucket): snapshot_id for *bucket, snapshot_id in node["snapshots"]})
