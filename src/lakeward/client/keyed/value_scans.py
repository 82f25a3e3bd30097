"""Values of one bucket without asking for keys: a few of them, or all by a cursor on the server."""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakeward.client.cluster import Cluster
from lakeward.client.limit_scan import limited_records
from lakeward.client.offsets import Place
from lakeward.client.patience import ask_leader
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import PbScanReqForBucket, ScanKvRequest, ScanKvResponse
from lakeward.records.spans import Spans
from lakeward.records.value_batch import parse_value_batch
from lakeward.rpc.channel import Channel

_BATCH_BYTES = 4 << 20
_SCAN_TIMEOUT_MS = 120_000


async def limited_values(cluster: Cluster, info: TableInfo, place: Place, limit: int) -> Spans:
    """The first values of a bucket in the order of their keys."""
    return values_in(await limited_records(cluster, info, place, limit))


async def all_values(cluster: Cluster, info: TableInfo, place: Place) -> AsyncIterator[Spans]:
    """All values of a bucket as they were at one moment, by SCAN_KV; a scan that is left early is closed."""
    first = PbScanReqForBucket(
        table_id=info.table_id, partition_id=place.bucket.partition_id, bucket_id=place.bucket.bucket
    )
    opening = ScanKvRequest(bucket_scan_req=first, call_seq_id=0, batch_size_bytes=_BATCH_BYTES)

    async def send(channel: Channel) -> tuple[Channel, ScanKvResponse]:
        answer: ScanKvResponse = await channel.request(Api.SCAN_KV, opening, timeout_ms=_SCAN_TIMEOUT_MS)
        _check(info, place, answer)
        return channel, answer

    channel, answer = await ask_leader(cluster, info.path, place.bucket, place.id.partition, send)
    number, open_scanner = 0, answer.scanner_id if answer.has_more_results else None
    try:
        while open_scanner is not None:
            number += 1
            ask = ScanKvRequest(scanner_id=open_scanner, call_seq_id=number, batch_size_bytes=_BATCH_BYTES)
            # Asked for before these values are handed out: the server gathers the next while they are decoded.
            coming = channel.post(Api.SCAN_KV, ask, timeout_ms=_SCAN_TIMEOUT_MS)
            try:
                yield values_in(answer.records)
                answer = await coming
            finally:
                coming.cancel()
            _check(info, place, answer)
            open_scanner = answer.scanner_id if answer.has_more_results else None
        yield values_in(answer.records)
    finally:
        if open_scanner is not None and not channel.closed:
            closing = channel.post(Api.SCAN_KV, ScanKvRequest(scanner_id=open_scanner, close_scanner=True))
            # Nobody waits for it: a cursor that cannot be closed expires by itself.
            closing.add_done_callback(lambda done: done.cancelled() or done.exception())


def _check(info: TableInfo, place: Place, answer: ScanKvResponse) -> None:
    if answer.error_code:
        raise ErrorCode.of_wire(answer.error_code).error(f"{info.path}, bucket {place.id}: {answer.error_message}")


def values_in(records: object) -> Spans:
    """The values of a batch; none when there are no bytes."""
    if not records:
        return Spans.of([])
    assert isinstance(records, memoryview)
    return parse_value_batch(records)
