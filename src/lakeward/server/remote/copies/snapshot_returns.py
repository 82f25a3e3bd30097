"""SnapshotReturns: a snapshot of state comes back from remote storage, whichever server of a cluster has written it.

Its files are those of a RocksDB. Here they become a snapshot on disk as if this server had taken it, from which the
state is opened like from any other, and the log played back behind it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.snapshot_metadata import SnapshotMetadata, path_in_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.books.kv_snapshots import KvSnapshots
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.remote.copies.snapshot_files import read_metadata
from lakeward.storage.kv.store.snapshots import MANIFEST, PendingSnapshot, new_staging, stored_snapshots

_log = logging.getLogger(__name__)
_PARALLEL = 4
_ROCKSDB = "rocksdb"


class SnapshotReturns:
    """Brings what a log no longer reaches back to."""

    def __init__(
        self,
        store: RemoteStore,
        snapshots: KvSnapshots,
        buckets: Buckets,
        logs: Logs,
        place: Callable[[TableBucket], BucketPlace],
        learn: Callable[[TableBucket], Awaitable[None]],
    ) -> None:
        """`learn` asks which snapshots count now."""
        self._store = store
        self._snapshots = snapshots
        self._buckets = buckets
        self._logs = logs
        self._place = place
        self._learn = learn

    def bring(self, bucket: TableBucket) -> Coroutine[Any, Any, None] | None:
        """Work to be done before the state of a bucket is opened; None where log and snapshots here are enough."""
        log = self._logs.open(bucket)
        if log.start_offset == 0:
            return None
        here = stored_snapshots(self._buckets.disk, self._buckets.kv_directory(bucket))
        if any(log.start_offset <= one.log_offset <= log.end_offset for one in here):
            return None
        return self._bring(bucket)

    async def _bring(self, bucket: TableBucket) -> None:
        log = self._logs.open(bucket)
        await self._learn(bucket)
        fit = [one for one in self._snapshots.of(bucket) if log.start_offset <= one.log_offset <= log.end_offset]
        if not fit:
            told = ", ".join(str(one.log_offset) for one in self._snapshots.of(bucket)) or "none"
            raise ErrorCode.KV_STORAGE.error(
                f"The state of {bucket} cannot be rebuilt: its log begins at offset {log.start_offset} here, and no "
                f"snapshot in {self._store.url} goes on behind that (there are: {told})."
            )
        newest = fit[-1]
        kv_directory = self._place(bucket).kv
        staging = await asyncio.to_thread(self._new_staging, bucket)
        try:
            metadata = await read_metadata(self._store, newest.metadata_path)
            extra = await self._fetch(metadata, kv_directory, staging)
        except (NotFoundError, ValueError) as wrong:
            raise ErrorCode.KV_STORAGE.error(
                f"Snapshot {newest.snapshot_id} of {bucket} cannot be read: {wrong}."
            ) from wrong
        pending = PendingSnapshot(
            disk=self._buckets.disk,
            directory=staging.parent,
            staging=staging,
            engine=_ROCKSDB,
            log_offset=metadata.log_offset,
            row_count=metadata.row_count or 0,
            live_bytes=sum(file.size_bytes for file in metadata.files),
            extra=extra,
            fill=lambda _: None,
        )
        await asyncio.to_thread(pending.write)
        told = "%s: its state goes on from snapshot %d, which holds the log up to offset %d"
        _log.info(told, bucket, newest.snapshot_id, metadata.log_offset)

    def _new_staging(self, bucket: TableBucket) -> Path:
        disk, directory = self._buckets.disk, self._buckets.kv_directory(bucket)
        disk.make_directory(directory)
        staging = new_staging(disk, directory)
        disk.make_directory(staging)
        return staging

    async def _fetch(self, metadata: SnapshotMetadata, kv_directory: str, staging: Path) -> Mapping[str, Any]:
        """Bring the files; what one of our servers has noted besides, nothing where it was another."""
        turns = asyncio.Semaphore(_PARALLEL)
        extra: Mapping[str, Any] = {}

        async def fetch(path: str, name: str) -> None:
            if "/" in name or name in {"", ".", ".."}:
                raise ValueError(f"'{name}' is no name of a file")
            async with turns:
                await self._store.get_file(path_in_store(path, kv_directory), staging / name)

        for file in metadata.own_files:
            if file.name == MANIFEST:
                extra = json.loads(await self._store.get(path_in_store(file.path, kv_directory)))["extra"]
        wanted = [fetch(file.path, file.name) for file in metadata.files if file.name != MANIFEST]
        for done in await asyncio.gather(*wanted, return_exceptions=True):
            if isinstance(done, BaseException):
                raise done
        return extra


def can_read_snapshots() -> bool:
    """Whether the library is there that reads the files of a RocksDB."""
    return find_spec("rocksdict") is not None
