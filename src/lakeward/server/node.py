"""Node: start, serve, stop. Puts the parts of a server together."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from lakeward.errors import LakewardError
from lakeward.model.table import TableInfo
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.frames import RequestHeader
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.dispatch import Dispatcher, Exchange, Handler
from lakeward.rpc.listener import Listener
from lakeward.rpc.server_connection import ConnectionLimits, ServerConnection
from lakeward.rpc.turns import Turns
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.descriptors import raise_limit
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.metrics import Metrics
from lakeward.runtime.seldom import SeldomLog
from lakeward.runtime.trusted_clock import TrustedClock
from lakeward.server.catalog import events
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.chores.housekeeping import Housekeeping
from lakeward.server.chores.relief import Relief
from lakeward.server.coordinator.coordinator import Coordinator
from lakeward.server.coordinator.handlers.caller import Caller
from lakeward.server.coordinator.handlers.service import handlers as coordinator_handlers
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.remote.access.fenced_store import fenced
from lakeward.server.remote.access.opening import opened_store
from lakeward.server.remote.access.tokens import SecurityTokens
from lakeward.server.report import http
from lakeward.server.report.health import declare_damage, health
from lakeward.server.report.lake_metrics import LakeMetrics
from lakeward.server.tablet.buckets.busy import BusyBuckets
from lakeward.server.tablet.buckets.log_settings import log_settings
from lakeward.server.tablet.buckets.tablets import Tablets
from lakeward.server.tablet.kv.lazy_kv import KV_REQUEST_TYPES, LazyKv
from lakeward.server.tablet.log.append_checks import AppendChecks
from lakeward.server.tablet.log.early import EarlyBatches
from lakeward.server.tablet.log.fetch import Fetches, FetchLimits
from lakeward.server.tablet.log.produce import Appends
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.scans import Scans
from lakeward.server.tablet.scrubber import Scrubber
from lakeward.server.tablet.service import tablet_handlers
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.settings import LogSettings

if TYPE_CHECKING:
    from lakeward.server.remote.log_service import RemoteLogService
    from lakeward.server.remote.state_service import RemoteStateService
    from lakeward.server.tablet.kv.kv_service import KvService

_log = logging.getLogger(__name__)
_SWEEP_MS = 10_000
_TICK_MS = 1000
_DRAIN_S = 5.0
_OPEN_FILES_MAX = 512
#: Descriptors for everything that is neither a client nor a log: metadata, state, remote storage, threads.
_OTHER_FILES = 256
_STATE_THREADS = 2


class Node:
    """One server process: coordinator and tablet roles on one port."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._clock = TrustedClock(SystemClock())
        self._directory = DataDirectory(options.data_dir())
        self._clock.begin(self._directory.seen_ms)
        self._note_time()
        self._store = SqliteMetadataStore(self._directory.metadata_file)
        self.coordinator = Coordinator(self._store, options, self._clock)
        self._files = OpenFiles(_OPEN_FILES_MAX)
        self._disk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="disk")
        self._threads = ThreadPoolExecutor(max_workers=_STATE_THREADS, thread_name_prefix="state")
        self._connections: set[ServerConnection] = set()
        self._connections_max = self._allowed_connections()
        self._pool = BufferPool(bytes_max=options.get(rows.MAX_RECEIVE_MEMORY))
        self._metrics = Metrics()
        self._metrics_text = http.KeptText(self._metrics.text)
        self._listeners: list[Listener] = []

    def _allowed_connections(self) -> int:
        """As many as were asked for, or as descriptors are left for."""
        wanted = self.options.get(rows.MAX_CONNECTIONS)
        others = _OPEN_FILES_MAX + _OTHER_FILES
        left = max(raise_limit(wanted + others) - others, 1)
        if left < wanted:
            told = "at most %d connections instead of %d: the system allows %d open files (ulimit -n)"
            _log.warning(told, left, wanted, left + others)
        return min(left, wanted)

    async def start(self) -> list[tuple[str, int]]:
        """Open the port; returns the addresses the server listens on."""
        loop = asyncio.get_running_loop()
        self._loop = loop
        opened = await opened_store(self.options, self._store)
        self.remote = None if opened is None else await fenced(opened, self._store, self._clock, SystemEntropy())
        self._turns = Turns(loop)
        self._refusals = SeldomLog(_log, loop.time)
        self._relief = Relief(self.options, self._pool, self._connections, loop.time)
        self._waiters = Waiters(loop, self._turns)
        self._busy = BusyBuckets(loop, self._threads)
        catalog = self.coordinator.catalog
        self._tablets = Tablets(
            catalog,
            self._directory,
            self._files,
            self._later,
            self._log_settings,
            self._kv_engine,
            self.coordinator.row_numbers.reserve,
            self._busy,
        )
        self._tablets.lake_floor = self.coordinator.lake_floor
        catalog.subscribe(self._on_event)
        for leftover in self._directory.dropped():
            self._later(partial(self._directory.remove, leftover))
        now_ms = self._clock.now_ms
        early = EarlyBatches(loop, self.options.get(rows.WRITER_PARKING_TIMEOUT))
        checks = AppendChecks(catalog, looks_at_contents=self.options.get(rows.LOG_BATCH_CHECK) == "full")
        appends = Appends(checks, self._tablets, self._waiters, early, now_ms, partial(loop.run_in_executor, None))
        kv = self._kv = LazyKv(loop, partial(self._kv_service, early))
        logs = self._remote_logs = self._remote_log_service()
        reads = None if logs is None else logs.reads
        state = self._remote_state = self._remote_state_service()
        answer_bytes_max = self.options.get(rows.MAX_ANSWER_SIZE)
        fetches = Fetches(
            catalog,
            self._tablets,
            self._waiters,
            self.coordinator.lake_floor,
            FetchLimits(answer_bytes_max, self.options.get(rows.MAX_WAITING_FETCHES)),
            reads,
        )
        scans = Scans(self._tablets, kv, now_ms, self._busy, answer_bytes_max, reads)
        handlers = tablet_handlers(appends, fetches, scans, kv)
        handlers |= {api: self._adapted(handler) for api, handler in coordinator_handlers(self.coordinator).items()}
        handlers[Api.GET_FILESYSTEM_SECURITY_TOKEN] = SecurityTokens.of(self.options, self._clock).handle
        if state is not None:
            handlers[Api.GET_KV_SNAPSHOT_METADATA] = state.snapshot_metadata
            state.declare(self._metrics)
        scrub_ms = self.options.get(rows.LOG_SCRUB_INTERVAL)
        self._scrubber = Scrubber(self._tablets, self.options.get(rows.LOG_SCRUB_RATE), scrub_ms)
        self._declare_metrics()
        elements_max = self.options.get(rows.MAX_ELEMENTS)
        self._dispatcher = Dispatcher(handlers, self._count_request, KV_REQUEST_TYPES, elements_max)
        self._housekeeping = Housekeeping(loop)
        self.coordinator.tick()
        if any(table.descriptor.has_primary_key for table in catalog.tables()):
            kv.load()
        self._space = DiskSpace(self._directory.root, lambda: self.coordinator.config.current, self._tablets.writes)
        catalog.may_grow = self._space.check
        self._space.look()
        self._begin_chores()
        self._scrubber.begin(loop)
        return await self._listen()

    async def _listen(self) -> list[tuple[str, int]]:
        advertised = self.options.advertised_listeners()
        for endpoint in self.options.get(rows.BIND_LISTENERS):
            listener = Listener(endpoint, advertised[endpoint.name])
            self._listeners.append(listener)
            await listener.open(self._connection)
        return [listener.told("localhost") for listener in self._listeners]

    def _connection(self, listener: Listener) -> ServerConnection:
        limits = ConnectionLimits(
            frame_bytes=self.options.get(rows.MAX_REQUEST_SIZE),
            unread_answer_bytes=self.options.get(rows.MAX_PENDING_RESPONSE_SIZE),
        )
        return ServerConnection(self, listener, self._pool, self._turns, limits, self._loop)

    async def stop(self) -> None:
        """Take no more requests, answer the ones under way, sync everything."""
        for listener in self._listeners:
            listener.close()
        self._waiters.release_all()
        await self._scrubber.stop()
        await self._housekeeping.stop()
        if self._remote_logs is not None:
            await self._remote_logs.stop()
        for connection in list(self._connections):
            connection.close()
        for _ in range(int(_DRAIN_S / 0.02)):
            if not self._connections:
                break
            await asyncio.sleep(0.02)
        for connection in list(self._connections):
            connection.abort()
        await self._busy.stop()
        self._disk.shutdown(wait=True)
        if self._remote_state is not None:
            await self._remote_state.stop()
        self._tablets.close()
        self._files.close()
        if self.remote is not None:
            await self.remote.close()
        self._store.close()
        self._directory.close()

    # -- what connections ask for

    def request(self, connection: ServerConnection, header: RequestHeader, body: memoryview) -> None:
        """A request has come."""
        self._dispatcher.request(connection, header, body)

    def http(self, request: bytes) -> bytes:
        """A plain HTTP request has come."""
        remote = None if self._remote_logs is None else self._remote_status
        return http.answer(request, health=self._health, metrics=self._metrics_text, remote=remote)

    def opened(self, connection: ServerConnection) -> None:
        """A client has come."""
        if len(self._connections) >= self._connections_max:
            self._refusals.warn(f"refused {connection.peer}: {len(self._connections)} connections are open")
            connection.abort()
            return
        self._connections.add(connection)

    def closed(self, connection: ServerConnection) -> None:
        """A client has gone."""
        self._connections.discard(connection)

    def _adapted(self, handler: Callable[[Any, Caller], Any]) -> Handler:
        def handle(request: Any, exchange: Exchange) -> Any:
            host, port = exchange.connection.told_address
            return handler(request, Caller(exchange.version, host, port))

        return handle

    # -- what happens

    def _on_event(self, event: events.Event) -> None:
        match event:
            case events.TableCreated() if event.table.descriptor.has_primary_key:
                self._kv.load()
            case events.TableAltered():
                self._tablets.altered(event.table)
            case events.TableDropped():
                for bucket in event.buckets:
                    self._waiters.touch(bucket)
                self._tablets.drop_table(event.table)
            case events.PartitionDropped():
                for bucket in event.buckets:
                    self._waiters.touch(bucket)
                self._tablets.drop_partition(event.table, event.partition.partition_id, event.partition.name)
            case _:
                pass

    def _later(self, job: Callable[[], None]) -> None:
        """Run something slow beside the event loop, in order."""

        def run() -> None:
            try:
                job()
            except FileNotFoundError:
                _log.debug("a file went away under %s; its table was dropped", job)
            except (LakewardError, OSError) as wrong:
                _log.error("work on disk failed: %s", wrong)  # a full disk is no bug to be traced
            except Exception:  # noqa: BLE001 - the thread must live on
                _log.exception("work on disk failed")

        self._disk.submit(run)

    def _begin_chores(self) -> None:
        options = self.options
        chores = self._housekeeping
        chores.every(options.get(rows.LOG_CHECKPOINT_INTERVAL), "checkpoint", self._tablets.checkpoint)
        chores.every(options.get(rows.LOG_RETENTION_CHECK_INTERVAL), "retention", self._retain)
        chores.every(options.get(rows.KV_SNAPSHOT_INTERVAL), "snapshots", self._tablets.snapshot)
        chores.every(_TICK_MS, "compaction", self._compact)
        chores.every(_TICK_MS, "disk space", self._space.look)
        chores.every(_TICK_MS, "partitions and producer offsets", self.coordinator.tick)
        chores.every(_SWEEP_MS, "idle connections", self._close_idle)
        chores.every(_SWEEP_MS, "clock", self._note_time)
        chores.every(_TICK_MS, "relief", self._relief.look)
        if self._remote_logs is not None:
            self._remote_logs.begin(chores)
        if self._remote_state is not None:
            self._remote_state.begin(chores)

    def _compact(self) -> Iterator[object]:
        return self._tablets.compact(self._clock.now_ms(), self._loop.call_soon_threadsafe)

    def _retain(self) -> Iterator[object]:
        self._tablets.refresh_settings()
        return self._tablets.retain(self._clock.settled_ms(), self.coordinator.lake_floor)

    def _note_time(self) -> None:
        # The settled time: a start in the middle of a doubt must not take the doubtful time for certain.
        self._directory.note_time(self._clock.settled_ms())

    def _close_idle(self) -> None:
        idle_s = self.options.get(rows.MAX_IDLE_TIME) / 1000
        for connection in list(self._connections):
            if self._loop.time() - connection.active_at > idle_s:
                connection.abort()

    def _kv_service(self, early: EarlyBatches) -> KvService:
        """Load the kernels, on a thread of its own; nothing here is shared until it is done."""
        from lakeward.server.tablet.kv.kv_service import KvService
        from lakeward.server.tablet.kv.kv_warm_up import warm_up
        from lakeward.server.tablet.kv.lookups import LookupLimits

        warm_up()
        limits = LookupLimits(*map(self.options.get, (rows.MAX_KEYS, rows.MAX_ROWS, rows.MAX_ANSWER_SIZE)))
        has_room, now_ms = self._relief.has_room, self._clock.now_ms
        return KvService(self._tablets, self._busy, self._waiters, early, SystemEntropy(), limits, has_room, now_ms)

    def _remote_log_service(self) -> RemoteLogService | None:
        if self.remote is None:
            return None
        from lakeward.server.remote.log_service import RemoteLogService

        service = RemoteLogService(
            self.options,
            self.coordinator,
            self._store,
            self.remote,
            self._tablets,
            self._clock,
            SystemEntropy(),
            self._waiters.touch,
            lambda: self._loop.run_in_executor(self._disk, lambda: None),
        )
        self.coordinator.catalog.subscribe(service.on_event)
        self.coordinator.remote_logs = service.logs
        return service

    def _remote_state_service(self) -> RemoteStateService | None:
        if self.remote is None or self._remote_logs is None:
            return None
        from lakeward.server.remote.state_service import RemoteStateService

        service = RemoteStateService(
            self.coordinator,
            self._store,
            self.remote,
            self.remote.ownership,
            self._tablets,
            self._remote_logs,
            self._clock,
            SystemEntropy(),
            self._busy,
            self._later,
        )
        self.coordinator.catalog.subscribe(service.on_event)
        return service

    def _kv_engine(self) -> str:
        return self.options.get(rows.KV_ENGINE)

    def _log_settings(self, table: TableInfo) -> LogSettings:
        return log_settings(self.coordinator.config.current, table)

    # -- what it counts

    def _health(self) -> str:
        tables = sum(1 for _ in self.coordinator.catalog.tables())
        return health(tables, self._tablets, self._space.reasons, self._clock.trouble)

    def _remote_status(self) -> str:
        assert self._remote_logs is not None
        return json.dumps(self._remote_logs.status.document()) + "\n"

    def _declare_metrics(self) -> None:
        self._requests = self._metrics.counter("lakeward_requests_total", "Requests by API.")
        connections = self._metrics.gauge("lakeward_connections", "Open client connections.")
        connections.read_from(lambda: len(self._connections))
        tables = self._metrics.gauge("lakeward_tables", "Tables in the catalog.")
        tables.read_from(lambda: sum(1 for _ in self.coordinator.catalog.tables()))
        logs = self._metrics.gauge("lakeward_open_logs", "Bucket logs that are in use.")
        logs.read_from(lambda: len(self._tablets))
        stored = self._metrics.gauge("lakeward_log_bytes", "Bytes in the logs that are in use.")
        stored.read_from(self._tablets.stored_bytes)
        declare_damage(self._metrics, self._tablets)
        scrubbed = self._metrics.counter("lakeward_scrubbed_bytes_total", "Bytes that the scrubber has read.")
        scrubbed.read_from(lambda: self._scrubber.bytes_read)
        waiting = self._metrics.gauge("lakeward_fetches_waiting", "Fetches that wait for rows.")
        waiting.read_from(lambda: len(self._waiters))
        LakeMetrics(self.coordinator, self._tablets).declare(self._metrics)
        if self._remote_logs is not None:
            self._remote_logs.status.declare(self._metrics)

    def _count_request(self, api: Api) -> None:
        self._requests.add(1, (("api", api.name),))
