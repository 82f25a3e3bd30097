"""RoleParts: what the roles of any server are made of; and AnyRoles, what a node asks of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.rpc.turns import Turns
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.books.producer_offsets import ProducerOffsets
from lakeward.server.books.snapshot_leases import SnapshotLeases
from lakeward.server.buckets.logs import CopyProgress
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.coordinator.tables.cluster_config import ClusterConfig
from lakeward.server.ground import Ground
from lakeward.server.remote.access.fenced_store import FencedStore
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.tablets import Tablets

if TYPE_CHECKING:
    from lakeward.server.remote.role import RemoteRole


@dataclass(frozen=True, slots=True)
class RoleParts:
    """The ground below, and the front above."""

    loop: asyncio.AbstractEventLoop
    turns: Turns
    options: ServerOptions
    ground: Ground
    #: Remote storage, if there is any.
    store: FencedStore | None
    #: Whether there is memory for a large answer.
    has_room: Callable[[int], bool]
    #: The requests whose steps are to be seen.
    followed: RequestSpans | None


class AnyRoles(Protocol):
    """All that answers requests, of whatever server it is."""

    @property
    def catalog(self) -> Catalog:
        """What exists."""
        ...

    @property
    def config(self) -> ClusterConfig:
        """The options in force."""
        ...

    @property
    def tablets(self) -> Tablets:
        """The buckets that are here."""
        ...

    @property
    def remote(self) -> RemoteRole | None:
        """Copies elsewhere, if there are any."""
        ...

    @property
    def space(self) -> DiskSpace:
        """Room on the disk."""
        ...

    @property
    def producer_offsets(self) -> ProducerOffsets:
        """Where producers began."""
        ...

    @property
    def snapshot_leases(self) -> SnapshotLeases:
        """Who reads which snapshot."""
        ...

    def begin(self) -> None:
        """Do what was due while the server was off, before anybody asks."""

    def when_told(self, handlers: dict[Api, Handler]) -> dict[Api, Handler]:
        """The same handlers; what changes something is answered when all servers have been told."""
        ...

    def tick(self) -> None:
        """Do what is due by the clock."""

    async def close(self) -> None:
        """Begin nothing any more that changes a bucket."""

    def handlers(self) -> dict[Api, Handler]:
        """One handler per API."""
        ...


def copy_progress(options: ServerOptions, logs: RemoteLogs | None) -> CopyProgress | None:
    """What logs must know of their copies in remote storage."""
    if logs is None:
        return None
    return CopyProgress(logs.remote_end, keeps_rest=options.get(rows.REMOTE_LOG_INTERVAL) > 0)
