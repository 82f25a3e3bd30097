"""LIMIT_SCAN of a primary key table: its first rows in key order."""

from __future__ import annotations

import asyncio

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse
from lakeward.records.spans import Spans
from lakeward.records.value_batch import encode_value_batch
from lakeward.rpc.dispatch import Exchange
from lakeward.server.tablet.busy import BusyBuckets
from lakeward.server.tablet.kv_gate import LARGE_ROWS, KvGate
from lakeward.server.tablet.tablets import Tablets
from lakeward.storage.kv.slices import Slices
from lakeward.storage.kv.store import KvView

_ANY_BYTES = 1 << 62


class FirstRows:
    """Answers limited scans of state."""

    def __init__(self, tablets: Tablets, gate: KvGate, busy: BusyBuckets) -> None:
        self._tablets = tablets
        self._gate = gate
        self._busy = busy

    def handle(self, request: LimitScanRequest, exchange: Exchange) -> LimitScanResponse | None:
        """The first rows of a bucket as a value batch."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        if not self._gate.admits([bucket], self.handle, request, exchange):
            return None
        try:
            kv, limit = self._tablets.kv(bucket), max(request.limit, 0)
            if kv.row_count < LARGE_ROWS:
                return _response(kv.scan(limit).values)
        except LakewardError as wrong:
            return LimitScanResponse(error_code=wrong.code.value, error_message=wrong.message)
        # Writes to the bucket wait until its state is held, not until it is sorted.
        self._busy.answer_later(exchange, self._scan(self._busy.alone(bucket, kv.view), limit))
        return None

    async def _scan(self, holding: asyncio.Future[KvView], limit: int) -> LimitScanResponse:
        try:
            view = await holding
            return await self._busy.on_thread(lambda: _response(view.read(_ANY_BYTES, limit).values))
        except LakewardError as wrong:
            return LimitScanResponse(error_code=wrong.code.value, error_message=wrong.message)


def _response(values: Slices) -> LimitScanResponse:
    records = encode_value_batch(Spans([values.buffer], values.starts, values.ends))
    return LimitScanResponse(is_log_table=False, records=records)
