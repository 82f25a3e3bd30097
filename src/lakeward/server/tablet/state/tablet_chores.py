"""TabletChores: what is done to logs and states by the clock: checkpoints, retention, compaction, snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from lakeward.model.bucket import TableBucket
from lakeward.options import table as rows
from lakeward.runtime.clock import Clock
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.chore_failures import log_failures
from lakeward.server.tablet.state.states import States
from lakeward.storage.log.log_tablet import LogTablet

if TYPE_CHECKING:
    from lakeward.storage.kv.kv_tablet import KvTablet

#: So many changes take a noticeable part of a second to be played back.
_MANY_CHANGES = 200_000
#: So many bytes are written within a few seconds: who stops a server does not wait for long.
_LAST_BYTES_MAX = 1 << 30

LakeFloor = Callable[[TableBucket], int | None]


class TabletChores:
    """Each chore goes bucket by bucket where that may take long; the caller decides how many at a time."""

    def __init__(
        self,
        buckets: Buckets,
        logs: Logs,
        states: States,
        busy: BusyBuckets,
        clock: Clock,
        lake_floor: LakeFloor,
        on_loop: Callable[[Callable[[], None]], object],
    ) -> None:
        """`lake_floor` tells up to where the lake has a bucket whose rows belong there, None for all others;
        `on_loop` brings work from a thread back to the loop."""
        self._buckets = buckets
        self._logs = logs
        self._states = states
        self._busy = busy
        self._clock = clock
        self._lake_floor = lake_floor
        self._on_loop = on_loop
        self._compacted_ms: dict[TableBucket, int] = {}
        self._state_floor: LakeFloor = lambda _: None
        #: How often a changelog has become smaller, and by how much in all.
        self.compactions = self.compaction_freed_bytes = 0

    def keep_for_states(self, floor: LakeFloor) -> None:
        """From where on a log must be kept whose state is not open here: another server leads it, and has told so."""
        self._state_floor = floor

    def checkpoint(self) -> None:
        """Have every log that changed synced and noted."""
        for _, log in self._logs.all():
            log.checkpoint()

    # -- retention

    def retain(self) -> Iterator[object]:
        """Let go of what is too old, by the options as they are now."""
        self._logs.refresh_settings()
        now_ms = self._clock.settled_ms()
        for bucket in list(self._buckets.all()):
            log = self._logs.find(bucket)
            if log is None:
                if not self._buckets.exists(bucket) or not self._has_old_segments(bucket):
                    continue
                log = self._logs.open(bucket)
            self._retain(bucket, log, now_ms, self._lake_floor)
            yield bucket

    def retain_copied(self, bucket: TableBucket) -> None:
        """Let go of what is too old in a log that has been copied."""
        log = self._logs.find(bucket)
        if log is not None:
            self._retain(bucket, log, self._clock.settled_ms(), lambda _: None)

    def _retain(self, bucket: TableBucket, log: LogTablet, now_ms: int, lake_floor: LakeFloor) -> None:
        state = self._states.find(bucket)
        kept_from = None if state is None else state.retained_offset
        if state is None and self._buckets.has_primary_key(bucket.table_id):
            kept_from = self._state_floor(bucket)
            if kept_from is None:
                return  # nobody has touched it since the start: its log may still be needed to rebuild its state
        with log_failures("Retention", self._buckets, bucket, log.directory):
            # What has been copied to remote storage is there for the lake, too.
            in_lake = lake_floor(bucket) if log.copied_offset is None else None
            floors = (kept_from, in_lake)
            log.retain(now_ms, min((floor for floor in floors if floor is not None), default=None))

    def _has_old_segments(self, bucket: TableBucket) -> bool:
        """Whether a log that is not open could have anything to delete: a lone segment never goes."""
        disk, directory = self._buckets.disk, self._buckets.log_directory(bucket)
        return len(disk.glob(directory, "*.log")) > 1 or bool(disk.glob(directory, "*.deleted"))

    # -- states

    def compact(self) -> Iterator[object]:
        """Have changelogs compacted whose table wants it and whose time has come."""
        now_ms = self._clock.now_ms()
        for bucket, state in self._states.all():
            table = self._buckets.table_by_id(bucket.table_id)
            if table is None:
                continue
            interval_ms = rows.LOG_COMPACTION_INTERVAL.read(table.descriptor.properties)
            if now_ms - self._compacted_ms.get(bucket, 0) >= interval_ms:
                self._compacted_ms[bucket] = now_ms
                with log_failures("Compaction of the log", self._buckets, bucket, state.log.directory):
                    state.compact_log(self._on_loop, self._count_compaction)
            yield bucket

    def _count_compaction(self, freed_bytes: int) -> None:
        self.compactions += 1
        self.compaction_freed_bytes += freed_bytes

    def snapshot(self) -> Iterator[object]:
        """Have the state of every bucket written that has changed."""
        for bucket, state in self._states.all():
            if state.snapshot_is_due and bucket not in self._busy:
                self._busy.begin(bucket, self._snapshot(bucket, state))
            yield bucket

    def last_snapshots(self) -> None:
        """Have states written that would take long to come back, before the server stops; the largest gain first."""
        behind = {bucket: state.log.end_offset - max(0, state.snapshot_offset) for bucket, state in self._states.all()}
        left_bytes = _LAST_BYTES_MAX
        for bucket, state in sorted(self._states.all(), key=lambda one: -behind[one[0]]):
            fits = behind[bucket] >= _MANY_CHANGES and state.live_bytes <= left_bytes
            if fits and state.snapshot_is_due and bucket not in self._busy:
                left_bytes -= state.live_bytes
                told = partial(log_failures, "The snapshot", self._buckets, bucket, state.directory)
                with told():
                    state.write_snapshot(state.begin_snapshot()(), told)

    async def _snapshot(self, bucket: TableBucket, state: KvTablet) -> None:
        """The bucket waits until its state is held, not until it is written."""
        told = partial(log_failures, "The snapshot", self._buckets, bucket, state.directory)
        with told():
            pending = await self._busy.on_thread(state.begin_snapshot())
            state.write_snapshot(pending, told)
