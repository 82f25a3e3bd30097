"""Roles: coordinator, tablets and remote storage put together. What one role needs of another it is given here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.rpc.turns import Turns
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.buckets.logs import CopyProgress
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.service import handlers as coordinator_handlers
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.ground import Ground
from lakeward.server.remote.access.fenced_store import FencedStore
from lakeward.server.remote.access.tokens import SecurityTokens
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.service import TabletService
from lakeward.server.tablet.tablets import Tablets

if TYPE_CHECKING:
    from lakeward.server.remote.role import RemoteRole


class Roles:
    """All that answers requests."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        turns: Turns,
        options: ServerOptions,
        ground: Ground,
        store: FencedStore | None,
        has_room: Callable[[int], bool],
        followed: RequestSpans | None,
    ) -> None:
        """`store` is remote storage, if there is any; `has_room` tells whether there is memory for a large answer;
        `followed` are the requests whose steps are to be seen."""
        self._options = options
        self._ground = ground
        self._writes = WriteStop()
        config = ClusterConfig(ground.metadata, options)
        disk = ground.directory.disk
        self.space = DiskSpace(disk, ground.directory.root, lambda: config.current, self._writes)
        self.coordinator = Coordinator(ground.metadata, config, ground.clock, ground.entropy, disk, self.space.check)
        self._remote_logs = None if store is None else self._open_remote_logs(store)
        self.tablets = Tablets(
            loop,
            turns,
            self.coordinator.catalog,
            ground.directory,
            ground.files,
            ground.disk.later,
            ground.state_threads,
            ground.clock,
            lambda: config.current,
            self.coordinator.lake_floor,
            self._copy_progress(),
            self.coordinator.row_numbers.reserve,
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
            has_room,
            None if self.remote is None else self.remote.reads,
            followed,
        )
        self.coordinator.catalog.subscribe(self._service.hear)
        if self.remote is not None:
            self.coordinator.catalog.subscribe(self.remote.hear)

    def _open_remote_logs(self, store: FencedStore) -> RemoteLogs:

        return RemoteLogs(self._ground.metadata, self.coordinator.catalog, store)

    def _copy_progress(self) -> CopyProgress | None:
        if self._remote_logs is None:
            return None
        return CopyProgress(self._remote_logs.remote_end, keeps_rest=self._options.get(rows.REMOTE_LOG_INTERVAL) > 0)

    def _make_remote(self, store: FencedStore) -> RemoteRole:
        from lakeward.server.remote.role import RemoteRole
        from lakeward.server.remote.this_server import ThisServer

        ground, coordinator, tablets = self._ground, self.coordinator, self.tablets
        assert self._remote_logs is not None
        server = ThisServer(
            options=self._options,
            options_now=lambda: coordinator.config.current,
            clock=ground.clock,
            entropy=ground.entropy,
            metadata=ground.metadata,
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
        )
        return RemoteRole(server, store, self._remote_logs)

    def begin(self) -> None:
        """Do what was due while the server was off, before anybody asks."""
        self.tablets.buckets.remove_leftovers()
        self.coordinator.tick()
        self.space.look()

    def handlers(self) -> dict[Api, Handler]:
        """One handler per API."""
        control = coordinator_handlers(self.coordinator)
        if self._remote_logs is not None:
            control = coordinator_handlers(self.coordinator, self._remote_logs.manifests_of)
        return {
            **self._service.handlers,
            **{api: _with_caller(handler) for api, handler in control.items()},
            Api.GET_FILESYSTEM_SECURITY_TOKEN: SecurityTokens.of(self._options, self._ground.clock).handle,
            **({} if self.remote is None else self.remote.handlers()),
        }


def _with_caller(handler: Callable[[Any, Caller], Any]) -> Handler:
    def handle(request: Any, exchange: Exchange) -> Any:
        host, port = exchange.connection.told_address
        return handler(request, Caller(exchange.version, host, port))

    return handle
