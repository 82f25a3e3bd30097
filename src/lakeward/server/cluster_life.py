"""A tablet server of an Apache Fluss cluster: registered in its ZooKeeper, obeying its coordinator."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import server as rows
from lakeward.options.endpoint import Endpoint
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.protocol.messages.servers.reports import ControlledShutdownRequest
from lakeward.rpc.client_security import ClientSecurity
from lakeward.rpc.pool import ChannelPool
from lakeward.server.doors import Doors
from lakeward.server.front import ListenerAddress
from lakeward.server.node import start_node
from lakeward.server.replica.entry import check_coordinator, check_listener
from lakeward.server.replica.seat import CoordinatorAtAddress, Seat
from lakeward.server.tablet_roles import Membership
from lakeward.server.zookeeper.home import check_home, note_home
from lakeward.server.zookeeper.session import ZooKeeperSession, ZooKeeperSettings

_log = logging.getLogger(__name__)
_SHUTDOWN_S = 4.0
_SHUTDOWN_TRIES = 4


async def live_in_cluster(
    options: ServerOptions,
    server_id: int,
    security: ClientSecurity,
    stopping: asyncio.Event,
    ready: Callable[[list[ListenerAddress]], None],
) -> None:
    """Serve until somebody wants it to stop; `ready` hears where, once the cluster knows of it.

    By `security` it comes in at the other servers.
    """
    check_listener(options, logs_in=security.login is not None)
    listener = options.get(rows.INTERNAL_LISTENER)
    pool = ChannelPool(security=security)
    coordinator = CoordinatorAtAddress(pool, listener)
    session = ZooKeeperSession(zookeeper_settings(options), coordinator.move)
    doors = Doors.of_this_machine()
    try:
        if not await _before(stopping, session.open()):
            return
        await check_coordinator(coordinator, listener)
        cluster = await session.cluster_mark()
        check_home(doors.files, options.data_dir(), cluster)
        seat = Seat(pool, coordinator, listener, session, session)
        node = await start_node(options, doors, member=Membership(server_id, coordinator), seat=seat)
        try:
            note_home(doors.files, options.data_dir(), cluster)
            listeners = [Endpoint(one.name, one.told_host or one.host, one.port) for one in node.addresses]
            if not await _before(stopping, session.register(server_id, listeners, doors.clock.now_ms)):
                return
            ready(node.addresses)
            await stopping.wait()
            await _hand_over(coordinator, server_id)
        finally:
            await node.stop()
    finally:
        await session.close()
        await pool.close()


async def _before(stopping: asyncio.Event, work: Coroutine[Any, Any, None]) -> bool:
    """Do something; False when somebody wanted this server to stop before it was done."""
    doing, told = asyncio.ensure_future(work), asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({doing, told}, return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
        return doing.done()
    finally:
        for one in (doing, told):
            one.cancel()


async def _hand_over(coordinator: CoordinatorAtAddress, server_id: int) -> None:
    """Have others lead what this server leads, before it goes; if nobody answers, it goes all the same."""
    request = ControlledShutdownRequest(tablet_server_id=server_id, tablet_server_epoch=-1)
    try:
        async with asyncio.timeout(_SHUTDOWN_S):
            for _ in range(_SHUTDOWN_TRIES):
                answer = await coordinator.ask(Api.CONTROLLED_SHUTDOWN, request)
                if not answer.remaining_leader_buckets:
                    return
                await asyncio.sleep(_SHUTDOWN_S / _SHUTDOWN_TRIES)
    except (TimeoutError, LakewardError) as wrong:
        _log.warning("the coordinator did not hand over what this server leads: %s", wrong)


def zookeeper_settings(options: ServerOptions) -> ZooKeeperSettings:
    """Where ZooKeeper is; INVALID_CONFIG when nobody says."""
    hosts = options.get(rows.ZOOKEEPER_ADDRESS)
    if hosts is None:
        raise ErrorCode.INVALID_CONFIG.error("Where is ZooKeeper? Say --zookeeper HOST:PORT, or set zookeeper.address.")
    for one in hosts.partition("/")[0].split(","):
        host, colon, port = one.strip().rpartition(":")
        if colon and not (host and port.isdecimal() and 0 < int(port) < 65536):
            raise ErrorCode.INVALID_CONFIG.error(f"'{one}' is no address of ZooKeeper: HOST:PORT is wanted.")
    return ZooKeeperSettings(
        hosts,
        options.get(rows.ZOOKEEPER_ROOT).rstrip("/"),
        options.get(rows.ZOOKEEPER_SESSION_TIMEOUT),
        options.get(rows.ZOOKEEPER_CONNECT_TIMEOUT),
    )
