"""Which buckets are here. Logs are opened when they are first touched, so ten thousand idle buckets cost nothing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.options import table as table_rows
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.buckets.busy import BusyBuckets
from lakeward.server.tablet.buckets.log_opening import known_end, log_name, tell
from lakeward.server.tablet.buckets.tried_again import tried_again
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.disk.open_files import OpenFiles, storage_error
from lakeward.storage.log.log_tablet import Later, LogTablet
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.settings import LogSettings

if TYPE_CHECKING:
    from lakeward.storage.kv.kv_table import KvTable
    from lakeward.storage.kv.kv_tablet import KvTablet
    from lakeward.storage.kv.recovery import Recovery
    from lakeward.storage.kv.store.snapshots import Snapshot

_log = logging.getLogger(__name__)
_TRY_AGAIN_S = 1.0
#: Runs a piece of work on a thread.
OnThread = Callable[[Callable[[], None]], Awaitable[None]]


class Tablets:
    """The logs of all buckets of this server."""

    def __init__(
        self,
        catalog: Catalog,
        directory: DataDirectory,
        files: OpenFiles,
        later: Later,
        settings_of: Callable[[TableInfo], LogSettings],
        kv_engine: Callable[[], str],
        reserve_ids: Callable[[int, int], int],
        busy: BusyBuckets,
    ) -> None:
        self._catalog = catalog
        self._directory = directory
        self._files = files
        self._later = later
        self._settings_of = settings_of
        self._kv_engine = kv_engine
        self._reserve_ids = reserve_ids
        self._busy = busy
        self._logs: dict[TableBucket, LogTablet] = {}
        self._kvs: dict[TableBucket, KvTablet] = {}
        self._unopened: dict[TableBucket, LakewardError] = {}
        self._compacted_ms: dict[TableBucket, int] = {}
        self._kv_tables: dict[tuple[int, int], KvTable] = {}
        self._dropped_tables: set[int] = set()
        #: Up to where buckets have been copied to remote storage; None when none are.
        self.copied_offset_of: Callable[[TableBucket], int] | None = None
        #: Whether more is copied all the time, so that what was not yet copied has to stay.
        self.keeps_uncopied = False
        #: Up to where the lake has a bucket.
        self.lake_floor: Callable[[TableBucket], int | None] = lambda _: None
        self.writes = WriteStop()
        #: Told of every snapshot that was written, on the thread that wrote it.
        self.on_snapshot: Callable[[TableBucket, Snapshot], None] = lambda _bucket, _snapshot: None

    def __len__(self) -> int:
        return len(self._logs)

    def table(self, bucket: TableBucket) -> TableInfo:
        """The table a bucket belongs to; a bucket that is not here is refused as clients expect it."""
        table = self._catalog.table_by_id(bucket.table_id)
        if table is None:
            if bucket.table_id in self._dropped_tables:
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"Server 0 is not leader or follower for {bucket}.")
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown table or bucket: {bucket}.")
        if table.descriptor.is_partitioned:
            partition = None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)
            if partition is None or partition.table_id != bucket.table_id:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Unknown partition of {table.path}: {bucket}.")
        elif bucket.partition_id is not None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Table {table.path} is not partitioned: {bucket}.")
        if not 0 <= bucket.bucket < table.bucket_count:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(
                f"Table {table.path} has {table.bucket_count} buckets: {bucket}."
            )
        return table

    def has_primary_key(self, table_id: int) -> bool:
        """Whether a table exists and has a primary key."""
        table = self._catalog.table_by_id(table_id)
        return table is not None and table.descriptor.has_primary_key

    def partition_values(self, bucket: TableBucket) -> tuple[str, ...]:
        """The values of the partition that a bucket belongs to; none where a table has no partitions."""
        partition = None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)
        return () if partition is None else partition.values

    def log(self, bucket: TableBucket) -> LogTablet:
        """The log of a bucket."""
        log = self._logs.get(bucket)
        return log if log is not None else self._open(bucket)

    def open_log(self, bucket: TableBucket) -> LogTablet | None:
        """The log of a bucket if it is open."""
        return self._logs.get(bucket)

    def _open(self, bucket: TableBucket) -> LogTablet:
        table = self.table(bucket)
        parent = self._parent(table, bucket)
        directory = self._directory.log(parent, bucket.bucket)
        kv = self._directory.kv(parent, bucket.bucket) if table.descriptor.has_primary_key else None
        partition = None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)
        try:
            log = LogTablet(
                directory,
                self._settings_of(table),
                self._files,
                self._later,
                name=log_name(table, bucket.bucket, None if partition is None else partition.name),
                known_end=known_end(self.lake_floor(bucket), kv),
            )
        except OSError as wrong:
            raise storage_error(directory, wrong) from wrong
        tell(log)
        if self.copied_offset_of is not None:
            self._meet_copy(table, bucket, log, self.copied_offset_of(bucket))
        self._logs[bucket] = log
        return log

    def damages(self) -> Iterator[tuple[LogTablet, Damage]]:
        """What is known to be damaged in the logs that are open."""
        for log in self._logs.values():
            for damage in log.damages:
                yield log, damage

    def _meet_copy(self, table: TableInfo, bucket: TableBucket, log: LogTablet, copied_offset: int) -> None:
        """Tell a log what of it is in remote storage. Offsets that are there must not be given a second time."""
        log.copied_offset = copied_offset if self.keeps_uncopied else None
        if log.end_offset < copied_offset:
            told = "%s of %s ends at %d here and at %d in remote storage; it goes on from there"
            _log.warning(told, bucket, table.path, log.end_offset, copied_offset)
            log.begin_at(copied_offset, 0)

    def exists(self, bucket: TableBucket) -> bool:
        """Whether there is such a bucket."""
        return self._catalog.bucket_exists(bucket)

    def all_buckets(self) -> Iterator[TableBucket]:
        """Every bucket there is."""
        return self._catalog.all_buckets()

    def settings(self, bucket: TableBucket) -> LogSettings:
        """What the log of a bucket obeys."""
        return self._settings_of(self.table(bucket))

    def open_logs(self) -> list[tuple[TableBucket, LogTablet]]:
        """The logs in use."""
        return list(self._logs.items())

    def segments_on_disk(self, bucket: TableBucket) -> list[tuple[int, int]]:
        """Base offset and size of each segment of a log, in order; for logs that are not in use."""
        return sorted((int(path.stem), path.stat().st_size) for path in self.log_directory(bucket).glob("*.log"))

    def log_directory(self, bucket: TableBucket) -> Path:
        """Where the log of a bucket is kept."""
        return self._directory.log(self._parent(self.table(bucket), bucket), bucket.bucket)

    def kv(self, bucket: TableBucket, version: int | None = None) -> KvTablet:
        """The state of a bucket of a primary key table; `version` is that of the API it is asked through."""
        table = self.table(bucket)
        if not table.descriptor.has_primary_key:
            raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(f"Table {table.path} is not a primary key table.")
        if version == 0:
            _check_old_client(table)
        kv = self._kvs.get(bucket)
        if kv is None:
            wrong = self._unopened.get(bucket)
            if wrong is not None:
                raise wrong
            kv = self._opened(bucket, self._recovery(table, bucket).run())
        return kv

    def open_kv(self, bucket: TableBucket) -> KvTablet | None:
        """The state of a bucket if it is open."""
        return self._kvs.get(bucket)

    def opening(self, bucket: TableBucket, on_thread: OnThread) -> Coroutine[Any, Any, None] | None:
        """What opens the state of a bucket that has many rows; None where `kv` does so at once, or says why not."""
        table = self._catalog.table_by_id(bucket.table_id)
        if table is None or not table.descriptor.has_primary_key or bucket in self._unopened:
            return None
        try:
            recovery = self._recovery(self.table(bucket), bucket)
        except LakewardError:
            return None
        return None if recovery.is_short else self._open_beside(bucket, recovery, on_thread)

    async def _open_beside(self, bucket: TableBucket, recovery: Recovery, on_thread: OnThread) -> None:
        try:
            for piece in recovery.pieces():
                await on_thread(piece)
            self.table(bucket)  # it may have been dropped meanwhile
        except Exception as wrong:
            known = wrong if isinstance(wrong, LakewardError) else ErrorCode.KV_STORAGE.error(f"{bucket}: {wrong!r}")
            self._unopened[bucket] = known
            # Those who waited are told when this ends; who comes later has it tried again.
            asyncio.get_running_loop().call_later(_TRY_AGAIN_S, self._unopened.pop, bucket)
            recovery.close()
            raise
        self._opened(bucket, recovery)

    def _recovery(self, table: TableInfo, bucket: TableBucket) -> Recovery:
        from lakeward.storage.kv.recovery import Recovery  # heavy: it brings compiled kernels along

        directory = self._directory.kv(self._parent(table, bucket), bucket.bucket)
        return Recovery(directory, self.log(bucket), self._kv_table(table.table_id), self._kv_engine())

    def _opened(self, bucket: TableBucket, recovery: Recovery) -> KvTablet:
        from lakeward.storage.kv.kv_tablet import KvTablet

        table_id = bucket.table_id
        kv = KvTablet(
            recovery.directory,
            self.log(bucket),
            partial(self._kv_table, table_id),
            recovery,
            self._later,
            partial(self._reserve_ids, table_id),
            lambda snapshot: self.on_snapshot(bucket, snapshot),
        )
        self._kvs[bucket] = kv
        return kv

    def _kv_table(self, table_id: int) -> KvTable:
        """What a table's definition says now; read once per change of it."""
        from lakeward.storage.kv.kv_table import KvTable

        table = self._catalog.table_by_id(table_id)
        if table is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Table {table_id} has been dropped.")
        key = (table_id, table.modified_ms)
        found = self._kv_tables.get(key)
        if found is None or found.info is not table:
            found = KvTable.of(table, lambda schema_id: self._catalog.schema(table_id, schema_id))
            self._kv_tables[key] = found
        return found

    def kv_directory(self, bucket: TableBucket) -> Path:
        """Where the state of a bucket is kept."""
        return self._directory.kv(self._parent(self.table(bucket), bucket), bucket.bucket)

    def _parent(self, table: TableInfo, bucket: TableBucket) -> Path:
        if bucket.partition_id is None:
            return self._directory.table(table.path, table.table_id)
        partition = self._catalog.partition_by_id(bucket.partition_id)
        assert partition is not None
        return self._directory.partition(table.path, table.table_id, partition.name, partition.partition_id)

    def stored_bytes(self) -> int:
        """Bytes of the logs that are open."""
        return sum(log.size for log in self._logs.values())

    # -- change

    def altered(self, table: TableInfo) -> None:
        """Let the logs of a table obey its new properties."""
        settings = self._settings_of(table)
        for bucket, log in self._logs.items():
            if bucket.table_id == table.table_id:
                log.settings = settings

    def refresh_settings(self) -> None:
        """Let all logs obey the server's options as they are now; some can be changed while it runs."""
        for bucket, log in self._logs.items():
            table = self._catalog.table_by_id(bucket.table_id)
            if table is not None:
                log.settings = self._settings_of(table)

    def drop_table(self, table: TableInfo) -> None:
        """Take a table's files away."""
        self._dropped_tables.add(table.table_id)
        self._forget(lambda bucket: bucket.table_id == table.table_id)
        self._remove(self._directory.table(table.path, table.table_id))

    def drop_partition(self, table: TableInfo, partition_id: int, name: str) -> None:
        """Take a partition's files away."""
        self._forget(lambda bucket: bucket.partition_id == partition_id and bucket.table_id == table.table_id)
        self._remove(self._directory.partition(table.path, table.table_id, name, partition_id))

    def _forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        for bucket in [b for b in self._kvs if is_gone(b)]:
            self._busy.when_free(bucket, self._kvs.pop(bucket).close)
        for bucket in [b for b in self._logs if is_gone(b)]:
            self._logs.pop(bucket).abandon()

    def _remove(self, directory: Path) -> None:
        away = self._directory.drop(directory)
        if away is not None:
            self._later(lambda: self._directory.remove(away))

    # -- housekeeping

    def checkpoint(self) -> None:
        """Have every log that changed synced and noted."""
        for log in self._logs.values():
            log.checkpoint()

    def retain(self, now_ms: int, lake_floor: Callable[[TableBucket], int | None]) -> Iterator[object]:
        """Apply retention bucket by bucket; the caller decides how many at a time.

        `lake_floor` tells up to where the lake has a bucket whose rows belong there, None for all others.
        """
        for bucket in list(self._catalog.all_buckets()):
            log = self._logs.get(bucket)
            if log is None:
                table = self._catalog.table_by_id(bucket.table_id)
                if table is None or not self._has_old_segments(table, bucket):
                    continue
                log = self.log(bucket)
            self._retain(bucket, log, now_ms, lake_floor)
            yield bucket

    def retain_one(self, bucket: TableBucket, now_ms: int) -> None:
        """Apply retention to a log that has been copied."""
        log = self._logs.get(bucket)
        if log is not None:
            self._retain(bucket, log, now_ms, lambda _: None)

    def _retain(
        self, bucket: TableBucket, log: LogTablet, now_ms: int, lake_floor: Callable[[TableBucket], int | None]
    ) -> None:
        kv = self._kvs.get(bucket)
        if kv is None and self.has_primary_key(bucket.table_id):
            return  # nobody has touched it since the start: its log may still be needed to rebuild its state
        with tried_again("Retention", self._catalog, bucket, log.directory):
            # What has been copied to remote storage is there for the lake, too.
            in_lake = lake_floor(bucket) if log.copied_offset is None else None
            floors = (None if kv is None else kv.retained_offset, in_lake)
            log.retain(now_ms, min((floor for floor in floors if floor is not None), default=None))

    def compact(self, now_ms: int, on_loop: Callable[[Callable[[], None]], object]) -> Iterator[object]:
        """Have changelogs compacted whose table wants it and whose time has come."""
        for bucket, kv in list(self._kvs.items()):
            table = self._catalog.table_by_id(bucket.table_id)
            if table is None:
                continue
            interval_ms = table_rows.LOG_COMPACTION_INTERVAL.read(table.descriptor.properties)
            if now_ms - self._compacted_ms.get(bucket, 0) >= interval_ms:
                self._compacted_ms[bucket] = now_ms
                with tried_again("Compaction of the log", self._catalog, bucket, kv.log.directory):
                    kv.compact_log(on_loop)
            yield bucket

    def snapshot(self) -> Iterator[object]:
        """Have the state of every bucket written that has changed."""
        for bucket, kv in list(self._kvs.items()):
            if kv.snapshot_is_due and bucket not in self._busy:
                self._busy.begin(bucket, self._snapshot(bucket, kv))
            yield kv

    async def _snapshot(self, bucket: TableBucket, kv: KvTablet) -> None:
        """The bucket waits until its state is held, not until it is written."""
        told = partial(tried_again, "The snapshot", self._catalog, bucket, kv.directory)
        with told():
            pending = await self._busy.on_thread(kv.begin_snapshot())
            kv.write_snapshot(pending, told)

    def _has_old_segments(self, table: TableInfo, bucket: TableBucket) -> bool:
        """Whether a log that is not open could have anything to delete: a lone segment never goes."""
        directory = self._directory.log(self._parent(table, bucket), bucket.bucket)
        return sum(1 for _ in directory.glob("*.log")) > 1 or any(directory.glob("*.deleted"))

    def close(self) -> None:
        """Sync and note everything."""
        for kv in self._kvs.values():
            kv.close()
        self._kvs.clear()
        for log in self._logs.values():
            log.close()
        self._logs.clear()


def _check_old_client(table: TableInfo) -> None:
    """A client of version 0 would encode the keys of such a table in another way than they are stored."""
    properties = table.descriptor.properties
    own_bucket_key = tuple(table.descriptor.bucket_keys) != table.descriptor.physical_primary_key
    if "table.datalake.format" in properties and properties.get("table.kv.format-version") == "2" and own_bucket_key:
        raise ErrorCode.UNSUPPORTED_VERSION.error(f"The client is too old for the keys of table {table.path}.")
