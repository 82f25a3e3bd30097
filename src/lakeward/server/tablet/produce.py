"""PRODUCE_LOG: check, judge, append, answer."""

from __future__ import annotations

from collections.abc import Callable

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
from lakeward.server.tablet.early import EarlyBatches, out_of_order
from lakeward.server.tablet.pending import Done, Outcome, Pending, error_fields
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.tablet.waiting import Waiters
from lakeward.storage.log.writer_state import Verdict

ACKS = {0, 1, -1}


class Appends:
    """Answers appends."""

    def __init__(
        self, catalog: Catalog, tablets: Tablets, waiters: Waiters, early: EarlyBatches, now_ms: Callable[[], int]
    ) -> None:
        self._catalog = catalog
        self._tablets = tablets
        self._waiters = waiters
        self._early = early
        self._now_ms = now_ms
        self._shapes: dict[tuple[int, int], tuple[int, int]] = {}

    def handle(self, request: ProduceLogRequest, exchange: Exchange) -> ProduceLogResponse | None:
        """Append to each bucket that is named; answer when all of them are done."""
        if request.acks not in ACKS:
            raise ErrorCode.INVALID_REQUIRED_ACKS.error(f"acks must be 0, 1 or -1, not {request.acks}.")
        pending = Pending(len(request.buckets_req), exchange, lambda outcomes: _response(request, outcomes))
        for place, one in enumerate(request.buckets_req):
            bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
            done = pending.done_at(place)
            try:
                self._take(bucket, one, request.timeout_ms, done)
            except LakewardError as wrong:
                done(wrong)
        answer: ProduceLogResponse | None = pending.started()
        return answer

    def _take(self, bucket: TableBucket, one: PbProduceLogReqForBucket, timeout_ms: int, done: Done) -> None:
        table = self._tablets.table(bucket)
        assert not isinstance(one.records, list)
        data = memoryview(one.records)
        spans = cut_batches(data)
        self._check(table, data, spans)
        verdict, before = self._tablets.log(bucket).judge(spans)
        first, last = spans[0].header, spans[-1].header
        if verdict in {Verdict.NEXT, Verdict.AHEAD}:
            self._tablets.writes.check()
        match verdict:
            case Verdict.NEXT:
                done(self._append(bucket, data, spans))
                self._early.follow(bucket, last.writer_id, last.batch_sequence)
            case Verdict.DUPLICATE:
                assert before is not None
                done(before.base_offset)
            case Verdict.AHEAD:
                sequences = (first.batch_sequence, last.batch_sequence)
                self._early.wait(
                    bucket,
                    first.writer_id,
                    sequences,
                    data,
                    timeout_ms,
                    lambda kept: self._append(bucket, kept, spans),
                    done,
                )
            case Verdict.OUT_OF_ORDER:
                raise out_of_order(bucket, first.writer_id, first.batch_sequence)

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


def _response(request: ProduceLogRequest, outcomes: list[Outcome]) -> ProduceLogResponse:
    pairs = zip(request.buckets_req, outcomes, strict=True)
    return ProduceLogResponse(buckets_resp=tuple(_result(one, outcome) for one, outcome in pairs))


def _result(one: PbProduceLogReqForBucket, outcome: Outcome) -> PbProduceLogRespForBucket:
    if isinstance(outcome, LakewardError):
        return PbProduceLogRespForBucket(**error_fields(one, outcome))
    return PbProduceLogRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, base_offset=outcome)
