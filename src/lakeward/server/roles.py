"""Roles: coordinator, tablets and remote storage put together. What one role needs of another it is given here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.books.row_number_files import RowNumberFiles
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.catalog import events
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.service import handlers as coordinator_handlers
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.fleet.fleet import Fleet
from lakeward.server.remote.access.fenced_store import FencedStore
from lakeward.server.remote.access.tokens import SecurityTokens
from lakeward.server.role_parts import RoleParts, copy_progress
from lakeward.server.tablet.service import TabletService
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.whereabouts.cluster_map import Door
from lakeward.server.whereabouts.one_server import SERVER_ID

if TYPE_CHECKING:
    from lakeward.server.remote.role import RemoteRole


class Roles:
    """All that answers requests."""

    def __init__(self, parts: RoleParts, fleet_size: int = 0) -> None:
        """With a `fleet_size`, so many tablet servers have the buckets, each in a process of its own."""
        loop, options, ground, store = parts.loop, parts.options, parts.ground, parts.store
        self._options = options
        self._fleet_size = fleet_size
        self._ground = ground
        self._writes = WriteStop()
        config = ClusterConfig(ground.metadata, options)
        disk = ground.directory.disk
        self.space = DiskSpace(ground.directory, lambda: config.current, self._writes)
        self.coordinator = Coordinator(
            ground.metadata,
            config,
            ground.clock,
            ground.entropy,
            disk,
            self.space.check,
            range(fleet_size) if fleet_size else (SERVER_ID,),
        )
        self.config = config
        self._number_files = RowNumberFiles(disk, ground.directory.root)
        self.catalog = self.coordinator.catalog
        self.producer_offsets = self.coordinator.producer_offsets
        self.snapshot_leases = self.coordinator.snapshot_leases
        self._remote_logs = None if store is None else self._open_remote_logs(store)
        self.tablets = Tablets(
            loop,
            parts.turns,
            self.coordinator.catalog,
            ground.directory,
            ground.files,
            ground.disk.later,
            ground.state_threads,
            ground.clock,
            lambda: config.current,
            self.coordinator.lake_floor,
            copy_progress(options, self._remote_logs),
            self.coordinator.row_numbers.reserve,
            Leadership(SERVER_ID) if fleet_size else None,
        )
        self.remote = None if store is None else self._make_remote(store)
        self._service = TabletService(
            loop,
            options,
            self.coordinator.catalog,
            self.tablets,
            self._writes,
            ground.clock,
            ground.entropy,
            self.coordinator.lake_floor,
            parts.has_room,
            None if self.remote is None else self.remote.reads,
            parts.followed,
        )
        self.fleet = self._open_fleet(fleet_size) if fleet_size else None
        self.coordinator.catalog.subscribe(self._service.changes.hear if self.fleet is None else self.fleet.hear)
        if self.remote is not None and self.fleet is None:
            self.coordinator.catalog.subscribe(self.remote.hear)

    def _open_fleet(self, size: int) -> Fleet:
        coordinator = self.coordinator
        fleet = Fleet(
            size,
            coordinator.catalog,
            coordinator.epoch,
            coordinator.remote_data_dir,
            self._hear_of_drop,
            coordinator.lake_snapshots,
        )
        coordinator.meet(fleet)
        coordinator.lake_snapshots.subscribe(fleet.hear_lake)
        self.config.on_change(fleet.hear_options)
        return fleet

    def _open_remote_logs(self, store: FencedStore) -> RemoteLogs:

        return RemoteLogs(self._ground.metadata, self.coordinator.catalog, store)

    def _make_remote(self, store: FencedStore) -> RemoteRole:
        from lakeward.server.remote.role import RemoteRole
        from lakeward.server.remote.this_server import RemoteWork, ThisServer

        ground, coordinator, tablets = self._ground, self.coordinator, self.tablets
        assert self._remote_logs is not None
        server = ThisServer(
            options=self._options,
            options_now=lambda: coordinator.config.current,
            clock=ground.clock,
            entropy=ground.entropy,
            metadata=ground.own_metadata,
            catalog=coordinator.catalog,
            kv_snapshots=coordinator.kv_snapshots,
            buckets=tablets.buckets,
            logs=tablets.logs,
            writes=self._writes,
            lake_floor=coordinator.lake_floor,
            lake_paths=coordinator.lake_snapshots.paths,
            retain=tablets.chores.retain_copied,
            wake=tablets.waiters.touch,
            on_snapshot=tablets.states.subscribe,
            answer_later=tablets.busy.answer_later,
            later=ground.disk.later,
            settle=ground.disk.settle,
            work=RemoteWork(copies=not self._fleet_size),
        )
        return RemoteRole(server, store, self._remote_logs, self._epoch_of if self._fleet_size else None)

    def _epoch_of(self, bucket: TableBucket) -> int:
        assert self.fleet is not None
        return self.fleet.epoch_of(bucket)

    def _hear_of_drop(self, event: events.Dropped) -> None:
        """No tablet server uses the files any more."""
        self._service.changes.hear(event)
        if self.remote is not None:
            self.remote.hear(event)

    def begin(self) -> None:
        """Do what was due while the server was off, before anybody asks."""
        self.coordinator.row_numbers.follow(self._number_files)
        if self.fleet is None:
            self._number_files.remove_all()
        else:
            self.coordinator.row_numbers.hand_out(self._number_files)
        self.tablets.buckets.remove_leftovers()
        self.coordinator.tick()
        self.space.look()

    def tick(self) -> None:
        """Do what is due by the clock."""
        if self.fleet is not None:
            self.coordinator.row_numbers.follow(self._number_files)
        self.coordinator.tick()

    async def close(self) -> None:
        """There is nothing that changes a bucket by itself."""

    def handlers(self) -> dict[Api, Handler]:
        """One handler per API."""
        control = coordinator_handlers(self.coordinator)
        if self._remote_logs is not None:
            control = coordinator_handlers(self.coordinator, self._remote_logs.manifests_of)
        return {
            **({} if self.fleet else self._service.handlers),
            **{api: _with_caller(handler) for api, handler in control.items()},
            Api.GET_FILESYSTEM_SECURITY_TOKEN: SecurityTokens.of(self._options, self._ground.clock).handle,
            **({} if self.remote is None else self.remote.handlers()),
        }

    def when_told(self, handlers: dict[Api, Handler]) -> dict[Api, Handler]:
        """The same handlers; what changes something is answered when all servers have been told."""
        return handlers if self.fleet is None else self.fleet.handlers(handlers)


def _with_caller(handler: Callable[[Any, Caller], Any]) -> Handler:
    def handle(request: Any, exchange: Exchange) -> Any:
        connection = exchange.connection
        return handler(request, Caller(exchange.version, Door(connection.listener, *connection.told_address)))

    return handle
