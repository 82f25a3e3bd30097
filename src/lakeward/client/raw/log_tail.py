"""LogTail: where a log ends, and which batch is its last. Whoever goes on writing a copy reads here how far it came.

A batch says which writer sent it and with which number, so a copy that was killed is continued under the same writer
with the next number: what the dead one had still under way is then recognised as sent twice, whichever comes first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
)
from lakeward.records.batch.batch_header import BatchHeader
from lakeward.records.batch.log_batch import walk_batches
from lakeward.rpc.channel import Channel

_CLIENT = -1
_FETCH_BYTES = 64 * 1024
_AT_ONCE = 16


class LogTail(NamedTuple):
    """The end of a log, and the header of its last batch; None where it is empty, or has moved to a file store."""

    end: int
    last: BatchHeader | None


async def log_tails(
    cluster: Cluster, info: TableInfo, offsets: TableOffsets, ids: Iterable[BucketId]
) -> dict[BucketId, LogTail]:
    """The tails of these buckets as they are now."""
    places = await _places(info, offsets, ids)
    ends = await offsets.of(places, "latest")
    return await _before(cluster, info, ends)


async def batches_before(
    cluster: Cluster, info: TableInfo, offsets: TableOffsets, ends: Mapping[BucketId, int]
) -> dict[BucketId, LogTail]:
    """What the tails of these buckets would be if they ended there."""
    places = await _places(info, offsets, ends)
    return await _before(cluster, info, {place: ends[place.id] for place in places})


async def _places(info: TableInfo, offsets: TableOffsets, ids: Iterable[BucketId]) -> list[Place]:
    wanted = set(ids)
    partitions = {id_.partition for id_ in wanted if id_.partition is not None}
    places = await offsets.places(sorted(partitions) if info.descriptor.is_partitioned else None)
    return [place for place in places if place.id in wanted]


async def _before(cluster: Cluster, info: TableInfo, ends: Mapping[Place, int]) -> dict[BucketId, LogTail]:
    found = {place.id: LogTail(end, None) for place, end in ends.items()}
    left = iter([(place, end) for place, end in ends.items() if end])

    async def ask_on() -> None:
        for place, end in left:
            found[place.id] = LogTail(end, await batch_before(cluster, info, place, end))

    await asyncio.gather(*(ask_on() for _ in range(_AT_ONCE)))
    return found


async def batch_before(cluster: Cluster, info: TableInfo, place: Place, end: int) -> BatchHeader | None:
    """The batch that holds the offset before an end; None when it is not on the server."""

    async def ask(channel: Channel) -> BatchHeader | None:
        answer: FetchLogResponse = await channel.request(Api.FETCH_LOG, _request(info, place, end - 1))
        reply = next((b for t in answer.tables_resp for b in t.buckets_resp), None)
        if reply is None or (reply.error_code and ErrorCode.of_wire(reply.error_code) is _GONE):
            return None
        if reply.error_code:
            raise ErrorCode.of_wire(reply.error_code).error(f"{info.path}, bucket {place.id}: {reply.error_message}")
        if not reply.records:
            return None
        assert isinstance(reply.records, memoryview)
        return next((s.header for s in walk_batches(reply.records) if s.header.last_offset >= end - 1), None)

    return await ask_leader(cluster, info.path, place.bucket, place.id.partition, ask)


_GONE = ErrorCode.LOG_OFFSET_OUT_OF_RANGE


def _request(info: TableInfo, place: Place, offset: int) -> FetchLogRequest:
    bucket = PbFetchLogReqForBucket(
        partition_id=place.bucket.partition_id,
        bucket_id=place.bucket.bucket,
        fetch_offset=offset,
        max_fetch_bytes=_FETCH_BYTES,
    )
    table = PbFetchLogReqForTable(table_id=info.table_id, projection_pushdown_enabled=False, buckets_req=(bucket,))
    return FetchLogRequest(
        follower_server_id=_CLIENT, max_bytes=_FETCH_BYTES, tables_req=(table,), max_wait_ms=0, min_bytes=1
    )
