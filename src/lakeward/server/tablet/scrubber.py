"""Scrubber: reads cold files again and again, slowly, so that rot is found while there is still a copy elsewhere.

Closed segments of logs, and snapshots of states. A snapshot that is damaged costs nothing as long as the server runs,
and the next one takes its place; that it is told makes somebody look at the disk.

A thread of its own reads; it never takes more than the rate allows, nor more than a twentieth of its time. What it
finds is looked at once more on the loop, told once, and served as an error from then on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import Executor
from itertools import pairwise
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.runtime.clock import Clock
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.storage.kv.store.snapshots import damaged_snapshots
from lakeward.storage.log.segment.segment_walk import SegmentWalk, damage_of

_log = logging.getLogger(__name__)
_SHARE = 20


class Scrubber:
    """Walks over all closed segments of all buckets, and begins again."""

    def __init__(
        self, buckets: Buckets, logs: Logs, thread: Executor, clock: Clock, rate: int, interval_ms: int
    ) -> None:
        self._buckets = buckets
        self._logs = logs
        self._rate = rate
        self._interval_s = interval_ms / 1000
        self._thread = thread
        self._clock = clock
        self._stopped = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._read_at = self._clock.monotonic()
        self.bytes_read = 0
        #: Snapshots that are not as they were written, as of the last look at their bucket.
        self._damaged: dict[TableBucket, tuple[Path, ...]] = {}

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Go on until it is stopped; a rate of nothing switches it off."""
        if self._rate > 0:
            self._task = loop.create_task(self._repeat(), name="scrubber")

    async def stop(self) -> None:
        """End it within a piece."""
        self._stopped.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._thread.shutdown(wait=True)

    def damage_found(self) -> list[Path]:
        """The snapshots that were found damaged."""
        return [path for paths in self._damaged.values() for path in paths]

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            for bucket in list(self._buckets.all()):
                try:
                    await self.scrub(bucket)
                except (LakewardError, OSError) as wrong:  # dropped meanwhile, or the disk fails: its next turn comes
                    _log.debug("%s was not scrubbed: %s", bucket, wrong)
                except Exception:  # noqa: BLE001 - one bucket must not end the scrubbing of others
                    _log.exception("%s could not be scrubbed; it will be tried again", bucket)

    async def scrub(self, bucket: TableBucket) -> None:
        """Read the closed segments and the snapshots of a bucket."""
        if not self._buckets.exists(bucket):
            self._damaged.pop(bucket, None)
            return
        await self._scrub_snapshots(bucket)
        for path, base, end in self._closed_files(bucket):
            walk = SegmentWalk(self._buckets.disk, path, base, end, pause=self._pause)
            found = await asyncio.get_running_loop().run_in_executor(self._thread, damage_of, walk, path)
            if not found:
                continue
            log = self._logs.open(bucket)
            if any(one.base_offset == base for one in log.closed_files()):  # and not deleted meanwhile
                for one in found:
                    log.isolate(one.first, one.first)

    async def _scrub_snapshots(self, bucket: TableBucket) -> None:
        """What is found twice is true: a snapshot may be removed while it is read."""
        disk, directory = self._buckets.disk, self._buckets.kv_directory(bucket)
        if not disk.exists(directory):
            return
        look = asyncio.get_running_loop().run_in_executor
        found = await look(self._thread, damaged_snapshots, disk, directory, self._pause)
        if found:
            again = await look(self._thread, damaged_snapshots, disk, directory, self._pause)
            found = [path for path in found if path in again]
        known = self._damaged.get(bucket, ())
        for path in found:
            if path not in known:
                _log.error(
                    "The snapshot %s is not as it was written. The one before it and the log are used, and the next "
                    "snapshot replaces it. Look at the disk.",
                    path,
                )
        if found:
            self._damaged[bucket] = tuple(found)
        else:
            self._damaged.pop(bucket, None)

    def _closed_files(self, bucket: TableBucket) -> list[tuple[Path, int, int]]:
        log = self._logs.find(bucket)
        if log is not None:
            return [(one.path, one.base_offset, one.end_offset) for one in log.closed_files()]
        paths = self._buckets.disk.glob(self._buckets.log_directory(bucket), "*.log")
        return [(path, int(path.stem), int(following.stem)) for path, following in pairwise(paths)]

    def _pause(self, size: int) -> None:
        """Wait on the thread that reads, so that others have the disk and the processor."""
        self.bytes_read += size
        worked_s = self._clock.monotonic() - self._read_at
        self._stopped.wait(max(size / self._rate, (_SHARE - 1) * worked_s))
        self._read_at = self._clock.monotonic()
        if self._stopped.is_set():
            raise OSError("the server is being stopped")
