"""Marks of logs: which batch holds the last offset before an end, to tell later whether it is still the same log.

A log that lost rows (a server that died before it synced them, a backup put back, a partition made anew) and grew again
has other batches there: a server writes when each came, and which writer's it is. As logs only grow at their end, the
same batch at an end means the same rows before it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader, patient_leader
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.data_types import TypeRoot
from lakeward.model.table import TableInfo
from lakeward.options.table import LOG_FORMAT
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
)
from lakeward.records.batch.log_batch import walk_batches
from lakeward.rpc.channel import Channel

_CLIENT = -1
_FETCH_BYTES = 64 * 1024
#: Of a fetch that is not repeated for batches that are too large for it: of all logs, and of one. Servers count whole
#: batches, of which little comes where columns can be left out.
_ONCE_BYTES, _ONCE_BYTES_MAX = 16 << 20, 1 << 20
_ONCE_LIGHT_BYTES_MAX = 4 << 20
_ANSWER_BYTES = 1 << 30
_IN_FLIGHT_MAX = 16
_LIGHT = (TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.DATE, TypeRoot.BIGINT)
#: A log of which there is no mark: it ends earlier, or the batch cannot be had by its head alone.
_UNMARKED = {
    ErrorCode.LOG_OFFSET_OUT_OF_RANGE,
    ErrorCode.INVALID_COLUMN_PROJECTION,
    ErrorCode.SCHEMA_NOT_EXIST,
    ErrorCode.CORRUPT_RECORD,
    ErrorCode.CORRUPT_MESSAGE,
}


class LogMark(NamedTuple):
    """A batch, by what no other one at its place shares with it."""

    partition_id: int | None
    base_offset: int
    last_offset: int
    commit_timestamp_ms: int
    writer_id: int
    batch_sequence: int


class LogEnd(NamedTuple):
    """How far a log goes, and which batch is where it was looked at."""

    end: int
    mark: LogMark | None


async def log_ends(
    cluster: Cluster, asked: Sequence[tuple[TableInfo, Mapping[Place, int]]]
) -> list[dict[Place, LogEnd]]:
    """How far the logs of some tables go, with the batches that are at offsets of them: one fetch for each leader.

    Nobody waits, and nothing is asked twice: what cannot be had so is not told.
    """
    places: dict[Channel, list[list[Place]]] = defaultdict(lambda: [[] for _ in asked])
    for number, (_, offsets) in enumerate(asked):
        for place in offsets:
            channel = cluster.leader_at_hand(place.bucket)
            if channel is not None:
                places[channel][number].append(place)
    found: list[dict[Place, LogEnd]] = [{} for _ in asked]

    async def ask(channel: Channel, theirs: Sequence[Sequence[Place]]) -> None:
        room = min(max(_ONCE_BYTES // sum(map(len, theirs)), _FETCH_BYTES), _ONCE_BYTES_MAX)
        tables = [
            _of_table(info, offsets, here, _ONCE_LIGHT_BYTES_MAX if _light_column(info) else room)
            for (info, offsets), here in zip(asked, theirs, strict=True)
            if here
        ]
        bytes_max = min(sum(bucket.max_fetch_bytes for table in tables for bucket in table.buckets_req), _ANSWER_BYTES)
        try:
            answer: FetchLogResponse = await channel.request(Api.FETCH_LOG, _request(tables, bytes_max))
        except LakewardError:
            return
        told = {(t.table_id, b.partition_id, b.bucket_id): b for t in answer.tables_resp for b in t.buckets_resp}
        for (info, offsets), here, ends in zip(asked, theirs, found, strict=True):
            for place in here:
                reply = told.get((info.table_id, place.bucket.partition_id, place.bucket.bucket))
                if reply is not None and not reply.error_code and reply.high_watermark is not None:
                    ends[place] = LogEnd(reply.high_watermark, _mark(place, reply, offsets[place]))

    await asyncio.gather(*(ask(channel, theirs) for channel, theirs in places.items()))
    return found


async def log_marks(cluster: Cluster, info: TableInfo, ends: Mapping[Place, int]) -> dict[Place, LogMark]:
    """The marks at the ends of logs, which are past offset 0; those that cannot be had are not among them.

    One fetch for each leader, which needs the right to read the table; what it leaves open is asked one by one.
    """
    ask = _Marking(cluster, info, ends)
    leaders = await _by_leader(cluster, info, ends)
    await asyncio.gather(*(ask.many(channel, places) for channel, places in leaders.items()))
    left = iter([place for place in ends if place not in ask.answered])

    async def ask_on() -> None:
        for place in left:
            await ask.one(place)

    await asyncio.gather(*(ask_on() for _ in range(_IN_FLIGHT_MAX)))
    return ask.found


class _Marking:
    """One search for marks."""

    def __init__(self, cluster: Cluster, info: TableInfo, ends: Mapping[Place, int]) -> None:
        self._cluster = cluster
        self._info = info
        self._ends = ends
        self.answered: set[Place] = set()
        self.found: dict[Place, LogMark] = {}

    async def many(self, channel: Channel, places: Sequence[Place]) -> None:
        """Ask a leader of several buckets; batches that are too large for one answer stay open."""
        try:
            await self._ask(channel, places)
        except RetriableError:
            return  # whoever is asked alone is asked until there is an answer

    async def one(self, place: Place) -> None:
        """Ask of one bucket: servers answer with a batch, however large it is."""
        await ask_leader(
            self._cluster,
            self._info.path,
            place.bucket,
            place.id.partition,
            lambda channel: self._ask(channel, [place]),
        )

    async def _ask(self, channel: Channel, places: Sequence[Place]) -> None:
        offsets = {place: self._ends[place] - 1 for place in places}
        asked = _of_table(self._info, offsets, places, _FETCH_BYTES)
        request = _request([asked], _FETCH_BYTES * len(places))
        answer: FetchLogResponse = await channel.request(Api.FETCH_LOG, request)
        told = {(b.partition_id, b.bucket_id): b for t in answer.tables_resp for b in t.buckets_resp}
        for place in places:
            reply = told.get((place.bucket.partition_id, place.bucket.bucket))
            if reply is None:
                continue
            if reply.error_code:
                code = ErrorCode.of_wire(reply.error_code)
                if code not in _UNMARKED:
                    raise code.error(f"{self._info.path}, bucket {place.id}: {reply.error_message}")
                self.answered.add(place)
            elif (mark := _mark(place, reply, self._ends[place] - 1)) is not None:
                self.answered.add(place)
                self.found[place] = mark


async def _by_leader(cluster: Cluster, info: TableInfo, places: Mapping[Place, int]) -> dict[Channel, list[Place]]:
    found: dict[Channel, list[Place]] = defaultdict(list)
    for place in places:
        found[await patient_leader(cluster, info.path, place.bucket, place.id.partition)].append(place)
    return found


def _of_table(
    info: TableInfo, offsets: Mapping[Place, int], asked: Sequence[Place], bytes_max: int
) -> PbFetchLogReqForTable:
    buckets = tuple(
        PbFetchLogReqForBucket(
            partition_id=place.bucket.partition_id,
            bucket_id=place.bucket.bucket,
            fetch_offset=offsets[place],
            max_fetch_bytes=bytes_max,
        )
        for place in asked
    )
    projection = _light_column(info)
    return PbFetchLogReqForTable(
        table_id=info.table_id,
        projection_pushdown_enabled=bool(projection),
        projected_fields=projection,
        buckets_req=buckets,
    )


def _request(tables: Sequence[PbFetchLogReqForTable], bytes_max: int) -> FetchLogRequest:
    return FetchLogRequest(
        follower_server_id=_CLIENT,
        max_bytes=bytes_max,
        tables_req=tuple(tables),
        max_wait_ms=0,
        min_bytes=1,
    )


def _light_column(info: TableInfo) -> tuple[int, ...]:
    """One column that is small, if servers can leave out the others."""
    if LOG_FORMAT.read(info.descriptor.properties) != "ARROW":
        return ()
    columns = info.schema.columns
    return (min(range(len(columns)), key=lambda at: (columns[at].type.root not in _LIGHT, at)),)


def _mark(place: Place, reply: PbFetchLogRespForBucket, offset: int) -> LogMark | None:
    if not reply.records:  # nothing is there, or it is in remote storage
        return None
    assert isinstance(reply.records, memoryview)
    header = next((s.header for s in walk_batches(reply.records) if s.header.last_offset >= offset), None)
    if header is None:
        return None
    return LogMark(
        place.bucket.partition_id,
        header.base_offset,
        header.last_offset,
        header.commit_timestamp_ms,
        header.writer_id,
        header.batch_sequence,
    )
