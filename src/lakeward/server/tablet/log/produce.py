"""PRODUCE_LOG: check, judge, append, answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.log import (
    PbProduceLogReqForBucket,
    PbProduceLogRespForBucket,
    ProduceLogRequest,
    ProduceLogResponse,
)
from lakeward.records.batch.log_batch import BatchSpan, cut_batches
from lakeward.rpc.dispatch import Exchange, Steps, begin_steps
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.log.append_checks import AppendChecks, Rest
from lakeward.server.tablet.log.early import EarlyBatches, out_of_order
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flushes import Flushes
from lakeward.server.tablet.requests.pending import Done, Outcome, Pending
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.storage.log.writer_state import Verdict

ACKS = {0, 1, -1}
#: So many buckets are written without a break.
AT_ONCE = 16
#: What decompresses to more is looked into beside the loop.
_LARGE_BYTES = 256 << 10


class Appends:
    """Answers appends."""

    def __init__(
        self,
        checks: AppendChecks,
        buckets: Buckets,
        logs: Logs,
        writes: WriteStop,
        waiters: Waiters,
        early: EarlyBatches,
        flushes: Flushes,
        now_ms: Callable[[], int],
        on_thread: Callable[[Rest], asyncio.Future[LakewardError | None]],
        traffic: Traffic,
        followed: RequestSpans | None,
    ) -> None:
        """`followed` are the requests whose steps are to be seen; None where there are none."""
        self._traffic = traffic
        self._followed = followed
        self._on_thread = on_thread
        self._checks = checks
        self._buckets = buckets
        self._logs = logs
        self._writes = writes
        self._waiters = waiters
        self._early = early
        self._flushes = flushes
        self._now_ms = now_ms

    def handle(self, request: ProduceLogRequest, exchange: Exchange) -> ProduceLogResponse | Steps | None:
        """Append to each bucket that is named; answer when all of them are done."""
        if request.acks not in ACKS:
            raise ErrorCode.INVALID_REQUIRED_ACKS.error(f"acks must be 0, 1 or -1, not {request.acks}.")
        pending = Pending(len(request.buckets_req), exchange, lambda outcomes: _response(request, outcomes))
        answer: ProduceLogResponse | Steps | None = begin_steps(self._take_all(request, pending))
        return answer

    def _take_all(self, request: ProduceLogRequest, pending: Pending) -> Steps:
        for place, one in enumerate(request.buckets_req):
            bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
            promise = self._buckets.replication.guard(bucket, request.acks, request.timeout_ms, pending.done_at(place))
            done = self._flushes.guard(bucket, promise)
            try:
                table = self._buckets.table(bucket)
                self._buckets.replication.check_write(bucket, request.acks)
                assert not isinstance(one.records, list)
                data = memoryview(one.records)
                spans = cut_batches(data)
                rest = self._checks.begin(table, bucket, data, spans)
                if rest.raw_bytes > _LARGE_BYTES:
                    looking = self._on_thread(rest)
                    yield looking  # meanwhile this client's next batches wait, and nobody else
                    refusal = looking.result()
                else:
                    refusal = rest()
                if refusal is not None:
                    raise refusal
                self._take(bucket, data, spans, request.timeout_ms, done, pending.exchange)
            except LakewardError as wrong:
                done(wrong)
            if place % AT_ONCE == AT_ONCE - 1:
                yield
        return pending.answer_or_wait()

    def _take(
        self,
        bucket: TableBucket,
        data: memoryview,
        spans: list[BatchSpan],
        timeout_ms: int,
        done: Done,
        exchange: Exchange,
    ) -> None:
        verdict, before = self._logs.open(bucket).judge(spans)
        first, last = spans[0].header, spans[-1].header
        if verdict in {Verdict.NEXT, Verdict.AHEAD}:
            self._writes.check()
        match verdict:
            case Verdict.NEXT:
                done(self._append(bucket, data, spans, exchange))
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
                    lambda kept: self._append(bucket, kept, spans, exchange),
                    done,
                )
            case Verdict.OUT_OF_ORDER:
                raise out_of_order(bucket, first.writer_id, first.batch_sequence)

    def _append(self, bucket: TableBucket, data: memoryview, spans: list[BatchSpan], exchange: Exchange) -> int:
        writable = memoryview(bytearray(data)) if data.readonly else data
        log = self._logs.open(bucket)
        if self._followed is None:
            base = log.append(writable, spans, self._now_ms())
        else:
            with self._followed.step(exchange, "log append", bucket):
                base = log.append(writable, spans, self._now_ms())
        self._traffic[bucket.table_id].take_in(log.end_offset - base, len(data))
        self._waiters.touch(bucket)
        return base


def _response(request: ProduceLogRequest, outcomes: list[Outcome]) -> ProduceLogResponse:
    pairs = zip(request.buckets_req, outcomes, strict=True)
    return ProduceLogResponse(buckets_resp=tuple(_result(one, outcome) for one, outcome in pairs))


def _result(one: PbProduceLogReqForBucket, outcome: Outcome) -> PbProduceLogRespForBucket:
    if isinstance(outcome, LakewardError):
        return bucket_refusal(PbProduceLogRespForBucket, one, outcome)
    return PbProduceLogRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, base_offset=outcome)
