"""PUT_KV: check, judge, put, answer. Batches that came too early wait, as for logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbPutKvReqForBucket, PbPutKvRespForBucket, PutKvRequest, PutKvResponse
from lakeward.records.batch.kv_batch import KvBatch, kv_crc_is_right, parse_kv_batch
from lakeward.rpc.dispatch import Exchange, Steps, at_once
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.log.append_checks import refusal
from lakeward.server.tablet.log.early import EarlyBatches, out_of_order
from lakeward.server.tablet.log.produce import ACKS, AT_ONCE
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flushes import Flushes
from lakeward.server.tablet.requests.pending import Done, Outcome, Pending
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.log.writer_state import Verdict

_BY_ENGINE, _OVERWRITE = 0, 1


class AskedPuts(NamedTuple):
    """Batches for some buckets."""

    request: PutKvRequest
    buckets: list[TableBucket]


class Puts:
    """Answers puts."""

    def __init__(
        self,
        states: States,
        writes: WriteStop,
        waiters: Waiters,
        early: EarlyBatches,
        flushes: Flushes,
        now_ms: Callable[[], int],
        traffic: Traffic,
        followed: RequestSpans | None,
    ) -> None:
        """`followed` are the requests whose steps are to be seen; None where there are none."""
        self._traffic = traffic
        self._followed = followed
        self._states = states
        self._writes = writes
        self._waiters = waiters
        self._early = early
        self._flushes = flushes
        self._now_ms = now_ms

    @staticmethod
    def read(request: PutKvRequest) -> AskedPuts:
        """What is to be put where; what no server could do is refused."""
        if request.acks not in ACKS:
            raise ErrorCode.INVALID_REQUIRED_ACKS.error(f"acks must be 0, 1 or -1, not {request.acks}.")
        if request.agg_mode not in {None, _BY_ENGINE, _OVERWRITE}:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"There is no merge mode {request.agg_mode}.")
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        return AskedPuts(request, buckets)

    def answer(self, asked: AskedPuts, exchange: Exchange) -> PutKvResponse | Steps | None:
        """Put to each bucket that is named; answer when all of them are done."""
        request, buckets = asked
        pending = Pending(len(buckets), exchange, lambda outcomes: _response(request, outcomes))
        steps = self._take_all(asked, exchange.version, pending)
        return steps if len(buckets) > AT_ONCE else at_once(steps)

    def _take_all(self, asked: AskedPuts, version: int, pending: Pending) -> Steps:
        request, buckets = asked
        for place, bucket in enumerate(buckets):
            done = self._flushes.guard(bucket, pending.done_at(place))
            try:
                records = request.buckets_req[place].records
                assert not isinstance(records, list)
                state = self._states.open(bucket, version)
                if self._followed is None:
                    self._take(request, state, bucket, memoryview(records), done)
                else:
                    with self._followed.step(pending.exchange, "kv put", bucket):
                        self._take(request, state, bucket, memoryview(records), done)
            except LakewardError as wrong:
                done(wrong)
            if place % AT_ONCE == AT_ONCE - 1:
                yield
        for bucket in buckets:
            self._states.grow(bucket)
        return pending.answer_or_wait()

    def _take(self, request: PutKvRequest, state: KvTablet, bucket: TableBucket, data: memoryview, done: Done) -> None:
        batch = _read_batch(state, bucket, data)
        verdict, before = Verdict.NEXT, None
        if batch.writer_id >= 0 and batch.batch_sequence >= 0:
            verdict, before = state.log.writers.judge(batch.writer_id, batch.batch_sequence)
        if verdict in {Verdict.NEXT, Verdict.AHEAD}:
            self._writes.check()
        match verdict:
            case Verdict.NEXT:
                done(self._put(request, state, bucket, batch))
                self._early.follow(bucket, batch.writer_id, batch.batch_sequence)
            case Verdict.DUPLICATE:
                assert before is not None
                done(before.last_offset + 1)
            case Verdict.AHEAD:
                sequences = (batch.batch_sequence, batch.batch_sequence)
                self._early.wait(
                    bucket,
                    batch.writer_id,
                    sequences,
                    data,
                    request.timeout_ms,
                    lambda kept: self._put(request, self._states.open(bucket), bucket, parse_kv_batch(kept)),
                    done,
                )
            case Verdict.OUT_OF_ORDER:
                raise out_of_order(bucket, batch.writer_id, batch.batch_sequence)

    def _put(self, request: PutKvRequest, state: KvTablet, bucket: TableBucket, batch: KvBatch) -> int:
        try:
            overwrite = request.agg_mode == _OVERWRITE
            end = state.put(batch, request.target_columns, self._now_ms(), overwrite=overwrite)
        except CorruptError as wrong:
            raise refusal(state.path, bucket, wrong) from wrong
        self._traffic[bucket.table_id].take_in(batch.record_count, batch.data.size)
        self._waiters.touch(bucket)
        return end


def _read_batch(state: KvTablet, bucket: TableBucket, data: memoryview) -> KvBatch:
    """The batch, read and looked at. Only what its checksum refutes is worth sending again."""
    if not kv_crc_is_right(data):
        return parse_kv_batch(data)
    try:
        batch = parse_kv_batch(data, crc_was_checked=True)
        state.check(batch, bucket.bucket)
    except CorruptError as wrong:
        raise refusal(state.path, bucket, wrong) from wrong
    return batch


def _response(request: PutKvRequest, outcomes: list[Outcome]) -> PutKvResponse:
    pairs = zip(request.buckets_req, outcomes, strict=True)
    return PutKvResponse(buckets_resp=tuple(_result(one, outcome) for one, outcome in pairs))


def _result(one: PbPutKvReqForBucket, outcome: Outcome) -> PbPutKvRespForBucket:
    if isinstance(outcome, LakewardError):
        return bucket_refusal(PbPutKvRespForBucket, one, outcome)
    return PbPutKvRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, log_end_offset=outcome)
