"""Where a bucket's log can be read again, behind a range that its server refuses as damaged.

The protocol has no field for that. Our server says it in its sentence ("from offset N on"), which is tried first; of
any other server offsets are asked, further and further away, then back towards the first that can be read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.forms.damage import Damage, DamagedError
from lakeward.errors import CorruptError, ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
)
from lakeward.rpc.channel import Channel

if TYPE_CHECKING:
    from lakeward.client.read.cursor import Cursor

_CLIENT = -1
_GOES_ON = re.compile(r"(?:goes on at|from) offset (\d+)")


async def behind(cluster: Cluster, info: TableInfo, damage: Damage, cursor: Cursor, wrong: CorruptError) -> int:
    """Where a scan goes on that leaves damage out; DamagedError for one that does not."""
    bad, place = cursor.next_offset, cursor.place
    if not damage.skips_ranges:
        raise DamagedError(info.path, place.id, bad, None, wrong.message)
    end = cursor.end_offset
    if end is None:
        end = (await TableOffsets(cluster, info, Partitions(cluster, info)).of([place], "latest"))[place]
    stop = await next_readable(cluster, info, place, bad, end, wrong.message)
    damage.take_damage(place.id, bad, stop, wrong.message)
    return stop


async def next_readable(cluster: Cluster, info: TableInfo, place: Place, bad: int, end: int, told: str) -> int:
    """The first offset behind `bad` that can be read; `end`, where the log ends, when there is none."""
    hint = _GOES_ON.search(told)
    if hint and bad < int(hint[1]) < end and await _is_readable(cluster, info, place, int(hint[1])):
        return int(hint[1])
    step = 1
    while (at := bad + step) < end and not await _is_readable(cluster, info, place, at):
        step *= 2
    good, last_bad = min(at, end), bad + step // 2
    while good - last_bad > 1:
        middle = (good + last_bad) // 2
        if await _is_readable(cluster, info, place, middle):
            good = middle
        else:
            last_bad = middle
    return good


async def _is_readable(cluster: Cluster, info: TableInfo, place: Place, offset: int) -> bool:
    """Whether the server has a batch at this offset; one byte is asked for, and whole batches come."""
    bucket = PbFetchLogReqForBucket(
        partition_id=place.bucket.partition_id, bucket_id=place.bucket.bucket, fetch_offset=offset, max_fetch_bytes=1
    )
    table = PbFetchLogReqForTable(table_id=info.table_id, projection_pushdown_enabled=False, buckets_req=(bucket,))
    ask = FetchLogRequest(follower_server_id=_CLIENT, max_bytes=1, tables_req=(table,), max_wait_ms=0, min_bytes=1)

    async def send(channel: Channel) -> None:
        answer: FetchLogResponse = await channel.request(Api.FETCH_LOG, ask)
        reply = answer.tables_resp[0].buckets_resp[0]
        if reply.error_code:
            raise ErrorCode.of_wire(reply.error_code).error(f"{info.path}, bucket {place.id}: {reply.error_message}")

    try:
        await ask_leader(cluster, info.path, place.bucket, place.id.partition, send)
    except CorruptError:
        return False
    return True
