"""SnapshotCopies: snapshots of state on their way into the store.

The files first, then the log up to the snapshot's offset, then `_METADATA`, then the metadata store: that is the
commit. So a snapshot that counts never knows more than the remote log, and what is rebuilt from both agrees. What it
makes superfluous is removed once a backup of the metadata no longer names it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.snapshot_metadata import SnapshotMetadata
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.books.kv_snapshots import KvSnapshots, RemoteSnapshot
from lakeward.server.remote.access.copy_trouble import CopyTrouble
from lakeward.server.remote.copies.snapshot_files import SnapshotFiles, Upload
from lakeward.storage.kv.store.held_snapshot import HeldSnapshot
from lakeward.storage.kv.store.snapshots import Snapshot

_log = logging.getLogger(__name__)
_PARALLEL = 2
_STOP_S = 5.0
_ROCKSDB = "rocksdb"
#: The bucket was dropped, its log was cut, or another server leads it: nobody will ever need the snapshot.
_USELESS = {
    ErrorCode.UNKNOWN_TABLE_OR_BUCKET,
    ErrorCode.LOG_OFFSET_OUT_OF_RANGE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
}


#: A commit that was sent and not answered: it may count.
_UNANSWERED = {ErrorCode.NETWORK, ErrorCode.REQUEST_TIME_OUT}


class SnapshotBook(Protocol):
    """Somebody else who decides which snapshots count."""

    @property
    def removes(self) -> bool:
        """Whether what does not count any more is removed there, too."""
        ...

    async def next_snapshot_id(self, bucket: TableBucket) -> int | None:
        """A number for a snapshot; None where the leader counts by itself."""
        ...

    async def tell_snapshot(
        self, bucket: TableBucket, committed: RemoteSnapshot, metadata: SnapshotMetadata
    ) -> list[RemoteSnapshot]:
        """Let a snapshot count from now on; those of the bucket that are kept then."""
        ...


class RemoteLog(Protocol):
    """What is asked of the remote log."""

    def place(self, bucket: TableBucket) -> BucketPlace:
        """A bucket by all its names; it must exist."""
        ...

    async def copy_up_to(self, bucket: TableBucket, offset: int) -> None:
        """Wait until the log is in remote storage up to an offset."""
        ...


@dataclass(slots=True)
class SnapshotCounts:
    """What has been done since the start."""

    snapshots: int = 0
    bytes: int = 0
    shared_bytes: int = 0
    removed: int = 0


class SnapshotCopies:
    """Brings the newest snapshot of each bucket to remote storage, in the background. Belongs to the event loop."""

    def __init__(
        self,
        store: RemoteStore,
        snapshots: KvSnapshots,
        log: RemoteLog,
        keep: Callable[[], int],
        settled: Callable[[], Awaitable[None]],
        clock: Clock,
        entropy: Entropy,
        pace: Pace | None = None,
        convert: Callable[[Snapshot], Snapshot] | None = None,
        book: SnapshotBook | None = None,
        *,
        sweeps: bool = True,
    ) -> None:
        """`keep` tells how many snapshots are retained, `settled` waits for a backup of the metadata.

        `convert` gives a snapshot another form before it is copied; it takes long. `book` is that of a coordinator
        elsewhere. Who `sweeps` removes what nothing names.
        """
        self._store = store
        self._snapshots = snapshots
        self._log = log
        self._keep = keep
        self._settled = settled
        self._clock = clock
        self._entropy = entropy
        self._pace = pace
        self._convert = convert
        self._book = book
        self._sweeps = sweeps
        self._loop = asyncio.get_running_loop()
        self._queue: dict[TableBucket, HeldSnapshot] = {}
        self._tasks: dict[TableBucket, asyncio.Task[None]] = {}
        self._removals: set[asyncio.Task[None]] = set()
        self._files: dict[TableBucket, SnapshotFiles] = {}
        self._told: set[TableBucket] = set()
        self._not_before_s = 0.0
        self._is_stopped = False
        self.trouble = CopyTrouble(f"copies of snapshots to {store.url}", clock.monotonic)
        self.counts = SnapshotCounts()

    # -- which buckets

    def on_snapshot(self, bucket: TableBucket, snapshot: Snapshot) -> None:
        """A snapshot was written. To be called on the thread that wrote it, so that it is still there."""
        held = HeldSnapshot(snapshot)
        self._loop.call_soon_threadsafe(self.add, bucket, held)

    def add(self, bucket: TableBucket, held: HeldSnapshot) -> None:
        """Copy a snapshot when it is its turn; one of the same bucket that still waits is not needed any more."""
        before = self._queue.pop(bucket, None)
        if before is not None:
            before.release()
        self._queue[bucket] = held
        self._begin()

    def look(self) -> Iterator[object]:
        """Begin what is due, and remove snapshots that neither number nor lease keeps any more."""
        self._begin()
        if self._book is not None:
            return  # it is told with every commit what is not needed any more
        keep = self._keep()
        for bucket in self._snapshots.buckets():
            if bucket not in self._tasks:
                gone = self._snapshots.prune(bucket, keep)
                if gone:
                    self._remove_later(bucket, gone)
            yield bucket

    def _begin(self) -> None:
        if self._is_stopped or self._clock.monotonic() < self._not_before_s:
            return
        for bucket in list(self._queue):
            if len(self._tasks) >= _PARALLEL:
                return
            if bucket not in self._tasks:
                task = self._loop.create_task(self._bring(bucket, self._queue.pop(bucket)))
                self._tasks[bucket] = task
                task.add_done_callback(lambda _, bucket=bucket: self._on_end(bucket))  # type: ignore[misc]

    def _on_end(self, bucket: TableBucket) -> None:
        self._tasks.pop(bucket, None)
        self._begin()

    @property
    def waiting(self) -> int:
        """Buckets whose newest snapshot is not in remote storage yet."""
        return len(self._queue.keys() | self._tasks.keys())

    def forget(self, buckets: Collection[TableBucket]) -> list[asyncio.Task[None]]:
        """Let go of buckets that were dropped; the work that is ending."""
        tasks = [self._tasks[bucket] for bucket in buckets if bucket in self._tasks]
        for bucket in buckets:
            held = self._queue.pop(bucket, None)
            if held is not None:
                held.release()
            self._files.pop(bucket, None)
            self._told.discard(bucket)
        for task in tasks:
            task.cancel()
        return tasks

    async def stop(self) -> None:
        """Begin nothing more and let go of what is under way; the next start finds it."""
        self._is_stopped = True
        tasks = [*self._tasks.values(), *self._removals]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_S)

    # -- one bucket

    async def _bring(self, bucket: TableBucket, held: HeldSnapshot) -> None:
        try:
            await self._copy(bucket, held.snapshot)
        except asyncio.CancelledError:
            held.release()
            raise
        except Exception as wrong:  # noqa: BLE001 - one bucket's trouble must not end the copies of others
            self._on_failure(bucket, held, wrong)
        else:
            held.release()
            self._told.discard(bucket)
            self.trouble.note_success()

    def _on_failure(self, bucket: TableBucket, held: HeldSnapshot, wrong: Exception) -> None:
        is_useless = isinstance(wrong, LakewardError) and wrong.code in _USELESS
        if is_useless or bucket in self._queue:  # where a newer one waits
            held.release()
        else:
            self._queue[bucket] = held
        if is_useless:
            return
        pause_s = self.trouble.note_failure(wrong)
        self._not_before_s = self._clock.monotonic() + pause_s
        self._loop.call_later(pause_s, self._begin)
        if not isinstance(wrong, LakewardError | OSError) and bucket not in self._told:
            self._told.add(bucket)
            _log.error("The snapshot of %s could not be copied and will be tried again", bucket, exc_info=wrong)

    async def _copy(self, bucket: TableBucket, snapshot: Snapshot) -> None:
        latest = self._snapshots.latest(bucket)
        if latest is not None and latest.log_offset >= snapshot.log_offset:
            return
        directory = self._log.place(bucket).kv
        files = self.files(bucket)
        await files.learn(self._snapshots.of(bucket))
        if self._book is not None and self._book.removes:
            files.know_only(self._snapshots.of(bucket))
        if self._sweeps and not files.is_swept:
            await self._settled()
            await files.sweep(self._snapshots.of(bucket))
        if self._convert is not None:
            snapshot = await asyncio.to_thread(self._convert, snapshot)
        snapshot_id = await self._next_id(bucket)
        uploaded = await files.upload(snapshot, snapshot_id, self._entropy, self._pace)
        try:
            await self._log.copy_up_to(bucket, snapshot.log_offset)
            path = await files.seal(uploaded, snapshot)
            self._log.place(bucket)  # it may have been dropped meanwhile
        except BaseException:
            await files.discard(uploaded.new_paths)
            raise
        await self._commit(bucket, files, uploaded, path, is_rocksdb=snapshot.engine == _ROCKSDB)
        _log.debug("snapshot %d of %s is in %s", snapshot_id, bucket, directory)

    async def _next_id(self, bucket: TableBucket) -> int:
        given = None if self._book is None else await self._book.next_snapshot_id(bucket)
        return self._snapshots.next_id(bucket) if given is None else given

    async def _commit(
        self, bucket: TableBucket, files: SnapshotFiles, uploaded: Upload, path: str, *, is_rocksdb: bool
    ) -> None:
        metadata = uploaded.metadata
        committed = RemoteSnapshot(metadata.snapshot_id, metadata.log_offset, path, is_rocksdb)
        try:
            if self._book is None:
                gone = self._snapshots.commit(bucket, committed, self._keep())
            else:
                gone = self._snapshots.learn(bucket, await self._book.tell_snapshot(bucket, committed, metadata))
        except Exception as wrong:
            if not isinstance(wrong, LakewardError) or wrong.code not in _UNANSWERED:
                await files.discard(uploaded.new_paths)
            raise
        if self._book is None or not self._book.removes:
            self._remove_later(bucket, gone)
        self.counts.snapshots += 1
        self.counts.bytes += metadata.incremental_bytes
        self.counts.shared_bytes += sum(file.size_bytes for file in metadata.files) - metadata.incremental_bytes

    def files(self, bucket: TableBucket) -> SnapshotFiles:
        """The bucket's files in the store."""
        found = self._files.get(bucket)
        if found is None:
            found = self._files[bucket] = SnapshotFiles(self._store, self._log.place(bucket).kv, bucket)
        return found

    # -- removing

    def _remove_later(self, bucket: TableBucket, gone: list[RemoteSnapshot]) -> None:
        if gone:
            task = self._loop.create_task(self._remove(bucket, gone))
            self._removals.add(task)
            task.add_done_callback(self._removals.discard)

    async def _remove(self, bucket: TableBucket, gone: list[RemoteSnapshot]) -> None:
        files = self.files(bucket)
        try:
            await self._settled()
            await files.remove(gone, self._snapshots.of(bucket))
            self.counts.removed += len(gone)
        except Exception as wrong:  # noqa: BLE001 - the next sweep finds what is left
            files.sweep_again()
            _log.debug("superfluous snapshots of %s stay for now: %s", bucket, wrong)
