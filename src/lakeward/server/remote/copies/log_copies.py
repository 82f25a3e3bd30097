"""LogCopies: closed segments on their way into the store.

Data first, then the manifest, then the pointer in the metadata store: that is the commit. After it segments may go
here, and what the manifest no longer names may go there. A crash at any moment leaves the last commit, and files that
nothing names; they are removed when the bucket is copied for the first time again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.layout import manifest_file
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.archive.remote_logs import RemoteLogs, RemotePointer
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.remote.access.copy_trouble import CopyTrouble
from lakeward.server.remote.copies.log_expiry import expired_segments
from lakeward.server.remote.copies.remote_garbage import RemoteGarbage
from lakeward.server.remote.copies.segment_upload import upload
from lakeward.storage.log.log_tablet import ClosedSegment, LogTablet
from lakeward.storage.log.replica_log import ReplicaLog

_log = logging.getLogger(__name__)
#: Not one bucket's trouble: the store fails, or it belongs to another server now.
_OF_THE_STORE = {ErrorCode.STORAGE, ErrorCode.FENCED_LEADER_EPOCH}


@dataclass(frozen=True, slots=True)
class CopyLimits:
    """How much at a time."""

    parallel: int = 4
    segments: int = 5
    pace: Pace | None = None
    #: Age at which a segment is closed to be copied; None leaves that to its size.
    sync_ms: int | None = None
    #: Whether what nothing names is removed: only where nobody else may be copying.
    sweeps: bool = True


@dataclass(slots=True)
class CopyCounts:
    """What has been done since the start."""

    segments: int = 0
    bytes: int = 0
    expired: int = 0


#: A commit that was sent and not answered.
_OF_THE_COORDINATOR = {ErrorCode.NETWORK, ErrorCode.REQUEST_TIME_OUT}


class LogCopies:
    """Brings what is remote of each bucket up to date, in the background."""

    def __init__(
        self,
        buckets: Buckets,
        local: Logs,
        logs: RemoteLogs,
        store: RemoteStore,
        garbage: RemoteGarbage,
        limits: CopyLimits,
        clock: Clock,
        entropy: Entropy,
        floor_of: Callable[[TableBucket], int | None],
        retain: Callable[[TableBucket], None],
        settled: Callable[[], Awaitable[object]],
    ) -> None:
        """`floor_of` tells from where on a bucket's log must be kept, `retain` lets go of what is too old here;
        `settled` waits until closed files are synced."""
        self._buckets = buckets
        self._local = local
        self._logs = logs
        self._store = store
        self._garbage = garbage
        self._limits = limits
        self._clock = clock
        self._entropy = entropy
        self._floor_of = floor_of
        self._retain = retain
        self._settled = settled
        self._queue: dict[TableBucket, None] = {}
        self._tasks: dict[TableBucket, asyncio.Task[None]] = {}
        self._swept: set[TableBucket] = set()
        self._told: set[TableBucket] = set()
        self._awaited: dict[TableBucket, list[asyncio.Future[None]]] = {}
        #: Base offsets and sizes of logs that were not in use when they were looked at.
        self.at_rest: dict[TableBucket, list[tuple[int, int]]] = {}
        #: Where those of them end that have more than was copied.
        self.ends_at_rest: dict[TableBucket, int] = {}
        self._not_before_s = 0.0
        self._is_stopped = False
        self.trouble = CopyTrouble(f"copies to {store.url}", clock.monotonic)
        self.counts = CopyCounts()

    # -- which buckets

    def look(self) -> Iterator[object]:
        """Find logs in use that have something to copy or to expire; the caller decides how many at a time."""
        now_ms = self._clock.now_ms()
        for bucket, log in self._local.all():
            if self._roll_is_due(log, now_ms):
                log.roll(now_ms)
            if self.is_due(bucket, log, now_ms):
                self._queue[bucket] = None
            yield bucket
        self._begin()
        self._garbage.collect()

    def _roll_is_due(self, log: LogTablet, now_ms: int) -> bool:
        since_ms = log.active_since_ms
        return self._limits.sync_ms is not None and since_ms is not None and now_ms - since_ms >= self._limits.sync_ms

    def is_due(self, bucket: TableBucket, log: ReplicaLog, now_ms: int) -> bool:
        """Whether there is something to do for a bucket."""
        kept = self._kept_end(bucket, log)
        if kept is None:
            return False
        if min(log.active_offset, kept) > max(self._logs.remote_end(bucket), log.start_offset):
            return True
        pointer = self._logs.pointers.get(bucket)
        if pointer is None or pointer.oldest_timestamp is None:
            return False
        settings = log.settings
        too_old = 0 < settings.ttl_ms < now_ms - pointer.oldest_timestamp
        too_much = 0 <= settings.retention_bytes < pointer.size_in_bytes
        return too_old or too_much

    def _kept_end(self, bucket: TableBucket, log: ReplicaLog) -> int | None:
        """Up to where rows are certain to be kept; None where another server leads, whose business the copies are."""
        try:
            return self._buckets.replication.visible_end(bucket, log)
        except LakewardError:
            return None

    def look_at_rest(self) -> Iterator[object]:
        """The same for logs that are not in use; those that have something to do are opened."""
        now_ms = self._clock.now_ms()
        for bucket in list(self._buckets.all()):
            self.at_rest.pop(bucket, None)
            self.ends_at_rest.pop(bucket, None)
            if self._local.find(bucket) is None and self._buckets.exists(bucket):
                self._look_at_rest(bucket, now_ms)
            yield bucket

    def _look_at_rest(self, bucket: TableBucket, now_ms: int) -> None:
        segments = self._buckets.segments_on_disk(bucket)
        if segments:
            self.at_rest[bucket] = segments
        pointer = self._logs.pointers.get(bucket)
        oldest_ms = None if pointer is None else pointer.oldest_timestamp
        expires = oldest_ms is not None and 0 < self._local.settings(bucket).ttl_ms < now_ms - oldest_ms
        copied = self._logs.remote_end(bucket)
        if expires or (len(segments) > 1 and segments[-1][0] > copied):
            self._local.open(bucket)  # from now on it is in use
        elif any(size and base >= copied for base, size in segments):
            self._note_end(bucket)

    def _note_end(self, bucket: TableBucket) -> None:
        """Rows of a log at rest were not copied: how far it goes is told; it is opened if their time has come, or if
        nobody has noted it."""
        facts = self._buckets.facts_on_disk(bucket)
        if self._limits.sync_ms is not None or facts is None or not facts.is_closed:
            self._local.open(bucket)
        else:
            self.ends_at_rest[bucket] = facts.end_offset

    def want(self, bucket: TableBucket) -> None:
        """Copy a bucket as soon as it is its turn."""
        self._queue[bucket] = None
        self._begin()

    async def copy_up_to(self, bucket: TableBucket, offset: int) -> None:
        """Have everything below an offset copied and committed, rows that were just written included."""
        while self._logs.remote_end(bucket) < offset:
            log = self._local.open(bucket)
            assert offset <= log.end_offset
            if log.active_offset < offset:
                log.roll(self._clock.now_ms())
            ended = asyncio.get_running_loop().create_future()
            self._awaited.setdefault(bucket, []).append(ended)
            self.want(bucket)
            await ended

    def _tell(self, bucket: TableBucket, wrong: Exception | None) -> None:
        for waiting in self._awaited.pop(bucket, ()):
            if waiting.done():
                continue
            if wrong is None:
                waiting.set_result(None)
            else:
                waiting.set_exception(wrong)

    def _begin(self) -> None:
        if self._is_stopped or self._clock.monotonic() < self._not_before_s:
            return
        limit = 1 if self.trouble.is_there else self._limits.parallel
        for bucket in list(self._queue):
            if len(self._tasks) >= limit:
                return
            if bucket not in self._tasks:
                del self._queue[bucket]
                task = asyncio.get_running_loop().create_task(self._bring(bucket))
                self._tasks[bucket] = task
                task.add_done_callback(lambda _, bucket=bucket: self._on_end(bucket))  # type: ignore[misc]

    def _on_end(self, bucket: TableBucket) -> None:
        self._tasks.pop(bucket, None)
        self._begin()

    def forget(self, buckets: Collection[TableBucket]) -> list[asyncio.Task[None]]:
        """Begin nothing more with buckets that were dropped; the work on them that is still under way."""
        for bucket in buckets:
            self._queue.pop(bucket, None)
            self._tell(bucket, ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"{bucket} has been dropped."))
        return [task for bucket, task in self._tasks.items() if bucket in buckets]

    async def stop(self) -> None:
        """Begin nothing more and let go of what is under way; the next start finds it."""
        self._is_stopped = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for bucket in list(self._awaited):
            self._tell(bucket, ErrorCode.STORAGE.error("The server is being stopped."))

    @property
    def waiting(self) -> int:
        """Buckets that have something to copy, or are being copied."""
        return len(self._queue.keys() | self._tasks.keys())

    # -- one bucket

    async def _bring(self, bucket: TableBucket) -> None:
        try:
            is_done = await self._up_to_date(bucket)
        except LakewardError as wrong:
            self._on_failure(bucket, wrong)
            self._tell(bucket, wrong)
        except Exception as wrong:  # noqa: BLE001 - one bucket's trouble must not end the copies of others
            self._say_once(bucket, wrong)
            self._tell(bucket, ErrorCode.LOG_STORAGE.error(f"{bucket} could not be copied: {wrong!r}."))
        else:
            self._tell(bucket, None)
            self._told.discard(bucket)
            if not is_done:
                self._queue[bucket] = None

    def _on_failure(self, bucket: TableBucket, wrong: LakewardError) -> None:
        if not self._buckets.exists(bucket):
            return
        if wrong.code in _OF_THE_STORE:
            pause_s = self.trouble.note_failure(wrong)
            self._not_before_s = self._clock.monotonic() + pause_s
            self._queue[bucket] = None
            asyncio.get_running_loop().call_later(pause_s, self._begin)
        else:
            self._say_once(bucket, wrong)

    def _say_once(self, bucket: TableBucket, wrong: Exception) -> None:
        if bucket not in self._told:
            self._told.add(bucket)
            is_known = isinstance(wrong, LakewardError | OSError)
            _log.error("%s could not be copied and will be tried again: %s", bucket, wrong, exc_info=not is_known)

    async def _up_to_date(self, bucket: TableBucket) -> bool:
        """Copy some segments, expire others, commit; whether nothing is left to do."""
        log = self._local.open(bucket)
        manifest = await self._logs.manifest(bucket)
        pointer = self._logs.pointers.get(bucket)
        kept = self._kept_end(bucket, log)
        if kept is None:
            return True
        if bucket not in self._swept and self._limits.sweeps:
            await self._garbage.sweep(manifest, None if pointer is None else pointer.remote_log_manifest_path)
            self._swept.add(bucket)
        before = manifest
        manifest = self._without_gap(bucket, manifest, log)
        closed = takewhile(lambda one: one.end_offset <= kept, log.closed_behind(manifest.copied_end_offset))
        candidates = list(islice(closed, self._limits.segments + 1))
        copied, wrong = await self._copy(log, manifest, candidates[: self._limits.segments])
        manifest = manifest.with_segments(copied)
        manifest = manifest.without_first(self._expired_count(bucket, manifest, log))
        if manifest != before:
            await self._commit(bucket, manifest, before, [segment.segment_id for segment in copied], pointer)
            if wrong is None:
                self.trouble.note_success()
        self._retain(bucket)
        if wrong is not None:
            raise wrong
        return len(candidates) <= self._limits.segments

    @staticmethod
    def _without_gap(bucket: TableBucket, manifest: LogManifest, log: LogTablet) -> LogManifest:
        """Rows may have left this machine while nothing was copied: what lies before them cannot be read on from."""
        if not manifest.segments or manifest.end_offset >= log.start_offset:
            return manifest
        _log.warning(
            "%s: offsets %d to %d are neither here nor in remote storage; the remote log begins anew behind them",
            bucket,
            manifest.end_offset,
            log.start_offset,
        )
        return replace(manifest, segments=())

    async def _copy(
        self, log: LogTablet, manifest: LogManifest, wanted: list[ClosedSegment]
    ) -> tuple[list[RemoteSegment], Exception | None]:
        """Copy segments one after the other; those that succeeded, and what stopped the rest."""
        copied: list[RemoteSegment] = []
        if not wanted:
            return copied, None
        await self._settled()
        directory = manifest.place.log
        for closed in wanted:
            segment_id = str(self._entropy.uuid())
            held = log.hold(closed, segment_id)
            if held is None:
                break
            try:
                copied.append(await upload(self._store, directory, segment_id, held, self._limits.pace))
            except Exception as wrong:  # noqa: BLE001 - what succeeded before is committed, then it is raised
                self._garbage.discard_now(directory, [segment_id])
                return copied, wrong
            finally:
                await asyncio.to_thread(held.release)  # the last link of a large file takes its time
            self.counts.segments += 1
            self.counts.bytes += held.size_bytes
        return copied, None

    def _expired_count(self, bucket: TableBucket, manifest: LogManifest, log: LogTablet) -> int:
        only_here = log.bytes_from(manifest.copied_end_offset)
        floor = self._floor_of(bucket)
        return expired_segments(manifest, log.settings, self._clock.settled_ms(), only_here, floor)

    async def _commit(
        self,
        bucket: TableBucket,
        manifest: LogManifest,
        before: LogManifest,
        copied: list[str],
        pointer: RemotePointer | None,
    ) -> None:
        directory = manifest.place.log
        manifest_id = str(self._entropy.uuid())
        path = manifest_file(directory, manifest_id)
        try:
            await self._store.put(path, manifest.to_json())
            self._buckets.table(bucket)  # it may have been dropped meanwhile
            if self._logs.pointers.get(bucket) != pointer:
                raise ErrorCode.LOG_STORAGE.error(
                    f"Another server has copied {bucket} meanwhile; it goes on from there."
                )
            await self._logs.register(bucket, manifest, path)
        except Exception as wrong:
            if isinstance(wrong, LakewardError) and wrong.code in _OF_THE_COORDINATOR:
                raise  # whether it counts is not known: what is not named is found by the next sweep
            self._garbage.discard_now(directory, copied, manifest_id)
            raise
        named = {segment.segment_id for segment in manifest.segments}
        gone = [one.segment_id for one in before.segments if one.segment_id not in named]
        gone += [one for one in copied if one not in named]
        self.counts.expired += len(gone)
        self._garbage.discard_later(directory, None if pointer is None else pointer.remote_log_manifest_path, gone)
        log = self._local.find(bucket)
        if log is not None and log.copied_offset is not None:
            log.note_copy(manifest.copied_end_offset)
