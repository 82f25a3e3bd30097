"""RemoteLogService: the parts of the remote log put together, for the node."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from lakeward.model.bucket import TableBucket
from lakeward.options import server as rows
from lakeward.remote.formats.layout import LOGS, table_inner
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.archive.remote_indexes import RemoteIndexes
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.archive.remote_reads import RemoteReads
from lakeward.server.catalog import events
from lakeward.server.chores.housekeeping import Housekeeping
from lakeward.server.remote.copies.log_copies import CopyLimits, LogCopies
from lakeward.server.remote.copies.log_status import RemoteLogStatus
from lakeward.server.remote.copies.remote_garbage import RemoteGarbage
from lakeward.server.remote.this_server import ThisServer

_log = logging.getLogger(__name__)
_LOOK_MS_MAX = 1000
_GARBAGE_MS = 60_000


class RemoteLogService:
    """Copies logs to the store, and answers what is there."""

    def __init__(self, server: ThisServer, store: RemoteStore, logs: RemoteLogs) -> None:
        self._server = server
        self._work = server.work
        self.logs = logs
        options, clock = server.options, server.clock
        indexes = RemoteIndexes(store, options.get(rows.REMOTE_INDEX_CACHE))
        self.garbage = RemoteGarbage(server.metadata, store, clock, options.get(rows.LOG_DELETE_DELAY))
        self.reads = RemoteReads(logs, indexes, store, server.wake)
        rate = options.get(rows.REMOTE_LOG_RATE)
        limits = CopyLimits(
            parallel=options.get(rows.REMOTE_LOG_COPIES),
            segments=options.get(rows.REMOTE_LOG_SEGMENTS),
            pace=Pace(rate, clock) if rate else None,
            sync_ms=options.get(rows.REMOTE_LOG_SYNC),
            sweeps=not server.work.is_shared,
        )
        self.copies = LogCopies(
            server.buckets,
            server.logs,
            logs,
            store,
            self.garbage,
            limits,
            clock,
            server.entropy,
            self._floor,
            server.retain,
            server.settle,
        )
        self.status = RemoteLogStatus(server.catalog, server.logs, logs, self.copies, self.garbage, clock)
        self._is_first = True
        if self._work.decides:
            self._drop_what_is_gone()

    def _floor(self, bucket: TableBucket) -> int | None:
        """From where on a bucket's log must be kept: the lake has not read on, or state is rebuilt from there."""
        floors = [self._server.lake_floor(bucket)]
        if self._server.buckets.has_primary_key(bucket.table_id):
            floors.append(self._server.kv_snapshots.needed_from(bucket) or 0)
        return min((floor for floor in floors if floor is not None), default=None)

    def begin(self, chores: Housekeeping) -> None:
        """Copy from now on, in the background."""
        options = self._server.options
        interval_ms = options.get(rows.REMOTE_LOG_INTERVAL)
        if not interval_ms or not self._work.copies:
            chores.every(_GARBAGE_MS, "what is remote of dropped tables", self.garbage.collect)
            return
        sync_ms = options.get(rows.REMOTE_LOG_SYNC)
        if sync_ms is not None:
            interval_ms = min(interval_ms, _LOOK_MS_MAX, max(sync_ms // 2, 1))
        chores.every(interval_ms, "copies of logs", self.copies.look)
        chores.every(min(interval_ms, _LOOK_MS_MAX), "logs at rest at the start", self._first_look)
        chores.every(options.get(rows.LOG_RETENTION_CHECK_INTERVAL), "logs at rest", self.copies.look_at_rest)

    def _first_look(self) -> Iterator[object] | None:
        if not self._is_first or not any(True for _ in self._server.buckets.all()):
            return None  # a tablet server may not have been told of any yet
        self._is_first = False
        return self.copies.look_at_rest()

    # -- what happens to tables

    def hear(self, event: events.Event) -> None:
        """A table or partition may have been dropped: what is remote of it goes, too."""
        match event:
            case events.TableDropped():
                path = event.table.path
                inner = table_inner(path.database, path.table, event.table.table_id)
            case events.PartitionDropped():
                path, partition = event.table.path, event.partition
                inner = table_inner(
                    path.database, path.table, event.table.table_id, partition.name, partition.partition_id
                )
            case _:
                return
        buckets = set(event.buckets)
        under_way = self.copies.forget(buckets)
        if self._work.decides:
            self.garbage.drop(f"{LOGS}/{inner}", under_way)
        self.logs.forget(buckets)

    def _drop_what_is_gone(self) -> None:
        """A crash may have come between a drop and what had to be noted of it."""
        catalog = self._server.catalog
        gone = [bucket for bucket in self.logs.pointers if not catalog.bucket_exists(bucket)]
        for bucket in gone:
            directory = self.logs.pointers[bucket].remote_log_manifest_path.rsplit("/metadata/", 1)[0]
            self.garbage.drop(directory)
        self.logs.forget(gone)

    async def stop(self) -> None:
        """Let go of what is under way."""
        await self.copies.stop()
        await self.reads.stop()
        await self.garbage.stop()
