"""The headers of a bucket's log from an offset on: who wrote each batch, and which of theirs it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.forms.results import BucketId
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
)
from lakeward.records.batch.batch_header import BatchHeader
from lakeward.records.batch.log_batch import walk_batches
from lakeward.rpc.channel import Channel

_CLIENT = -1
_FETCH_BYTES = 8 << 20
_PIECES_AHEAD = 4


class LogHeaders(NamedTuple):
    """Headers, and whether they begin where it was asked: older ones may be gone."""

    headers: list[BatchHeader]
    from_start: bool


async def read_headers(
    access: TableAccess, bucket: TableBucket, partition: str | None, start: int, end: int
) -> LogHeaders:
    """The headers of all batches from an offset up to, not including, another."""
    found: list[BatchHeader] = []
    offset, from_start = start, True
    while offset < end:
        try:
            ask = partial(_fetch, access, bucket, offset)
            reply = await ask_leader(access.cluster, access.path, bucket, partition, ask)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE or not from_start:
                raise
            offset, from_start = await _earliest(access, bucket, partition), False
            continue
        before = offset
        async with aclosing(_buffers(access, reply, end)) as buffers:
            async for records in buffers:
                for span in walk_batches(records):
                    if span.header.last_offset >= offset:
                        found.append(span.header)
                        offset = span.header.last_offset + 1
                if offset >= end:
                    break
        if offset == before:
            raise ErrorCode.LOG_STORAGE.error(
                f"{access.path}, bucket {bucket.bucket}: the log ends at {end}, but nothing can be read at {offset}."
            )
    return LogHeaders(found, from_start)


async def _fetch(access: TableAccess, bucket: TableBucket, offset: int, channel: Channel) -> PbFetchLogRespForBucket:
    one = PbFetchLogReqForBucket(
        partition_id=bucket.partition_id, bucket_id=bucket.bucket, fetch_offset=offset, max_fetch_bytes=_FETCH_BYTES
    )
    table = PbFetchLogReqForTable(table_id=bucket.table_id, projection_pushdown_enabled=False, buckets_req=(one,))
    ask = FetchLogRequest(follower_server_id=_CLIENT, max_bytes=_FETCH_BYTES, tables_req=(table,), max_wait_ms=0)
    answer: FetchLogResponse = await channel.request(
        Api.FETCH_LOG, ask, timeout_ms=access.cluster.settings.request_timeout_ms
    )
    reply = next((b for t in answer.tables_resp for b in t.buckets_resp), None)
    if reply is None:
        raise ErrorCode.NETWORK.error(f"No answer for {bucket}.")
    if reply.error_code:
        raise ErrorCode.of_wire(reply.error_code).error(reply.error_message)
    return reply


async def _buffers(access: TableAccess, reply: PbFetchLogRespForBucket, end: int) -> AsyncGenerator[memoryview, None]:
    """The records of an answer, wherever they lie."""
    if reply.remote_log_fetch_info is not None:
        slots = asyncio.Semaphore(_PIECES_AHEAD)
        async with aclosing(await access.cluster.remote.read(reply.remote_log_fetch_info, slots, end)) as pieces:
            async for cuts in pieces:
                for one in cuts:
                    yield one.records
    elif isinstance(reply.records, bytes | bytearray | memoryview):
        yield memoryview(reply.records)


async def _earliest(access: TableAccess, bucket: TableBucket, partition: str | None) -> int:

    place = Place(bucket, BucketId(partition, bucket.bucket))
    return (await access.offsets.of([place], "earliest"))[place]
