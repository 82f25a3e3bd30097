"""Values of one bucket without asking for keys: a few of them, or all by a cursor on the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lakeward.client.admin.offsets import Place
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import ask_leader
from lakeward.client.state.first_records import first_records
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import PbScanReqForBucket, ScanKvRequest, ScanKvResponse
from lakeward.records.batch.value_batch import parse_value_batch
from lakeward.records.kernels.spans import Spans
from lakeward.rpc.channel import Channel

_BATCH_BYTES = 4 << 20
_SCAN_TIMEOUT_MS = 120_000


async def limited_values(cluster: Cluster, info: TableInfo, place: Place, limit: int) -> Spans:
    """The first values of a bucket in the order of their keys."""
    return values_in(await first_records(cluster, info, place, limit))


class ValueScan:
    """A cursor of SCAN_KV: all values of a bucket as they were when it was opened."""

    def __init__(self, info: TableInfo, place: Place, channel: Channel, first: ScanKvResponse) -> None:
        self._info = info
        self._place = place
        self._channel = channel
        self._answer = first
        self._number = 0
        self._coming: asyncio.Future[ScanKvResponse] | None = None
        #: The first change that these values do not hold yet, where the server tells it.
        self.log_offset = first.log_offset

    @classmethod
    async def open(cls, cluster: Cluster, info: TableInfo, place: Place) -> ValueScan:
        """Begin with the first values."""
        first = PbScanReqForBucket(
            table_id=info.table_id, partition_id=place.bucket.partition_id, bucket_id=place.bucket.bucket
        )
        opening = ScanKvRequest(bucket_scan_req=first, call_seq_id=0, batch_size_bytes=_BATCH_BYTES)

        async def send(channel: Channel) -> ValueScan:
            answer: ScanKvResponse = await channel.request(Api.SCAN_KV, opening, timeout_ms=_SCAN_TIMEOUT_MS)
            _check(info, place, answer)
            return cls(info, place, channel, answer)

        return await ask_leader(cluster, info.path, place.bucket, place.id.partition, send)

    async def values(self) -> AsyncIterator[Spans]:
        """The values, part by part."""
        while self._answer.has_more_results:
            self._number += 1
            ask = ScanKvRequest(
                scanner_id=self._answer.scanner_id, call_seq_id=self._number, batch_size_bytes=_BATCH_BYTES
            )
            # Asked for before these values are handed out: the server gathers the next while they are decoded.
            self._coming = self._channel.post(Api.SCAN_KV, ask, timeout_ms=_SCAN_TIMEOUT_MS)
            yield values_in(self._answer.records)
            answer = await self._coming
            _check(self._info, self._place, answer)
            self._answer = answer
        yield values_in(self._answer.records)

    def close(self) -> None:
        """Let the server forget the cursor; harmless at its end."""
        if self._coming is not None:
            self._coming.cancel()
        if self._answer.has_more_results and not self._channel.closed:
            ask = ScanKvRequest(scanner_id=self._answer.scanner_id, close_scanner=True)
            # Nobody waits for it: a cursor that cannot be closed expires by itself.
            self._channel.post(Api.SCAN_KV, ask).add_done_callback(lambda done: done.cancelled() or done.exception())


def _check(info: TableInfo, place: Place, answer: ScanKvResponse) -> None:
    if answer.error_code:
        raise ErrorCode.of_wire(answer.error_code).error(f"{info.path}, bucket {place.id}: {answer.error_message}")


def values_in(records: object) -> Spans:
    """The values of a batch; none when there are no bytes."""
    if not records:
        return Spans.of([])
    assert isinstance(records, memoryview)
    return parse_value_batch(records)
