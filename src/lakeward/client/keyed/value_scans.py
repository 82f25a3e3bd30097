"""Values of one bucket without asking for keys: a few of them, or all by a cursor on the server."""

from __future__ import annotations

from collections.abc import AsyncIterator

from lakeward.client.cluster import Cluster
from lakeward.client.offsets import Place
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import PbScanReqForBucket, ScanKvRequest, ScanKvResponse
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse
from lakeward.records.spans import Spans
from lakeward.records.value_batch import parse_value_batch

_BATCH_BYTES = 4 << 20
_SCAN_TIMEOUT_MS = 120_000


async def limited_values(cluster: Cluster, info: TableInfo, place: Place, limit: int) -> Spans:
    """The first values of a bucket in the order of their keys."""
    channel = await cluster.leader(info.path, place.bucket, place.id.partition)
    ask = LimitScanRequest(
        table_id=info.table_id,
        partition_id=place.bucket.partition_id,
        bucket_id=place.bucket.bucket,
        limit=limit,
    )
    answer: LimitScanResponse = await channel.request(Api.LIMIT_SCAN, ask, timeout_ms=_SCAN_TIMEOUT_MS)
    if answer.error_code:
        raise _refused(info, place, answer.error_code, answer.error_message)
    return _values(answer.records)


async def all_values(cluster: Cluster, info: TableInfo, place: Place) -> AsyncIterator[Spans]:
    """All values of a bucket as they were at one moment, by SCAN_KV; a scan that is left early is closed."""
    channel = await cluster.leader(info.path, place.bucket, place.id.partition)
    first = PbScanReqForBucket(
        table_id=info.table_id, partition_id=place.bucket.partition_id, bucket_id=place.bucket.bucket
    )
    ask = ScanKvRequest(bucket_scan_req=first, call_seq_id=0, batch_size_bytes=_BATCH_BYTES)
    scanner: bytes | None = None
    number = 0
    under_way = channel.post(Api.SCAN_KV, ask, timeout_ms=_SCAN_TIMEOUT_MS)
    try:
        while True:
            answer: ScanKvResponse = await under_way
            scanner = answer.scanner_id if answer.has_more_results and not answer.error_code else None
            if answer.error_code:
                raise _refused(info, place, answer.error_code, answer.error_message)
            if scanner is not None:  # the server gathers the next values while these are decoded
                number += 1
                ask = ScanKvRequest(scanner_id=scanner, call_seq_id=number, batch_size_bytes=_BATCH_BYTES)
                under_way = channel.post(Api.SCAN_KV, ask, timeout_ms=_SCAN_TIMEOUT_MS)
            yield _values(answer.records)
            if scanner is None:
                return
    finally:
        if scanner is not None and not channel.closed:
            under_way.cancel()
            channel.post(Api.SCAN_KV, ScanKvRequest(scanner_id=scanner, close_scanner=True))


def _values(records: object) -> Spans:
    if not records:
        return Spans.of([])
    assert isinstance(records, memoryview)
    return parse_value_batch(records)


def _refused(info: TableInfo, place: Place, code: int, message: str | None) -> LakewardError:
    return ErrorCode.of_wire(code).error(f"{info.path}, bucket {place.id}: {message}")
