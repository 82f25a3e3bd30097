"""Node: a running server. `start_node` puts one together, from the ground up.

node = await start_node(options, doors)      doors: clock, entropy, threads; the loop is the one that runs
node.addresses                               where clients may come
node.front.connection(listener)              the protocol of a client that comes by another way
await node.stop()                            all that was acknowledged is on disk

ground    data directory, metadata, clock, threads
roles     what exists (coordinator), its logs and states (tablet), their copies elsewhere (remote)
grants    what each of them may do, what they did, and how much of it
front     the clients
chores    what happens by the clock
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from platform import python_version

from lakeward.options import server as rows
from lakeward.options.metrics import TABLES_MAX
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.remote.open_store import open_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.rpc.buffer_pool import BufferPool
from lakeward.rpc.dispatch import Dispatcher, Handler
from lakeward.rpc.server_connection import ServerConnection
from lakeward.rpc.turns import Turns
from lakeward.runtime.version import VERSION
from lakeward.server.access.access import Access, AccessPlan, users_of
from lakeward.server.access.doorkeeper import LoginReport
from lakeward.server.chores.housekeeping import Housekeeping
from lakeward.server.chores.relief import Relief
from lakeward.server.cluster_roles import ClusterRoles
from lakeward.server.doors import Doors
from lakeward.server.front import Front, ListenerAddress, allowed_connections
from lakeward.server.grants.grants import Grants
from lakeward.server.ground import Ground
from lakeward.server.node_metrics import LoginCounts, declare_front, declare_metrics
from lakeward.server.remote.access.fenced_store import FencedStore, claim_store, common_store, share_store
from lakeward.server.remote.access.opening import opened_store
from lakeward.server.remote.access.ownership import identity_of
from lakeward.server.replica.seat import Seat
from lakeward.server.report import http
from lakeward.server.report.health import health
from lakeward.server.report.outlets import Outlets, tracer_of
from lakeward.server.report.process_metrics import ProcessMetrics
from lakeward.server.report.request_meter import RequestMeter
from lakeward.server.report.request_traces import RequestTraces
from lakeward.server.report.scrape import Scrape
from lakeward.server.report.seen_clients import SeenClients
from lakeward.server.role_parts import AnyRoles, RoleParts
from lakeward.server.roles import Roles
from lakeward.server.tablet.kv.lazy_kv import KV_REQUEST_TYPES
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.scrubber import Scrubber
from lakeward.server.tablet_roles import Membership, TabletRoles
from lakeward.telemetry.metrics import Metrics

_log = logging.getLogger(__name__)
_SWEEP_MS = 10_000
_TICK_MS = 1000
_MINUTE_MS = 60_000


class Node:
    """One server: coordinator and tablet roles on one port, or one of the two."""

    def __init__(
        self,
        addresses: list[ListenerAddress],
        ground: Ground,
        roles: AnyRoles,
        front: Front,
        chores: Housekeeping,
        scrubber: Scrubber,
        grants: Grants,
        outlets: Outlets,
    ) -> None:
        self.addresses = addresses
        self.roles = roles
        self.front = front
        self._ground = ground
        self._chores = chores
        self._scrubber = scrubber
        self._grants = grants
        self._outlets = outlets

    @property
    def lock_number(self) -> int:
        """The descriptor by which the data directory is held."""
        return self._ground.directory.lock_number

    @property
    def identity(self) -> str | None:
        """What this server is called in its remote storage; None when it has none."""
        return identity_of(self._ground.metadata)

    async def stop(self) -> None:
        """Take no more requests, answer the ones under way, sync everything."""
        tablets, remote = self.roles.tablets, self.roles.remote
        self.front.refuse()
        tablets.waiters.release_all()
        await self._outlets.stop()
        await self._scrubber.stop()
        await self._chores.stop()
        await self.roles.close()
        if remote is not None:
            await remote.stop_logs()
        await self.front.drain()
        self._ground.directory.require_in_place()
        tablets.chores.last_snapshots()
        await tablets.busy.stop()
        self._ground.disk.close()
        if remote is not None:
            await remote.stop_state()
        tablets.close()
        if remote is not None:
            await remote.close()
        self._grants.close()
        self._ground.close()


async def start_node(
    options: ServerOptions,
    doors: Doors,
    *,
    member: Membership | None = None,
    seat: Seat | None = None,
    fleet_size: int = 0,
) -> Node:
    """Bring a server up; when this returns, clients may come.

    A `member` is a tablet server that obeys a coordinator elsewhere; with a `seat` its buckets have replicas on other
    servers. With a `fleet_size` this is the coordinator of so many of them.
    """
    loop = asyncio.get_running_loop()
    plan = AccessPlan.of(options, doors.files)
    for warning in plan.warnings:
        _log.warning("%s", warning)
    ground = Ground(options, doors, is_lodger=member is not None and seat is None, has_metadata=member is None)
    store = await _open_store(options, ground, member, seat)
    turns = Turns(loop, ground.clock.monotonic)
    connections: set[ServerConnection] = set()
    pool = BufferPool(bytes_max=options.get(rows.MAX_RECEIVE_MEMORY))
    relief = Relief(options, pool, connections, loop.time)
    tracer = tracer_of(options, ground.clock, ground.entropy)
    followed = None if tracer is None else RequestSpans(tracer)
    parts = RoleParts(loop, turns, options, ground, store, relief.has_room, followed)
    roles = _make_roles(parts, member, seat, fleet_size)
    logs = roles.tablets.logs
    scrub = (options.get(rows.LOG_SCRUB_RATE), options.get(rows.LOG_SCRUB_INTERVAL))
    scrubber = Scrubber(roles.tablets.buckets, logs, ground.scrub_thread, ground.clock, *scrub)
    metrics = Metrics()
    declare_metrics(metrics, connections, ground, roles, scrubber, pool, options.get(TABLES_MAX))
    ProcessMetrics(doors.usage).declare(metrics, VERSION, python_version())
    grants = _open_grants(ground, roles, metrics)
    access = _open_access(plan, doors, ground, grants, metrics)
    handlers = {**roles.handlers(), Api.AUTHENTICATE: access.doorkeeper.authenticate}
    clients = SeenClients()
    meter = RequestMeter(grants.ledger, ground.clock.monotonic)
    meter.declare(metrics)
    dispatcher = Dispatcher(
        roles.when_told(_guard(grants, handlers, roles)),
        KV_REQUEST_TYPES,
        options.get(rows.MAX_ELEMENTS),
        meter if followed is None else RequestTraces(followed, meter),
        clients.note,
    )
    pages = partial(
        http.answer,
        health=lambda: _health(ground, roles, clients, scrubber),
        metrics=Scrape(loop, metrics.text_steps, ground.clock.monotonic),
        remote=None if roles.remote is None else roles.remote.status,
    )
    internal = None if seat is None else seat.listener
    front = Front(loop, options, connections, pool, turns, dispatcher, access, pages, internal)
    declare_front(metrics, front)
    roles.begin()
    chores = Housekeeping(loop)
    _begin_chores(chores, options, ground, roles, relief, front)
    chores.every(_TICK_MS, "logins and certificates", access.look)
    chores.every(_TICK_MS, "audit", grants.look)
    chores.every(_MINUTE_MS, "recent times", meter.look)
    outlets = Outlets(loop, options, metrics, ground.clock, ground.entropy, doors.threads, tracer)
    await outlets.open(pages, asks_everybody=plan.asks_everybody)
    scrubber.begin(loop)
    return Node(await front.open(), ground, roles, front, chores, scrubber, grants, outlets)


def _health(ground: Ground, roles: AnyRoles, clients: SeenClients, scrubber: Scrubber) -> str:
    fleet = roles.fleet if isinstance(roles, Roles) else None
    return health(
        roles.catalog.tables(),
        roles.tablets.logs,
        roles.space.reasons,
        ground.clock,
        clients,
        scrubber.damage_found(),
        None if fleet is None else fleet.document(),
    )


def _guard(grants: Grants, handlers: dict[Api, Handler], roles: AnyRoles) -> dict[Api, Handler]:
    """The handlers behind grants, which are kept here or by the coordinator elsewhere."""
    learns = isinstance(roles, TabletRoles)
    if isinstance(roles, TabletRoles):
        roles.follow(grants)
    return grants.handlers(handlers, roles.catalog, roles.producer_offsets, roles.snapshot_leases, learns=learns)


def _make_roles(parts: RoleParts, member: Membership | None, seat: Seat | None, fleet_size: int) -> AnyRoles:
    if member is None:
        return Roles(parts, fleet_size)
    return TabletRoles(parts, member) if seat is None else ClusterRoles(parts, member, seat)


def _open_access(plan: AccessPlan, doors: Doors, ground: Ground, grants: Grants, metrics: Metrics) -> Access:
    """Who may come in, and how."""
    users = users_of(plan, doors.files, ground.entropy, ground.clock)
    users.on_change(grants.note_users)
    return Access(
        asyncio.get_running_loop(),
        plan,
        users,
        ground.login_thread,
        ground.entropy,
        allowed_connections(plan.options.get(rows.MAX_CONNECTIONS)),
        _all_of(LoginCounts(metrics).hear, grants.hear),
    )


def _open_grants(ground: Ground, roles: AnyRoles, metrics: Metrics) -> Grants:
    """Rights, records and quotas; the quotas follow the options while the server runs."""
    config = roles.config
    grants = Grants(config.current, ground.metadata, ground.directory.disk, ground.directory.root, ground.clock)
    config.on_change(lambda: grants.change_quotas(config.current))
    grants.declare(metrics)
    return grants


def _all_of(*listeners: Callable[[LoginReport], None]) -> Callable[[LoginReport], None]:
    def hear(report: LoginReport) -> None:
        for listener in listeners:
            listener(report)

    return hear


async def _open_store(
    options: ServerOptions, ground: Ground, member: Membership | None, seat: Seat | None
) -> FencedStore | None:
    """Remote storage, ours from now on or shared with the cluster; None when there is none."""
    if member is not None:
        url = options.get(rows.REMOTE_DATA_DIR)
        if url is None or (member.identity is None and seat is None):
            return None
        store: RemoteStore | None = open_store(url, options.texts)
        assert store is not None
        parts = ground.metadata, ground.clock, ground.entropy
        return common_store(store, *parts) if member.identity is None else share_store(store, *parts, member.identity)
    store = await opened_store(options, ground.metadata)
    return None if store is None else await claim_store(store, ground.metadata, ground.clock, ground.entropy)


def _begin_chores(
    chores: Housekeeping, options: ServerOptions, ground: Ground, roles: AnyRoles, relief: Relief, front: Front
) -> None:
    tablets = roles.tablets.chores
    chores.every(options.get(rows.LOG_CHECKPOINT_INTERVAL), "checkpoint", tablets.checkpoint)
    chores.every(options.get(rows.LOG_RETENTION_CHECK_INTERVAL), "retention", tablets.retain)
    chores.every(options.get(rows.KV_SNAPSHOT_INTERVAL), "snapshots", tablets.snapshot)
    chores.every(_TICK_MS, "compaction", tablets.compact)
    chores.every(_TICK_MS, "disk space", roles.space.look)
    chores.every(_TICK_MS, "partitions and producer offsets", roles.tick)
    chores.every(_SWEEP_MS, "idle connections", front.close_idle)
    chores.every(_SWEEP_MS, "clock", ground.note_time)
    chores.every(_TICK_MS, "relief", relief.look)
    if roles.remote is not None:
        roles.remote.begin(chores)
