"""LIMIT_SCAN of a primary key table: its first rows in key order."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import numpy as np

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import LimitScanRequest, LimitScanResponse
from lakeward.records.batch.value_batch import encode_value_batch
from lakeward.records.kernels.spans import Spans
from lakeward.rpc.dispatch import Exchange
from lakeward.rpc.error_answers import refusal
from lakeward.server.tablet.kv.kv_gate import LARGE_ROWS
from lakeward.server.tablet.requests.limit_errors import answer_too_large
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.store.store import KvView

#: State of more bytes is read beside the loop, however few rows it has.
_LARGE_BYTES = 4 << 20
_NONE = Spans([np.empty(0, np.uint8)], np.empty(0, np.int64), np.empty(0, np.int64))


class AskedFirstRows(NamedTuple):
    """A limited scan of one bucket."""

    limit: int
    buckets: tuple[TableBucket]


class FirstRows:
    """Answers limited scans of state."""

    def __init__(self, states: States, busy: BusyBuckets, answer_bytes_max: int) -> None:
        self._states = states
        self._busy = busy
        self._answer_bytes_max = answer_bytes_max

    @staticmethod
    def read(request: LimitScanRequest) -> AskedFirstRows:
        """How many rows of which bucket."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        return AskedFirstRows(max(request.limit, 0), (bucket,))

    def answer(self, asked: AskedFirstRows, exchange: Exchange) -> LimitScanResponse | None:
        """The first rows of a bucket as a value batch."""
        (bucket,) = asked.buckets
        try:
            state = self._states.open(bucket)
            limit = min(asked.limit, state.row_count)
            if limit == 0:
                return LimitScanResponse(is_log_table=False, records=encode_value_batch(_NONE))
            if state.row_count < LARGE_ROWS and state.live_bytes < _LARGE_BYTES:
                return self._response(state.view(), limit)
        except LakewardError as wrong:
            return refusal(LimitScanResponse, wrong)
        # Writes to the bucket wait until its state is held, not until it is sorted.
        self._busy.answer_later(exchange, self._scan(self._busy.alone(bucket, state.view), limit))
        return None

    async def _scan(self, holding: asyncio.Future[KvView], limit: int) -> LimitScanResponse:
        try:
            view = await holding
            return await self._busy.on_thread(lambda: self._response(view, limit))
        except LakewardError as wrong:
            return refusal(LimitScanResponse, wrong)

    def _response(self, view: KvView, limit: int) -> LimitScanResponse:
        """On any thread."""
        try:
            values = view.read(self._answer_bytes_max, limit).values
        finally:
            view.close()
        if len(values) < limit:
            raise answer_too_large(self._answer_bytes_max)
        records = encode_value_batch(Spans([values.buffer], values.starts, values.ends))
        return LimitScanResponse(is_log_table=False, records=records)
