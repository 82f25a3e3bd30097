"""Fleet: the tablet servers of a coordinator: who is there, who leads what, and what each of them is told.

A server that comes is told everything: what exists, then what it leads. From then on it hears of every change. One that
goes is started again, and each bucket has one replica: clients are told of it as before, and ask it until it is back.
Of a bucket without a leader pyfluss keeps the old one for ever, and neither writes to it nor asks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import GeneratorType
from typing import Any

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.options.endpoint import Endpoint
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode
from lakeward.protocol.messages.metadata import PbPartitionMetadata, PbServerNode, PbTableMetadata
from lakeward.protocol.messages.servers.orders import (
    NotifyLeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from lakeward.rpc.channel import Channel
from lakeward.rpc.dispatch import Exchange, Handler
from lakeward.server.books.lake_snapshots import LakeSnapshots, SnapshotEntry
from lakeward.server.catalog import events
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.partition import PartitionInfo
from lakeward.server.fleet.line import Line
from lakeward.server.fleet.order_forms import gone_partition, gone_table, lake_order, lead_order, stop_order
from lakeward.server.fleet.placement import server_of
from lakeward.server.whereabouts.cluster_map import Door, Lead, Servers
from lakeward.server.whereabouts.metadata_answers import MetadataAnswers
from lakeward.server.whereabouts.opening import Opening

COORDINATOR_ID = 0
#: So many tables, partitions or buckets go into one message.
_AT_ONCE = 500
#: How long a change waits until every server knows of it.
_SETTLE_S = 5.0
#: Whoever asked for one of these finds it done wherever they ask next.
CHANGES = (
    Api.CREATE_TABLE,
    Api.ALTER_TABLE,
    Api.DROP_TABLE,
    Api.DROP_DATABASE,
    Api.CREATE_PARTITION,
    Api.DROP_PARTITION,
    Api.CREATE_ACLS,
    Api.DROP_ACLS,
    Api.ALTER_CLUSTER_CONFIGS,
    Api.COMMIT_LAKE_TABLE_SNAPSHOT,
)
_OF_GRANTS = (Api.CREATE_ACLS, Api.DROP_ACLS)


class Fleet:
    """A map of the cluster, and the sender of orders."""

    def __init__(
        self,
        size: int,
        catalog: Catalog,
        epoch: int,
        remote_data_dir: Callable[[TableInfo], str],
        remove_files: Callable[[events.Dropped], None],
        lake: LakeSnapshots,
    ) -> None:
        """`epoch` is the coordinator's; `remove_files` takes away what a drop has left, when no server uses it."""
        self.size = size
        self._catalog = catalog
        self._epoch = epoch
        self._remove_files = remove_files
        self._lake = lake
        self._answers = MetadataAnswers(catalog, self, remote_data_dir)
        self._lines: dict[int, Line] = {}
        #: Servers that have come, those that are away for a moment as well: where clients find them.
        self._known: dict[int, dict[str, tuple[str, int]]] = {}
        #: How often each server has come: the epoch in which it leads.
        self._comings = [0] * size
        self._tasks: set[asyncio.Future[Any]] = set()
        self._opening = Opening("The coordinator's tablet servers are not there yet; try again in a moment.")
        #: Where clients find the coordinator, as tablet servers tell them.
        self._listeners: dict[str, tuple[str, int]] = {}

    # -- who is there

    def introduce(self, listeners: dict[str, tuple[str, int]]) -> None:
        """Where clients find the coordinator."""
        self._listeners = listeners

    def join(self, server_id: int, channel: Channel, listeners: dict[str, tuple[str, int]]) -> asyncio.Future[None]:
        """A server has come; done when it leads its buckets and all others know."""
        self.leave(server_id)
        self._comings[server_id] += 1
        line = self._lines[server_id] = Line(server_id, channel, listeners)
        self._known[server_id] = listeners
        tables = [table.table_id for table in self._catalog.tables()]
        for some in _pieces(tables):
            line.tell(Api.UPDATE_METADATA, partial(self._all_of, tuple(some)))
        line.tell(Api.UPDATE_METADATA, partial(self._update, (), ()))
        for table in self._catalog.tables():
            latest = self._lake.latest(table)
            if latest is not None:
                self._tell_lake(line, latest.snapshot_id, self._lake.tiered_offsets(table))
        buckets = [one for one in self._catalog.all_buckets() if server_of(one, self.size) == server_id]
        for led in _pieces(buckets):
            line.tell(Api.NOTIFY_LEADER_AND_ISR, partial(self._lead_request, tuple(led)))
        return self._begin(self._take_office(line, tables))

    async def _take_office(self, line: Line, tables: list[int]) -> None:
        await line.settle()
        if self._lines.get(line.server_id) is line:
            line.take_office()
            self._tell_leads(tables)
            await self.settle()
            if not self.absent():
                self._opening.open()

    def absent(self) -> list[int]:
        """Servers that lead nothing now: they are gone, or have just come."""
        leading = {number for number, line in self._lines.items() if line.is_leading}
        return [number for number in range(self.size) if number not in leading]

    def document(self) -> dict[str, Any]:
        """For /health: how many there are, who is away, and how often one has come back."""
        returns = sum(comings - 1 for comings in self._comings if comings)
        return {"size": self.size, "away": self.absent(), "returns": returns}

    def leave(self, server_id: int) -> None:
        """A server is gone; it will be back."""
        line = self._lines.pop(server_id, None)
        if line is not None:
            line.close()

    def _tell_leads(self, tables: list[int]) -> None:
        """Have all servers know who leads what now, and who is there."""
        for line in self._lines.values():
            for some in _pieces(tables) if tables else [()]:
                line.tell(Api.UPDATE_METADATA, partial(self._all_of, tuple(some)))

    def settle(self) -> asyncio.Future[Any]:
        """Done when every server knows what there was to know until now, or does not answer."""
        waits = [line.settle() for line in self._lines.values()]
        return self._begin(asyncio.wait(waits, timeout=_SETTLE_S) if waits else asyncio.sleep(0))

    def _begin(self, work: Any) -> asyncio.Future[Any]:
        task: asyncio.Future[Any] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- where things are

    def servers(self, door: Door) -> Servers:
        """The servers that there are, as clients of that door reach them."""
        here = PbServerNode(node_id=COORDINATOR_ID, host=door.host, port=door.port)
        tablets = []
        for server_id, listeners in sorted(self._known.items()):
            if door.listener in listeners:
                host, port = listeners[door.listener]
                tablets.append(PbServerNode(node_id=server_id, host=host or door.host, port=port))
        return Servers(here, tuple(tablets))

    def leads(self, table_id: int, partition_id: int | None, count: int) -> tuple[Lead, ...]:
        """Who leads each of the buckets of a table, or of one of its partitions."""
        return tuple(self._lead(TableBucket(table_id, partition_id, bucket)) for bucket in range(count))

    def epoch_of(self, bucket: TableBucket) -> int:
        """The epoch in which a bucket is led."""
        return self._comings[server_of(bucket, self.size)]

    def _lead(self, bucket: TableBucket) -> Lead:
        server_id = server_of(bucket, self.size)
        return Lead(server_id if server_id in self._known else None, self._comings[server_id], (server_id,))

    # -- what changes

    def handlers(self, handlers: dict[Api, Handler]) -> dict[Api, Handler]:
        """The same, but what changes something is answered when every server knows of it, and nobody is told where
        things are before the servers have come for the first time."""
        waiting = {api: self._when_all_know(one) if api in CHANGES else one for api, one in handlers.items()}
        return {**waiting, Api.GET_METADATA: self._opening.behind(handlers[Api.GET_METADATA])}

    def _when_all_know(self, handler: Handler) -> Handler:
        def handle(request: Any, exchange: Exchange) -> Generator[Any, None, Any]:
            answer = handler(request, exchange)
            if type(answer) is GeneratorType:
                answer = yield from answer
            if exchange.api in _OF_GRANTS:
                self._tell_hint()
            yield self.settle()
            return answer

        return handle

    def hear(self, event: events.Event) -> None:
        """Tell the servers what has happened to the catalog."""
        match event:
            case events.TableCreated():
                self._tell_all(tables=(event.table.table_id,))
                self._lead_new(() if event.table.descriptor.is_partitioned else events.buckets_of(event.table, None))
            case events.TableAltered():
                self._tell_all(tables=(event.table.table_id,))
            case events.PartitionCreated():
                self._tell_all(partitions=(event.partition.partition_id,))
                self._lead_new(events.buckets_of(event.table, event.partition))
            case events.TableDropped():
                self._stop(event)
                self._tell_gone(UpdateMetadataRequest(table_metadata=(gone_table(event.table),)))
            case events.PartitionDropped():
                self._stop(event)
                self._tell_gone(UpdateMetadataRequest(partition_metadata=(gone_partition(event.partition),)))

    def hear_options(self) -> None:
        """Options have changed; some of them are told with tables."""
        self._tell_hint()
        self._tell_leads([table.table_id for table in self._catalog.tables()])

    def hear_lake(self, _table: TableInfo, snapshot: SnapshotEntry, offsets: Mapping[TableBucket, int]) -> None:
        """The lake has got further."""
        for line in self._lines.values():
            self._tell_lake(line, snapshot.snapshot_id, offsets)

    def _tell_lake(self, line: Line, snapshot_id: int, offsets: Mapping[TableBucket, int]) -> None:
        for some in _pieces(one for one in offsets.items() if server_of(one[0], self.size) == line.server_id):
            line.tell(Api.NOTIFY_LAKE_TABLE_OFFSET, partial(lake_order, self._epoch, snapshot_id, some))

    def _tell_hint(self) -> None:
        """Something has changed that messages do not carry: a message about no table has servers ask for it."""
        for line in self._lines.values():
            line.tell(Api.UPDATE_METADATA, partial(self._update, (), ()))

    def _tell_all(self, tables: tuple[int, ...] = (), partitions: tuple[int, ...] = ()) -> None:
        for line in self._lines.values():
            line.tell(
                Api.UPDATE_METADATA, lambda: self._update(self._table_forms(tables), self._partition_forms(partitions))
            )

    def _tell_gone(self, gone: UpdateMetadataRequest) -> None:
        for line in self._lines.values():
            line.tell(Api.UPDATE_METADATA, lambda: self._update(gone.table_metadata, gone.partition_metadata))

    def _lead_new(self, buckets: Iterable[TableBucket]) -> None:
        for server_id, line in self._lines.items():
            for led in _pieces(one for one in buckets if server_of(one, self.size) == server_id):
                line.tell(Api.NOTIFY_LEADER_AND_ISR, partial(self._lead_request, tuple(led)))

    def _stop(self, event: events.Dropped) -> None:
        """Have files go: those who use them let go first."""
        for server_id, line in self._lines.items():
            for some in _pieces(one for one in event.buckets if server_of(one, self.size) == server_id):
                order = stop_order(self._epoch, self._comings[server_id], some)
                line.tell(Api.STOP_REPLICA, partial(_as_it_is, order))
        self._begin(self._remove_when_stopped(event))

    async def _remove_when_stopped(self, event: events.Dropped) -> None:
        await self.settle()
        self._remove_files(event)

    # -- messages

    def _all_of(self, tables: Iterable[int]) -> UpdateMetadataRequest:
        partitions = [one.partition_id for table_id in tables for one in self._catalog.partitions_of(table_id)]
        return self._update(self._table_forms(tables), self._partition_forms(partitions))

    def _update(
        self, tables: tuple[PbTableMetadata, ...], partitions: tuple[PbPartitionMetadata, ...]
    ) -> UpdateMetadataRequest:
        return UpdateMetadataRequest(
            coordinator_server=_node(COORDINATOR_ID, self._listeners),
            tablet_servers=tuple(_node(number, listeners) for number, listeners in sorted(self._known.items())),
            table_metadata=tables,
            partition_metadata=partitions,
            coordinator_epoch=self._epoch,
        )

    def _table_forms(self, tables: Iterable[int]) -> tuple[PbTableMetadata, ...]:
        found = (self._catalog.table_by_id(table_id) for table_id in tables)
        return tuple(decode(PbTableMetadata, self._answers.table(table)) for table in found if table is not None)

    def _partition_forms(self, partitions: Iterable[int]) -> tuple[PbPartitionMetadata, ...]:
        found = (self._catalog.partition_by_id(partition_id) for partition_id in partitions)
        return tuple(decode(PbPartitionMetadata, self._answers.partition(one)) for one in found if one is not None)

    def _lead_request(self, buckets: Iterable[TableBucket]) -> NotifyLeaderAndIsrRequest:
        told = []
        for bucket in buckets:
            table = self._catalog.table_by_id(bucket.table_id)
            if table is not None and self._catalog.bucket_exists(bucket):
                server_id = server_of(bucket, self.size)
                partition = self._partition(bucket)
                told.append(lead_order(table, partition, bucket, server_id, self._comings[server_id]))
        return NotifyLeaderAndIsrRequest(coordinator_epoch=self._epoch, notify_buckets_leader_req=tuple(told))

    def _partition(self, bucket: TableBucket) -> PartitionInfo | None:
        return None if bucket.partition_id is None else self._catalog.partition_by_id(bucket.partition_id)

    def close(self) -> None:
        """Give no more orders."""
        for line in self._lines.values():
            line.close()
        for task in self._tasks:
            task.cancel()


def _node(server_id: int, listeners: dict[str, tuple[str, int]]) -> PbServerNode:
    """A server by all its addresses; one without a host is where it was found."""
    texts = ",".join(str(Endpoint(name, host, port)) for name, (host, port) in listeners.items())
    host, port = next(iter(listeners.values()), ("", 0))
    return PbServerNode(node_id=server_id, host=host, port=port, listeners=texts)


def _as_it_is(order: StopReplicaRequest) -> StopReplicaRequest:
    return order


def _pieces(things: Iterable[Any]) -> Iterator[list[Any]]:
    left = iter(things)
    while piece := list(islice(left, _AT_ONCE)):
        yield piece
