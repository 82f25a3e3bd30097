"""TabletRoles: a tablet server of a cluster, put together: tablets, and orders of a coordinator elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.options import table as table_options
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.books.kv_snapshots import KvSnapshots
from lakeward.server.books.producer_offsets import ProducerOffsets
from lakeward.server.books.row_number_files import RowNumberFiles
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.catalog import events
from lakeward.server.catalog.learned_catalog import LearnedCatalog
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.grants.grants import Grants
from lakeward.server.member.committed import AskedCommits, Committed
from lakeward.server.member.coordinator import CoordinatorLink
from lakeward.server.member.known_servers import KnownServers
from lakeward.server.member.lake_offsets import LakeOffsets
from lakeward.server.member.orders import ORDERS, Orders
from lakeward.server.member.questions import questions
from lakeward.server.member.remote_books import RemoteBooks
from lakeward.server.member.replicas import Replicas
from lakeward.server.member.shared_settings import SharedSettings
from lakeward.server.member.sole_replicas import SoleReplicas
from lakeward.server.member.told_offsets import ToldOffsets
from lakeward.server.remote.access.fenced_store import FencedStore
from lakeward.server.remote.access.tokens import SecurityTokens
from lakeward.server.role_parts import RoleParts, copy_progress
from lakeward.server.tablet.service import TabletService
from lakeward.server.tablet.table_changes import TableChanges
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.whereabouts.cluster_map import Door
from lakeward.server.whereabouts.metadata_answers import MetadataAnswers
from lakeward.server.whereabouts.opening import Opening

if TYPE_CHECKING:
    from lakeward.server.remote.role import RemoteRole

#: What is answered by a server that knows of nothing yet.
_AT_ONCE = (*ORDERS, Api.AUTHENTICATE)


@dataclass(frozen=True, slots=True)
class Membership:
    """Which tablet server this is, and whom it obeys."""

    server_id: int
    coordinator: CoordinatorLink
    #: Whose remote storage it is, where there is any; the coordinator has claimed it.
    identity: str | None = None


class TabletRoles:
    """All that answers requests where somebody else decides what exists."""

    #: Whether servers that are not ours write to the same remote storage.
    is_shared = False

    def __init__(self, parts: RoleParts, member: Membership) -> None:
        options, ground = parts.options, parts.ground
        self._parts, self._member = parts, member
        self.catalog = LearnedCatalog()
        self.config = ClusterConfig(ground.metadata, options)
        self.producer_offsets = ProducerOffsets(ground.metadata)
        self.snapshot_leases = SnapshotLeases(ground.metadata)
        self._writes = WriteStop()
        self.space = DiskSpace(ground.directory, lambda: self.config.current, self._writes)
        self.led = Leadership(member.server_id)
        lake = LakeOffsets(self.catalog)
        self._kv_snapshots = KvSnapshots(ground.metadata, self.snapshot_leases)
        store = parts.store
        self._books = None if store is None else RemoteBooks(member.coordinator, self._commits(), store, self.led)
        self._remote_logs = (
            None
            if store is None or self._books is None
            else RemoteLogs(ground.metadata, self.catalog, store, self._books.tell_pointer)
        )
        self.tablets = self._make_tablets(lake)
        self.remote = None if store is None else self._make_remote(store, lake)
        self._service = self._make_service(lake)
        changes = self._service.changes
        self.catalog.subscribe(changes.hear)
        self.catalog.subscribe(self._hear)
        if self.remote is not None:
            self.catalog.subscribe(self.remote.hear)
        self.servers = KnownServers()
        replicas = self._replicas(changes)
        answer_later = self.tablets.busy.answer_later
        self._settings = SharedSettings(member.coordinator, self.config.learn)
        self._told = ToldOffsets(
            self.tablets.logs,
            self.led,
            self._learn_log,
            self.tablets.chores.retain_copied,
            is_restored=self.remote is not None and self.remote.restores,
        )
        self.tablets.chores.keep_for_states(self._told.floor)
        self._orders = Orders(
            self.led,
            self.catalog,
            self.servers,
            replicas,
            member.coordinator,
            lake,
            self._told,
            self._look,
            answer_later,
        )
        self._opening = Opening(
            f"Tablet server {member.server_id} has just come, and its coordinator has not told it yet what there is;"
            " try again in a moment."
        )
        self._questions = questions(member.coordinator, answer_later)

    def _commits(self) -> Committed:
        """The coordinator says what counts."""
        return AskedCommits(self._member.coordinator)

    def _reserve_ids(self) -> Callable[[int, int], int]:
        """What takes numbers of an auto-increment column: of files that all tablet servers of a machine share."""
        directory = self._parts.ground.directory
        return RowNumberFiles(directory.disk, directory.root).reserve

    def _replicas(self, changes: TableChanges) -> Replicas:
        """Each bucket has one."""
        return SoleReplicas(self.led, self.tablets.buckets, self._learn, changes.forget_bucket, changes.release_bucket)

    def _make_tablets(self, lake: LakeOffsets) -> Tablets:
        parts, ground = self._parts, self._parts.ground
        return Tablets(
            parts.loop,
            parts.turns,
            self.catalog,
            ground.directory,
            ground.files,
            ground.disk.later,
            ground.state_threads,
            ground.clock,
            lambda: self.config.current,
            lake.floor,
            copy_progress(parts.options, self._remote_logs),
            self._reserve_ids(),
            self.led,
        )

    def _make_service(self, lake: LakeOffsets) -> TabletService:
        parts, ground = self._parts, self._parts.ground
        return TabletService(
            parts.loop,
            parts.options,
            self.catalog,
            self.tablets,
            self._writes,
            ground.clock,
            ground.entropy,
            lake.floor,
            parts.has_room,
            None if self.remote is None else self.remote.reads,
            parts.followed,
            keeps_files=True,
        )

    def _make_remote(self, store: FencedStore, lake: LakeOffsets) -> RemoteRole:
        from lakeward.server.remote.copies.snapshot_returns import SnapshotReturns
        from lakeward.server.remote.role import RemoteRole
        from lakeward.server.remote.this_server import RemoteWork, ThisServer

        ground, tablets = self._parts.ground, self.tablets
        assert self._remote_logs is not None
        assert self._books is not None
        server = ThisServer(
            options=self._parts.options,
            options_now=lambda: self.config.current,
            clock=ground.clock,
            entropy=ground.entropy,
            metadata=ground.metadata,
            catalog=self.catalog,
            kv_snapshots=self._kv_snapshots,
            buckets=tablets.buckets,
            logs=tablets.logs,
            writes=self._writes,
            lake_floor=lake.floor,
            lake_paths=tuple,
            retain=tablets.chores.retain_copied,
            wake=tablets.waiters.touch,
            on_snapshot=tablets.states.subscribe,
            answer_later=tablets.busy.answer_later,
            later=ground.disk.later,
            settle=ground.disk.settle,
            work=RemoteWork(decides=False, tablet=self._member.server_id, is_shared=self.is_shared),
            snapshot_book=self._books,
        )
        if self.is_shared:
            place, learn = self._remote_logs.place, self._learn_snapshots
            returns = SnapshotReturns(store, self._kv_snapshots, tablets.buckets, tablets.logs, place, learn)
            tablets.states.bring_by(returns.bring)
        return RemoteRole(server, store, self._remote_logs)

    async def _learn_log(self, bucket: TableBucket) -> None:
        """Which manifest of a bucket counts: so much of its log need not stay here."""
        if self._books is None or self._remote_logs is None:
            return
        await self._books.learn_log(bucket, self._remote_logs)
        log = self.tablets.logs.find(bucket)
        if log is not None and log.copied_offset is not None:
            log.note_copy(self._remote_logs.remote_end(bucket))

    async def _learn_snapshots(self, bucket: TableBucket) -> None:
        """Which snapshots of a bucket's state count."""
        if self._books is not None and self._remote_logs is not None:
            await self._books.learn_snapshots(bucket, self._remote_logs, self._kv_snapshots)

    async def _learn(self, bucket: TableBucket) -> None:
        """What must be known of a bucket before it is led: what of it is in remote storage."""
        if self.remote is None or self._books is None or self._remote_logs is None:
            return
        await self._learn_log(bucket)
        if self.tablets.buckets.has_primary_key(bucket.table_id):
            await self._learn_snapshots(bucket)
            self.remote.look_at(bucket)

    def _hear(self, event: events.Event) -> None:
        if isinstance(event, events.TableDropped | events.PartitionDropped):
            self.led.forget(set(event.buckets).__contains__)
            self._told.forget(set(event.buckets).__contains__)

    def begin(self) -> None:
        """Do what was due while the server was off."""
        self.space.look()

    def follow(self, grants: Grants) -> None:
        """Grants are the coordinator's."""
        if grants.learn is not None:
            self._settings.follow_acls(grants.learn)

    def when_told(self, handlers: dict[Api, Handler]) -> dict[Api, Handler]:
        """Clients are served when the coordinator has told what exists and who may use it."""
        return {api: one if api in _AT_ONCE else self._opening.behind(one) for api, one in handlers.items()}

    async def _look(self) -> None:
        try:
            await self._settings.look()
        finally:  # tables were told before
            self._opening.open()

    def tick(self) -> None:
        """There is nothing to decide here."""

    async def close(self) -> None:
        """There is nothing that changes a bucket by itself."""

    def handlers(self) -> dict[Api, Handler]:
        """One handler per API."""
        answers = MetadataAnswers(self.catalog, self.servers, self._remote_data_dir)

        def metadata(request: Any, exchange: Exchange) -> Any:
            connection = exchange.connection
            return answers.answer(request, Door(connection.listener, *connection.told_address))

        return {
            **self._service.handlers,
            **self._questions,
            **self._orders.handlers(),
            Api.GET_METADATA: metadata,
            Api.GET_FILESYSTEM_SECURITY_TOKEN: SecurityTokens.of(self._parts.options, self._parts.ground.clock).handle,
        }

    def _remote_data_dir(self, table: TableInfo) -> str:
        own = table_options.REMOTE_DATA_DIR.read(table.descriptor.properties)
        return own or self.config.current.remote_data_dir()
