"""PRODUCE_LOG: check, judge, append, answer; batches that came too early wait for their predecessor.

A client has up to five batches of one writer under way, and its tasks race for the socket: a batch may overtake the
one before it. Such a batch is parked; when the gap closes it is appended, when it does not it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.messages.log import (
    PbProduceLogReqForBucket,
    PbProduceLogRespForBucket,
    ProduceLogRequest,
    ProduceLogResponse,
)
from lakeward.records.arrow_message import column_shape, read_message
from lakeward.records.batch_header import HEADER_BYTES
from lakeward.records.log_batch import BatchSpan, cut_batches
from lakeward.rpc.dispatch import Exchange
from lakeward.server.coordinator.catalog import Catalog
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.tablet.waiting import Waiters
from lakeward.storage.log.writer_state import Verdict, next_sequence

_ACKS = {0, 1, -1}


class _Early(NamedTuple):
    """A batch that waits for its predecessor."""

    data: memoryview
    spans: list[BatchSpan]
    done: Callable[[int | LakewardError], None]
    timer: asyncio.TimerHandle


class Appends:
    """Answers appends."""

    def __init__(
        self,
        catalog: Catalog,
        tablets: Tablets,
        waiters: Waiters,
        *,
        now_ms: Callable[[], int],
        loop: asyncio.AbstractEventLoop,
        park_ms: int,
        park_bytes_max: int = 256 << 20,
    ) -> None:
        self._catalog = catalog
        self._tablets = tablets
        self._waiters = waiters
        self._now_ms = now_ms
        self._loop = loop
        self._park_ms = park_ms
        self._park_bytes_max = park_bytes_max
        self._parked_bytes = 0
        self._shapes: dict[tuple[int, int], tuple[int, int]] = {}
        self._early: dict[tuple[TableBucket, int, int], _Early] = {}

    def handle(self, request: ProduceLogRequest, exchange: Exchange) -> ProduceLogResponse | None:
        """Append to each bucket that is named; answer when all of them are done."""
        if request.acks not in _ACKS:
            raise ErrorCode.INVALID_REQUIRED_ACKS.error(f"acks must be 0, 1 or -1, not {request.acks}.")
        pending = _Pending(request, exchange)
        for place, one in enumerate(request.buckets_req):
            bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
            try:
                self._take(bucket, one, request.timeout_ms, pending.done_at(place))
            except LakewardError as wrong:
                pending.done_at(place)(wrong)
        pending.is_complete = True
        return pending.response()

    def _take(
        self,
        bucket: TableBucket,
        one: PbProduceLogReqForBucket,
        timeout_ms: int,
        done: Callable[[int | LakewardError], None],
    ) -> None:
        table = self._tablets.table(bucket)
        assert not isinstance(one.records, list)
        data = memoryview(one.records)
        spans = cut_batches(data)
        self._check(table, data, spans)
        log = self._tablets.log(bucket)
        verdict, before = log.judge(spans)
        header = spans[0].header
        match verdict:
            case Verdict.NEXT:
                done(self._append(bucket, data, spans))
                self._append_followers(bucket, spans)
            case Verdict.DUPLICATE:
                assert before is not None
                done(before.base_offset)
            case Verdict.AHEAD if self._parked_bytes + len(data) <= self._park_bytes_max:
                self._park(bucket, data, spans, min(self._park_ms, max(timeout_ms, 0)), done)
            case _:
                raise _out_of_order(table, bucket, header.writer_id, header.batch_sequence)

    def _append(self, bucket: TableBucket, data: memoryview, spans: list[BatchSpan]) -> int:
        writable = memoryview(bytearray(data)) if data.readonly else data
        base = self._tablets.log(bucket).append(writable, spans, self._now_ms())
        self._waiters.touch(bucket)
        return base

    def _check(self, table: TableInfo, data: memoryview, spans: list[BatchSpan]) -> None:
        """Refuse batches that readers could not read."""
        if table.descriptor.has_primary_key:
            raise ErrorCode.INVALID_TABLE.error(f"Table {table.path} has a primary key; rows are put, not appended.")
        is_arrow = table.descriptor.properties.get("table.log.format", "ARROW").upper() == "ARROW"
        for span in spans:
            header = span.header
            if not 0 < header.schema_id <= table.schema_id:
                raise ErrorCode.SCHEMA_NOT_EXIST.error(
                    f"Table {table.path} has schemas 1 to {table.schema_id}; "
                    f"the batch was written with {header.schema_id}."
                )
            if is_arrow and header.record_count:
                at = span.start + HEADER_BYTES[header.magic] + header.statistics_length
                message = read_message(data, at if header.append_only else at + header.record_count, span.end)
                nodes, buffers = self._arrow_shape(table.table_id, header.schema_id)
                shape_is_right = message.node_count == nodes and len(message.buffers) == 2 * buffers
                if message.rows != header.record_count or not shape_is_right:
                    raise ErrorCode.CORRUPT_RECORD.error(
                        f"The batch does not have the columns of schema {header.schema_id} of table {table.path}."
                    )

    def _arrow_shape(self, table_id: int, schema_id: int) -> tuple[int, int]:
        """How many nodes and buffers the batches of a schema have."""
        shape = self._shapes.get((table_id, schema_id))
        if shape is None:
            schema = self._catalog.schema(table_id, schema_id)
            assert schema is not None
            columns = [column_shape(column.type) for column in schema.columns]
            shape = sum(nodes for nodes, _ in columns), sum(buffers for _, buffers in columns)
            self._shapes[table_id, schema_id] = shape
        return shape

    # -- batches that came too early

    def _park(
        self,
        bucket: TableBucket,
        data: memoryview,
        spans: list[BatchSpan],
        wait_ms: int,
        done: Callable[[int | LakewardError], None],
    ) -> None:
        header = spans[0].header
        key = (bucket, header.writer_id, header.batch_sequence)
        twin = self._early.get(key)
        if twin is not None:  # sent twice while it waits: one batch, two answers
            first = twin.done

            def both(outcome: int | LakewardError) -> None:
                first(outcome)
                done(outcome)

            self._early[key] = twin._replace(done=both)
            return
        kept = memoryview(bytearray(data))
        timer = self._loop.call_later(wait_ms / 1000, self._give_up, key)
        self._early[key] = _Early(kept, spans, done, timer)
        self._parked_bytes += len(kept)

    def _append_followers(self, bucket: TableBucket, spans: list[BatchSpan]) -> None:
        """Append what waited for the batch that has just come."""
        header = spans[-1].header
        while self._early:
            key = (bucket, header.writer_id, next_sequence(header.batch_sequence))
            early = self._early.pop(key, None)
            if early is None:
                return
            early.timer.cancel()
            self._parked_bytes -= len(early.data)
            try:
                early.done(self._append(bucket, early.data, early.spans))
            except LakewardError as wrong:
                early.done(wrong)
                return
            header = early.spans[-1].header

    def _give_up(self, key: tuple[TableBucket, int, int]) -> None:
        early = self._early.pop(key, None)
        if early is None:
            return
        bucket, writer_id, sequence = key
        self._parked_bytes -= len(early.data)
        try:
            early.done(_out_of_order(self._tablets.table(bucket), bucket, writer_id, sequence))
        except LakewardError as wrong:  # the table was dropped meanwhile
            early.done(wrong)


class _Pending:
    """An append request whose buckets are done one after the other."""

    def __init__(self, request: ProduceLogRequest, exchange: Exchange) -> None:
        self._request = request
        self._exchange = exchange
        self._results: list[int | LakewardError | None] = [None] * len(request.buckets_req)
        self._open = len(request.buckets_req)
        self.is_complete = False

    def done_at(self, place: int) -> Callable[[int | LakewardError], None]:
        def done(outcome: int | LakewardError) -> None:
            self._results[place] = outcome
            self._open -= 1
            response = self.response() if self.is_complete else None
            if response is not None:
                self._exchange.reply(response)

        return done

    def response(self) -> ProduceLogResponse | None:
        """The answer, once every bucket has its result."""
        if self._open:
            return None
        pairs = zip(self._request.buckets_req, self._results, strict=True)
        return ProduceLogResponse(buckets_resp=tuple(_result(one, outcome) for one, outcome in pairs))


def _result(one: PbProduceLogReqForBucket, outcome: int | LakewardError | None) -> PbProduceLogRespForBucket:
    if isinstance(outcome, int):
        return PbProduceLogRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, base_offset=outcome)
    assert outcome is not None
    return PbProduceLogRespForBucket(
        partition_id=one.partition_id,
        bucket_id=one.bucket_id,
        error_code=outcome.code.value,
        error_message=outcome.message,
    )


def _out_of_order(table: TableInfo, bucket: TableBucket, writer_id: int, sequence: int) -> LakewardError:
    return ErrorCode.OUT_OF_ORDER_SEQUENCE.error(
        f"Batch {sequence} of writer {writer_id} is not the next one for {bucket} of table {table.path}."
    )
