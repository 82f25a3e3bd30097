"""KnownServers: who is there and who leads what, as the coordinator has told it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakeward.errors import ErrorCode
from lakeward.options.endpoint import Endpoint
from lakeward.protocol.messages.metadata import MetadataResponse, PbServerNode
from lakeward.server.whereabouts.cluster_map import Door, Lead, Servers

_UNKNOWN = Lead(None, -1, ())
_Whole = tuple[int, int | None]


class KnownServers:
    """The map of a tablet server."""

    def __init__(self) -> None:
        self._coordinator: PbServerNode | None = None
        self._tablets: tuple[PbServerNode, ...] = ()
        #: Table and partition → bucket → who leads it.
        self._leads: dict[_Whole, dict[int, Lead]] = {}

    def learn_servers(self, coordinator: PbServerNode | None, tablets: tuple[PbServerNode, ...]) -> None:
        """These are there, and no others."""
        self._coordinator = coordinator
        self._tablets = tablets

    def learn_leads(self, table_id: int, partition_id: int | None, leads: Iterable[tuple[int, Lead]]) -> None:
        """Who leads some buckets of a table, or of one of its partitions."""
        self._leads.setdefault((table_id, partition_id), {}).update(leads)

    def forget_table(self, table_id: int) -> None:
        """A table is gone."""
        for whole in [one for one in self._leads if one[0] == table_id]:
            del self._leads[whole]

    def forget_partition(self, table_id: int, partition_id: int) -> None:
        """A partition is gone."""
        self._leads.pop((table_id, partition_id), None)

    # -- what clients are told

    def servers(self, door: Door) -> Servers:
        """The servers that are there, as clients of that door reach them."""
        coordinator = None if self._coordinator is None else _behind(self._coordinator, door)
        tablets = (_behind(one, door) for one in self._tablets)
        return Servers(coordinator, tuple(one for one in tablets if one is not None))

    def leads(self, table_id: int, partition_id: int | None, count: int) -> tuple[Lead, ...]:
        """Who leads each of the buckets of a table, or of one of its partitions."""
        known = self._leads.get((table_id, partition_id), {})
        return tuple(known.get(bucket, _UNKNOWN) for bucket in range(count))

    def with_addresses(self, answer: MetadataResponse, door: Door) -> MetadataResponse:
        """What the coordinator said to this server, by the addresses of the door that a client came in by."""
        known = self.servers(door)
        if known.coordinator is None:
            raise ErrorCode.LEADER_NOT_AVAILABLE.error(
                f"The coordinator has not told yet where its listener {door.listener} is; try again in a moment."
            )
        there = {one.node_id for one in answer.tablet_servers}
        tablets = tuple(one for one in known.tablets if one.node_id in there)
        return replace(answer, coordinator_server=known.coordinator, tablet_servers=tablets)


def _behind(node: PbServerNode, door: Door) -> PbServerNode | None:
    """A server by its address of a listener; None when it has no such listener."""
    if not node.listeners:
        return PbServerNode(node_id=node.node_id, host=node.host or door.host, port=node.port, rack=node.rack)
    for text in node.listeners.split(","):
        endpoint = Endpoint.parse(text)
        if endpoint.name == door.listener:
            # One that listens everywhere is where its neighbour was found.
            host = endpoint.host or door.host
            return PbServerNode(node_id=node.node_id, host=host, port=endpoint.port, rack=node.rack)
    return None
