"""RemoteStateService: what a lost disk would cost besides logs, in remote storage: state and metadata. For the node."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.options import server as rows
from lakeward.protocol.messages import snapshot as messages
from lakeward.remote.formats.layout import STATES, BucketPlace, table_inner
from lakeward.remote.stores.store import RemoteStore
from lakeward.rpc.dispatch import Exchange
from lakeward.server.books.kv_snapshots import RemoteSnapshot
from lakeward.server.catalog import events
from lakeward.server.chores.housekeeping import Housekeeping
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.remote.access.ownership import Ownership
from lakeward.server.remote.access.watch import OwnershipWatch
from lakeward.server.remote.copies.metadata_backup import MetadataBackup
from lakeward.server.remote.copies.snapshot_copies import SnapshotCopies
from lakeward.server.remote.copies.snapshot_returns import can_read_snapshots
from lakeward.server.remote.log_service import RemoteLogService
from lakeward.server.remote.this_server import ThisServer
from lakeward.storage.kv.store.held_snapshot import hold_newest
from lakeward.storage.kv.store.snapshots import MANIFEST, Snapshot
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import remote as metric_rows

_log = logging.getLogger(__name__)
_LOOK_MS = 1000
_BUCKETS_PER_JOB = 50
_ENDS_MAX = 10_000
_REST_S = 10.0
_KEPT_S = 0.1


class RemoteStateService:
    """Copies snapshots and metadata to the store, and answers what is there."""

    def __init__(
        self,
        server: ThisServer,
        store: RemoteStore,
        ownership: Ownership,
        logs: RemoteLogService,
    ) -> None:
        self._server = server
        self._logs = logs
        clock = server.clock
        tablet = server.work.tablet
        self._watch = OwnershipWatch(ownership, server.writes, self._uncopied_ends, store.url, clock, tablet)
        #: The metadata is the coordinator's, where there are several processes.
        self.backup = (
            MetadataBackup(server.metadata, store, ownership, clock, self._lake_files)
            if isinstance(server.metadata, SqliteMetadataStore)
            else None
        )
        self.snapshots = SnapshotCopies(
            store,
            server.kv_snapshots,
            self,
            self._keep,
            _rest if self.backup is None else self.backup.drain,
            clock,
            server.entropy,
            convert=_conversion(server),
            book=server.snapshot_book,
            sweeps=not server.work.is_shared,
        )
        if not server.work.is_shared or can_read_snapshots():
            server.on_snapshot(self.snapshots.on_snapshot)
        else:
            _log.warning(
                "Snapshots of state are not brought to %s: the other servers of the cluster read RocksDB, and the "
                "library is not installed. Run `pip install lakeward[rocksdb]`.",
                store.url,
            )

    def begin(self, chores: Housekeeping) -> None:
        """Copy from now on, in the background."""
        if self._server.work.is_shared:
            self._watch.begin_quietly()
        else:
            self._watch.begin()
        if self.backup is not None:
            self.backup.begin()
        look = self.snapshots.look if self._server.work.copies else self._prune
        chores.every(_LOOK_MS, "copies of snapshots", look)
        if not self._server.work.is_shared:  # otherwise: when they are led
            self.find_uncopied(server_buckets(self._server))

    def _prune(self) -> Iterator[object]:
        """Let go of what neither number nor lease keeps; the tablet server that wrote it removes it."""
        for bucket in self._server.kv_snapshots.buckets():
            self._server.kv_snapshots.prune(bucket, self._keep())
            yield bucket

    def find_uncopied(self, buckets: list[TableBucket]) -> None:
        """Snapshots that were taken and not copied before the server stopped."""
        server = self._server
        for first in range(0, len(buckets), _BUCKETS_PER_JOB):
            places = []
            for bucket in buckets[first : first + _BUCKETS_PER_JOB]:
                latest = server.kv_snapshots.latest(bucket)
                above = -1 if latest is None else latest.log_offset
                places.append((bucket, server.buckets.kv_directory(bucket), above))
            server.later(partial(self._hold_uncopied, places, asyncio.get_running_loop()))

    def _hold_uncopied(self, places: list[tuple[TableBucket, Path, int]], loop: asyncio.AbstractEventLoop) -> None:
        for bucket, directory, above in places:
            held = hold_newest(self._server.buckets.disk, directory, above)
            if held is not None:
                loop.call_soon_threadsafe(self.snapshots.add, bucket, held)

    def _keep(self) -> int:
        return self._server.options_now().get(rows.KV_SNAPSHOTS_RETAINED)

    def _uncopied_ends(self) -> dict[TableBucket, int]:
        remote_end = self._logs.logs.remote_end
        used = {bucket: log.end_offset for bucket, log in self._server.logs.all()}
        ends = (self._logs.copies.ends_at_rest | used).items()
        return dict(islice(((bucket, end) for bucket, end in ends if end > remote_end(bucket)), _ENDS_MAX))

    def _lake_files(self) -> Iterator[tuple[str, Path]]:
        """Files of lake offsets that are on this machine, because the remote directory is not a directory here."""
        root = self._server.options_now().data_dir().absolute()
        for path in self._server.lake_paths():
            if path.is_relative_to(root) and self._server.buckets.disk.exists(path):
                yield path.relative_to(root).as_posix(), path

    # -- what copies of snapshots ask of the remote log

    def place(self, bucket: TableBucket) -> BucketPlace:
        """A bucket by all its names; it must exist, and be led here where it has replicas elsewhere."""
        self._server.buckets.replication.check_leads(bucket)
        return self._logs.logs.place(bucket)

    async def copy_up_to(self, bucket: TableBucket, offset: int) -> None:
        """Have the log copied up to an offset, and wait for it; or until its replicas have it, where there are any."""
        end = self._server.logs.open(bucket).end_offset
        if offset > end:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"The snapshot of {bucket} goes on at offset {offset}, but its log ends at {end}."
            )
        if not self._server.work.is_shared:
            await self._logs.copies.copy_up_to(bucket, offset)
            return
        log, replication = self._server.logs.open(bucket), self._server.buckets.replication
        while True:  # a server that leads no more is refused
            if replication.visible_end(bucket, log) >= offset:
                return
            await asyncio.sleep(_KEPT_S)

    # -- what clients ask

    def snapshot_metadata(
        self, request: messages.GetKvSnapshotMetadataRequest, exchange: Exchange
    ) -> messages.GetKvSnapshotMetadataResponse | None:
        """GET_KV_SNAPSHOT_METADATA: the files of a snapshot, as they lie in the store."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        snapshot = self._server.kv_snapshots.find(bucket, request.snapshot_id)
        if snapshot is None or not self._server.catalog.bucket_exists(bucket):
            raise ErrorCode.KV_SNAPSHOT_NOT_EXIST.error(f"{bucket} has no snapshot {request.snapshot_id}.")
        self._server.answer_later(exchange, self._metadata_answer(bucket, snapshot))
        return None

    async def _metadata_answer(
        self, bucket: TableBucket, snapshot: RemoteSnapshot
    ) -> messages.GetKvSnapshotMetadataResponse:
        try:
            found = await self.snapshots.files(bucket).metadata(snapshot)
        except (NotFoundError, ValueError) as wrong:
            raise ErrorCode.KV_SNAPSHOT_NOT_EXIST.error(
                f"Snapshot {snapshot.snapshot_id} of {bucket} cannot be read: {wrong}."
            ) from wrong
        return messages.GetKvSnapshotMetadataResponse(
            log_offset=found.log_offset,
            snapshot_files=tuple(
                messages.PbRemotePathAndLocalFile(remote_path=file.path, local_file_name=file.name)
                for file in found.files
                if file.name != MANIFEST
            ),
        )

    # -- what happens

    def hear(self, event: events.Event) -> None:
        """A table or partition may have been dropped: its snapshots go, too."""
        match event:
            case events.TableDropped() if event.table.descriptor.has_primary_key:
                path = event.table.path
                inner = table_inner(path.database, path.table, event.table.table_id)
            case events.PartitionDropped() if event.table.descriptor.has_primary_key:
                path, partition = event.table.path, event.partition
                inner = table_inner(
                    path.database, path.table, event.table.table_id, partition.name, partition.partition_id
                )
            case _:
                return
        under_way = self.snapshots.forget(set(event.buckets))
        if self._server.work.decides:
            self._logs.garbage.drop(f"{STATES}/{inner}", under_way)

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        counts = self.snapshots.counts
        done = metrics.counter(metric_rows.REMOTE_SNAPSHOTS)
        done.read_from(lambda: counts.snapshots)
        copied = metrics.counter(metric_rows.REMOTE_SNAPSHOT_BYTES)
        copied.read_from(lambda: counts.bytes)
        shared = metrics.counter(metric_rows.REMOTE_SHARED_BYTES)
        shared.read_from(lambda: counts.shared_bytes)
        waiting = metrics.gauge(metric_rows.REMOTE_SNAPSHOTS_WAITING)
        waiting.read_from(lambda: self.snapshots.waiting)
        behind = metrics.gauge(metric_rows.REMOTE_METADATA_BEHIND)
        backup = self.backup
        behind.read_from(lambda: int(backup is not None and backup.is_behind))
        failures = metrics.counter(metric_rows.REMOTE_STATE_FAILURES)
        troubles = [self.snapshots.trouble, *([] if backup is None else [backup.trouble])]
        failures.read_from(lambda: sum(one.failures_total for one in troubles))

    async def stop(self) -> None:
        """Let go of what is under way; the metadata is copied once more."""
        await self.snapshots.stop()
        if self.backup is not None:
            await self.backup.stop()
        await self._watch.stop()


def server_buckets(server: ThisServer) -> list[TableBucket]:
    """The buckets that are here and have a state."""
    return [bucket for bucket in server.buckets.all() if server.buckets.has_primary_key(bucket.table_id)]


async def _rest() -> None:
    """Give the coordinator's backup of the metadata, a second behind, time to name what counts now."""
    await asyncio.sleep(_REST_S)


def _conversion(server: ThisServer) -> Callable[[Snapshot], Snapshot] | None:
    wanted = server.options_now().get(rows.KV_SNAPSHOT_FORMAT)
    if wanted == "engine" and not server.work.is_shared:
        return None
    if not can_read_snapshots():
        if server.work.is_shared:
            return None
        raise ErrorCode.INVALID_CONFIG.error(
            f"{rows.KV_SNAPSHOT_FORMAT.key}={wanted} needs a library that is not installed. Run `pip install "
            "lakeward[rocksdb]`, or leave the option out."
        )

    def convert(snapshot: Snapshot) -> Snapshot:
        from lakeward.storage.kv.engines import as_rocksdb  # heavy: it brings compiled kernels along

        return as_rocksdb(snapshot)

    return convert
