"""ClusterMap: which servers there are, and who leads which bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from lakeward.protocol.messages.metadata import PbServerNode


@dataclass(frozen=True, slots=True)
class Door:
    """The listener that a question came in by, and the address that its clients are told."""

    listener: str
    host: str
    port: int


class Lead(NamedTuple):
    """Who leads a bucket; nobody where no server is known that could."""

    server_id: int | None
    epoch: int
    replicas: tuple[int, ...]


class Servers(NamedTuple):
    """Who is there, by the addresses of one listener."""

    coordinator: PbServerNode | None
    tablets: tuple[PbServerNode, ...]


class ClusterMap(Protocol):
    """What is known of the servers of a cluster."""

    def servers(self, door: Door) -> Servers:
        """The servers that are there, as clients of that door reach them."""
        ...

    def leads(self, table_id: int, partition_id: int | None, count: int) -> tuple[Lead, ...]:
        """Who leads each of the buckets of a table, or of one of its partitions."""
        ...
