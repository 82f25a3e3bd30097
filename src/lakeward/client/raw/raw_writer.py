"""RawWriter: the lanes of a table that is the copy of another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.decode.log_decoder import Chunk
from lakeward.client.forms.results import BucketId
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.raw.key_parcels import ChangeTranslator
from lakeward.client.raw.log_tail import LogTail, batch_before, log_tails
from lakeward.client.raw.parcels import gaps, log_parcels
from lakeward.client.raw.raw_lane import RawLane
from lakeward.client.upsert.change_batching import BATCH_ROWS_MAX
from lakeward.client.write.delivery import Addressed, Delivery, KvDelivery, LogDelivery
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.protocol.messages.kv import PutKvRequest
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER
from lakeward.rpc.channel import Channel

if TYPE_CHECKING:
    import pyarrow as pa

#: The agg_mode of a put that takes rows as they are, past the table's merge engine.
_OVERWRITE = 1


class OverwriteDelivery(KvDelivery):
    """Rows that were merged already."""

    def request(self, batches: Iterable[Addressed], settings: ClientSettings) -> PutKvRequest:
        """A PUT_KV request past the merge engine."""
        return replace(super().request(batches, settings), agg_mode=_OVERWRITE)


class RawWriter:
    """Writes what was scanned of one table to the same offsets of another."""

    def __init__(self, cluster: Cluster, ids: WriterIds, info: TableInfo, offsets: TableOffsets) -> None:
        self._cluster, self._ids, self._info, self._offsets = cluster, ids, info, offsets
        self._delivery: Delivery = LogDelivery(info)
        if info.descriptor.has_primary_key:
            self._delivery = OverwriteDelivery(info, (), TableKeys(info).check_version)
        self._lanes: dict[BucketId, RawLane] = {}
        self._places: dict[BucketId, Place] = {}
        self._translator: ChangeTranslator | None = None

    def translate(self, source: TableInfo, schemas: Mapping[int, Schema]) -> None:
        """Changes are those of this table, with these older schemas."""
        self._translator = ChangeTranslator(source, self._info, schemas)

    async def open(self, ids: Iterable[BucketId]) -> dict[BucketId, LogTail]:
        """Begin where these buckets end; what was opened before is left alone."""
        new = [id_ for id_ in ids if id_ not in self._lanes]
        if not new:
            return {}
        partitions = {id_.partition for id_ in new if id_.partition is not None}
        places = await self._offsets.places(sorted(partitions) if self._info.descriptor.is_partitioned else None)
        tails = await log_tails(self._cluster, self._info, self._offsets, new)
        for place in places:
            if place.id in tails:
                self._lanes[place.id] = RawLane(
                    self._cluster,
                    self._info,
                    place,
                    self._delivery,
                    tails[place.id],
                    self._tail,
                    lambda: self._ids.fresh(self._info.path),
                )
        return tails

    async def _tail(self, place: Place) -> LogTail:
        ends = await self._offsets.of([place], "latest")
        end = ends[place]
        return LogTail(end, await batch_before(self._cluster, self._info, place, end) if end else None)

    def position(self, id_: BucketId) -> int:
        """Up to where the target has acknowledged a bucket."""
        return self._lanes[id_].position

    @property
    def rows(self) -> int:
        """Rows acknowledged so far."""
        return sum(lane.rows for lane in self._lanes.values())

    @property
    def bytes(self) -> int:
        """Bytes acknowledged so far."""
        return sum(lane.bytes for lane in self._lanes.values())

    async def skip(self, id_: BucketId, offset: int, schema_id: int) -> None:
        """Let a log table's bucket go on at an offset: those before it have no rows any more."""
        lane = self._lanes[id_]
        for parcel in gaps(lane.queued, offset, schema_id):
            await lane.put(parcel)

    async def put(self, chunk: Chunk) -> None:
        """Write the batches of a chunk that the target lacks; waits while enough is under way."""
        lane = self._lanes[chunk.id]
        if self._translator is None:
            for parcel in log_parcels(chunk, lane.queued):
                await lane.put(parcel)
            return
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._cluster.workers, self._translator.parcels, chunk, lane.queued)
        for one in await work:
            await lane.put(one)

    async def apply(self, chunk: Chunk) -> int:
        """Make the changes of a chunk, whatever offsets they get; how many rows it has. For one bucket at a time."""
        assert self._translator is not None
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._cluster.workers, self._translator.decode, chunk)
        return sum([await self.change(chunk.id, rows) for rows in await work])

    async def change(self, id_: BucketId, rows: pa.RecordBatch) -> int:
        """Upsert and delete rows of a bucket as their `_change_type` says; sent twice, they leave the same state."""
        assert self._translator is not None
        loop = asyncio.get_running_loop()
        place = await self._place(id_)
        for at in range(0, rows.num_rows, BATCH_ROWS_MAX):
            piece = rows.slice(at, BATCH_ROWS_MAX)
            changes = await loop.run_in_executor(self._cluster.workers, self._translator.changes, piece)
            sealed = changes.seal(self._info.schema_id, NO_WRITER, NO_SEQUENCE)
            await ask_leader(
                self._cluster, self._info.path, place.bucket, place.id.partition, partial(self._put, place, sealed)
            )
        return int(rows.num_rows)

    async def _put(self, place: Place, sealed: bytearray, channel: Channel) -> None:
        self._delivery.check(channel)
        request = self._delivery.request([(place.bucket, sealed)], self._cluster.settings)
        answer = await channel.request(self._delivery.api, request)
        for reply in answer.buckets_resp:
            if reply.error_code:
                raise ErrorCode.of_wire(reply.error_code).error(
                    f"{self._delivery.verb} {self._info.path}, bucket {place.id}, failed: {reply.error_message}"
                )

    async def _place(self, id_: BucketId) -> Place:
        if id_ not in self._places:
            only = None if id_.partition is None else [id_.partition]
            self._places |= {place.id: place for place in await self._offsets.places(only)}
        return self._places[id_]

    async def flush(self) -> None:
        """Wait until everything is acknowledged; raises the first failure."""
        await asyncio.gather(*(lane.drain() for lane in self._lanes.values()))

    async def close(self) -> None:
        """Give up what is not acknowledged."""
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))
