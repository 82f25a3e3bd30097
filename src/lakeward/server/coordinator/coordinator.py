"""Coordinator: the parts that know what exists, put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lakeward.model.bucket import TableBucket
from lakeward.model.json_form import DatabaseDescriptor
from lakeward.model.table import TableInfo
from lakeward.options import server as server_options
from lakeward.options import table as table_options
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import Files
from lakeward.server.books.kv_snapshots import KvSnapshots
from lakeward.server.books.lake_snapshots import LakeSnapshots
from lakeward.server.books.offsets_files import OffsetsFiles
from lakeward.server.books.producer_offsets import ProducerOffsets
from lakeward.server.books.row_numbers import RowNumbers
from lakeward.server.books.server_tags import ServerTags
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.books.writer_ids import WriterIds
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.events import Dropped, Event, PartitionDropped, TableDropped
from lakeward.server.catalog.lake_settings import catalog_properties, is_lake_table
from lakeward.server.coordinator.lake.tiering import LakeTiering
from lakeward.server.coordinator.tables.auto_partitioner import AutoPartitioner
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.coordinator.tables.database_admin import DEFAULT_DATABASE, DatabaseAdmin
from lakeward.server.coordinator.tables.partition_admin import PartitionAdmin
from lakeward.server.coordinator.tables.table_admin import TableAdmin
from lakeward.server.metadata_store.port import Counter, MetadataStore
from lakeward.server.whereabouts.cluster_map import ClusterMap
from lakeward.server.whereabouts.one_server import SERVER_ID, OneServer


class Coordinator:
    """The control plane of one server. Call it from one thread."""

    def __init__(
        self,
        store: MetadataStore,
        config: ClusterConfig,
        clock: Clock,
        entropy: Entropy,
        disk: Files,
        may_grow: Callable[[], None] = lambda: None,
        server_ids: Sequence[int] = (SERVER_ID,),
    ) -> None:
        """`may_grow` is asked before there is more than there was; it raises while there may not be. `server_ids` are
        those of the tablet servers; `meet` tells more of them."""
        options = config.started_with
        self.cluster: ClusterMap = OneServer()
        self.clock = clock
        self.entropy = entropy
        self.catalog = Catalog(store, may_grow)
        self.config = config
        self.databases = DatabaseAdmin(self.catalog, clock)
        self.partitioner = AutoPartitioner(self.catalog, options, clock)
        self.tables = TableAdmin(self.catalog, self.config, self.partitioner, clock)
        self.partitions = PartitionAdmin(self.catalog, self.tables, self.config, clock)
        self.writer_ids = WriterIds(store)
        self.producer_offsets = ProducerOffsets(store)
        self.row_numbers = RowNumbers(store)
        self.server_tags = ServerTags(store, server_ids)
        self.snapshot_leases = SnapshotLeases(store)
        self.kv_snapshots = KvSnapshots(store, self.snapshot_leases)
        self.subscribe_to_drops(self._forget_snapshots)
        with store.change() as change:
            self.epoch = change.take(Counter.COORDINATOR_EPOCH)
        self.lake_snapshots = LakeSnapshots(store, OffsetsFiles(disk, self._lake_root, entropy))
        self.tiering = LakeTiering(self.catalog, self.lake_snapshots, clock, self.epoch)
        self.config.on_change(self._tell_lake_catalog)
        self._tell_lake_catalog()
        self._timers = [
            _Timer(self.partitioner.tick, options.get(server_options.AUTO_PARTITION_CHECK_INTERVAL)),
            _Timer(self._expire_leases, options.get(server_options.KV_LEASE_CHECK_INTERVAL)),
            _Timer(self._expire_offsets, options.get(server_options.PRODUCER_OFFSETS_CLEANUP_INTERVAL)),
        ]
        if not self.catalog.databases():
            self.databases.create(DEFAULT_DATABASE, DatabaseDescriptor(), ignore_if_exists=True)

    def meet(self, cluster: ClusterMap) -> None:
        """There are several servers, and this is who they are."""
        self.cluster = cluster

    def on_change(self, callback: Callable[[Event], None]) -> None:
        """Hear of every table and partition that is created, altered or dropped."""
        self.catalog.subscribe(callback)

    def subscribe_to_drops(self, callback: Callable[[Dropped], None]) -> None:
        """Hear of every table and partition whose data can go; `event.buckets` names it."""

        def forward(event: Event) -> None:
            if isinstance(event, TableDropped | PartitionDropped):
                callback(event)

        self.catalog.subscribe(forward)

    def remote_data_dir(self, table: TableInfo) -> str:
        """Where a table's remote data belongs."""
        own = table_options.REMOTE_DATA_DIR.read(table.descriptor.properties)
        return own or self.config.current.remote_data_dir()

    def lake_floor(self, bucket: TableBucket) -> int | None:
        """Up to where the lake has a bucket, below which its log may go; None when its table is not tiered."""
        table = self.catalog.table_by_id(bucket.table_id)
        if table is None or not is_lake_table(table.descriptor):
            return None
        return self.lake_snapshots.tiered_offset(table, bucket)

    def _lake_root(self, table: TableInfo) -> Path:
        """Where offsets files go: to the remote directory, if it is on this file system."""
        remote = self.remote_data_dir(table).removeprefix("file://")
        return self.config.current.data_dir() if "://" in remote else Path(remote)

    def _tell_lake_catalog(self) -> None:
        self.catalog.tell_lake_catalog(catalog_properties(self.config.current))

    def tick(self) -> None:
        """Do what is due; call it every second or so, and once at the start."""
        self.tiering.tick()
        for timer in self._timers:
            timer.tick(self.clock.monotonic())

    def _expire_offsets(self) -> None:
        self.producer_offsets.remove_expired(self.clock.settled_ms())

    def _expire_leases(self) -> None:
        self.snapshot_leases.sweep(self.clock.settled_ms())

    def _forget_snapshots(self, event: Dropped) -> None:
        gone = set(event.buckets)
        self.snapshot_leases.forget(gone.__contains__)
        self.kv_snapshots.forget(gone.__contains__)


class _Timer:
    """Something to do at once and then every so often."""

    def __init__(self, action: Callable[[], None], interval_ms: int) -> None:
        self._action = action
        self._interval_s = interval_ms / 1000
        self._due_s: float | None = None

    def tick(self, now_s: float) -> None:
        if self._due_s is not None and now_s < self._due_s:
            return
        self._due_s = now_s + self._interval_s
        self._action()
