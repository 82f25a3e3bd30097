"""LIMIT_SCAN: a few records of one bucket, as its server has them at hand."""

from __future__ import annotations

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse
from lakeward.rpc.channel import Channel

_TIMEOUT_MS = 120_000
#: What a server says of a bucket that it does not have, to somebody who might read it.
_NOT_HERE = {ErrorCode.UNKNOWN_TABLE_OR_BUCKET, ErrorCode.NOT_LEADER_OR_FOLLOWER}


async def first_records(cluster: Cluster, info: TableInfo, place: Place, limit: int) -> memoryview:
    """What a bucket answers to LIMIT_SCAN: log batches, or a batch of values in the order of their keys."""
    ask = LimitScanRequest(
        table_id=info.table_id,
        partition_id=place.bucket.partition_id,
        bucket_id=place.bucket.bucket,
        limit=limit,
    )

    async def send(channel: Channel) -> LimitScanResponse:
        answer: LimitScanResponse = await channel.request(Api.LIMIT_SCAN, ask, timeout_ms=_TIMEOUT_MS)
        if answer.error_code:
            raise ErrorCode.of_wire(answer.error_code).error(f"{info.path}, bucket {place.id}: {answer.error_message}")
        return answer

    records = (await ask_leader(cluster, info.path, place.bucket, place.id.partition, send)).records
    if not records:
        return memoryview(b"")
    assert isinstance(records, memoryview)
    return records


async def check_right(cluster: Cluster, info: TableInfo, places: list[Place]) -> None:
    """Raise unless we may read a table. Its server looks at no row for it: of many keys the first takes a while."""
    if places:
        await first_records(cluster, info, places[0], 0)
    else:
        await _check_without_buckets(cluster, info)


async def _check_without_buckets(cluster: Cluster, info: TableInfo) -> None:
    """There is no bucket to ask, because the table has no partition.

    Rows of partitions that are gone may still be in its lake, which is read by whoever the cluster lets read the table.
    """
    ask = LimitScanRequest(table_id=info.table_id, bucket_id=0, limit=1)
    try:
        answer: LimitScanResponse = await cluster.ask_tablet(Api.LIMIT_SCAN, ask)
        if answer.error_code:
            raise ErrorCode.of_wire(answer.error_code).error(f"{info.path}: {answer.error_message}")
    except LakewardError as wrong:
        if wrong.code not in _NOT_HERE:
            raise
