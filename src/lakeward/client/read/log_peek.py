"""A look at what comes next in a bucket's log: how large its rows are, and when they were written."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbRemoteLogFetchInfo,
)
from lakeward.records.batch.log_batch import walk_batches
from lakeward.rpc.channel import Channel

_log = logging.getLogger("lakeward.client")
_CLIENT = -1
#: The server answers with whole batches of about this size, and always with one.
_PEEK_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class LogPeek:
    """The batches at some offset: their rows and bytes, and when the first of them was written."""

    rows: int
    bytes: int
    time_ms: int


async def peek(cluster: Cluster, info: TableInfo, place: Place, offset: int) -> LogPeek | None:
    """What comes at an offset, here or in remote storage; None when nothing can be had."""
    bucket = PbFetchLogReqForBucket(
        partition_id=place.bucket.partition_id,
        bucket_id=place.bucket.bucket,
        fetch_offset=offset,
        max_fetch_bytes=_PEEK_BYTES,
    )
    table = PbFetchLogReqForTable(table_id=info.table_id, projection_pushdown_enabled=False, buckets_req=(bucket,))
    ask = FetchLogRequest(
        follower_server_id=_CLIENT, max_bytes=_PEEK_BYTES, tables_req=(table,), max_wait_ms=0, min_bytes=1
    )

    async def send(channel: Channel) -> PbFetchLogRespForBucket:
        answer: FetchLogResponse = await channel.request(Api.FETCH_LOG, ask)
        reply = answer.tables_resp[0].buckets_resp[0]
        if reply.error_code:
            raise ErrorCode.of_wire(reply.error_code).error(f"{info.path}, bucket {place.id}: {reply.error_message}")
        return reply

    try:
        reply = await ask_leader(cluster, info.path, place.bucket, place.id.partition, send)
    except CorruptError:
        return None  # a look is not worth an error: whoever reads it is told
    records = reply.records
    if reply.remote_log_fetch_info is not None:
        records = await _first_remote(cluster, reply.remote_log_fetch_info, offset)
    assert records is None or isinstance(records, memoryview)
    spans = [span for span in walk_batches(records) if span.header.last_offset >= offset] if records else []
    if not spans:
        return None
    return LogPeek(
        rows=sum(s.header.record_count for s in spans),
        bytes=sum(s.end - s.start for s in spans),
        time_ms=spans[0].header.commit_timestamp_ms,
    )


async def _first_remote(cluster: Cluster, where: PbRemoteLogFetchInfo, offset: int) -> memoryview | None:
    """The batches of a remote segment that hold an offset, and some that follow. A look is not worth an error."""
    try:
        async with aclosing(await cluster.remote.read(where, asyncio.Semaphore(1))) as pieces:
            async for cuts in pieces:
                for one in cuts:
                    if one.last.last_offset >= offset:
                        return one.records
    except LakewardError as wrong:
        _log.debug("no look at offset %s: %s", offset, wrong)
    return None
