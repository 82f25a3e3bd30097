"""Seat: what a tablet server is given that is one of several in a cluster somebody else coordinates."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from lakeward.errors import ErrorCode
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.pool import ChannelPool
from lakeward.server.member.known_servers import KnownServers
from lakeward.server.replica.follower_fetches import FetchSettings
from lakeward.server.replica.held_replicas import ReplicaSettings
from lakeward.server.whereabouts.cluster_map import Door

_FOLLOWING = "following"


class Numbers(Protocol):
    """Counters that all servers of a cluster share."""

    async def take_number(self, path: str, count: int = 1) -> int:
        """The first of some numbers that nobody else gets."""
        ...

    def take_number_now(self, path: str, count: int) -> int:
        """The same, waited for on this thread."""
        ...


class Nodes(Protocol):
    """What a cluster's coordinator has written down."""

    async def read(self, path: str) -> bytes | None:
        """What a node holds; None where there is none."""
        ...

    async def children(self, path: str) -> list[str]:
        """The names below a node; none where it is not there."""
        ...


class CoordinatorAtAddress:
    """The coordinator of a cluster, which moves now and then. A `CoordinatorLink`."""

    def __init__(self, pool: ChannelPool, listener: str) -> None:
        self._pool = pool
        self._listener = listener
        #: By listener; none while there is no coordinator.
        self.addresses: dict[str, tuple[str, int]] = {}

    def move(self, addresses: dict[str, tuple[str, int]] | None) -> None:
        """It is there now; None while there is none."""
        self.addresses = addresses or {}

    async def ask(self, api: Api, request: Any) -> Any:
        """The answer; an error is raised as it was given."""
        if not self.addresses:
            raise ErrorCode.NETWORK.error("The cluster has no coordinator just now.")
        if self._listener not in self.addresses:
            raise ErrorCode.NETWORK.error(
                f"The cluster's coordinator has no listener {self._listener}: it has {', '.join(self.addresses)}."
            )
        channel = await self._pool.channel(*self.addresses[self._listener])
        return await channel.request(api, request)


class ClusterPeers:
    """The other servers, at the addresses that the coordinator has told. `Peers`."""

    def __init__(
        self, pool: ChannelPool, servers: KnownServers, coordinator: CoordinatorAtAddress, listener: str
    ) -> None:
        self._pool = pool
        self._servers = servers
        self._coordinator = coordinator
        self._door = Door(listener, "localhost", 0)

    def is_alive(self, server_id: int) -> bool:
        """Whether the coordinator counts a server among those that are there."""
        return any(one.node_id == server_id for one in self._servers.servers(self._door).tablets)

    async def ask_server(self, server_id: int, api: Api, request: Any) -> Any:
        """Ask a tablet server, by a connection that is for replicas alone."""
        for one in self._servers.servers(self._door).tablets:
            if one.node_id == server_id:
                channel = await self._pool.channel(one.host, one.port, _FOLLOWING)
                return await channel.request(api, request)
        raise ErrorCode.NETWORK.error(f"The coordinator does not count server {server_id} among those that are there.")

    async def ask_coordinator(self, api: Api, request: Any) -> Any:
        """Ask the coordinator."""
        return await self._coordinator.ask(api, request)


class Seat(NamedTuple):
    """A place in a cluster."""

    pool: ChannelPool
    coordinator: CoordinatorAtAddress
    #: The listener by which the servers speak to each other.
    listener: str
    numbers: Numbers
    nodes: Nodes


def replica_settings(options: ServerOptions, server_id: int) -> ReplicaSettings:
    """The numbers that replication obeys."""
    return ReplicaSettings(server_id, options.get(rows.REPLICA_LAG_MAX), options.get(rows.REPLICAS_IN_SYNC_MIN))


def fetch_settings(options: ServerOptions, server_id: int) -> FetchSettings:
    """The numbers that followers obey."""
    return FetchSettings(
        server_id,
        options.get(rows.REPLICA_FETCH_BYTES),
        options.get(rows.REPLICA_FETCH_BUCKET_BYTES),
        options.get(rows.REPLICA_FETCH_WAIT),
        options.get(rows.REPLICA_FETCH_BACKOFF),
    )
