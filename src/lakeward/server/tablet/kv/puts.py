"""PUT_KV: check, judge, put, answer. Batches that came too early wait, as for logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbPutKvReqForBucket, PbPutKvRespForBucket, PutKvRequest, PutKvResponse
from lakeward.records.batch.kv_batch import KvBatch, kv_crc_is_right, kv_record_count, parse_kv_batch
from lakeward.rpc.dispatch import Exchange, Steps, at_once
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.kv.put_steps import PutSteps, is_long
from lakeward.server.tablet.log.append_checks import refusal
from lakeward.server.tablet.log.early import EarlyBatches, out_of_order
from lakeward.server.tablet.log.produce import ACKS, AT_ONCE
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flow import Flow, run_beside, run_here
from lakeward.server.tablet.requests.flushes import Flushes
from lakeward.server.tablet.requests.pending import Done, Outcome, Pending
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.log.writer_state import Verdict

_BY_ENGINE, _OVERWRITE = 0, 1
#: What so few bytes hold is done at once, whatever it is.
_SMALL_BYTES = 1024
_Opened: TypeAlias = "KvTablet | LakewardError"


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
        busy: BusyBuckets,
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
        self._busy = busy
        self._steps = PutSteps(states, now_ms)

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
        batches = [_records(one) for one in request.buckets_req]
        if sum(map(len, batches)) > _SMALL_BYTES:
            states = [self._open(bucket, exchange.version) for bucket in buckets]
            if _are_long(batches, states, request.target_columns):
                # Held from now on: whoever wants one of the buckets waits until all is done.
                work = self._take_beside(asked, states, pending)
                return _after(self._busy.together(buckets, work), pending)
        steps = self._take_all(asked, pending)
        return steps if len(buckets) > AT_ONCE else at_once(steps)

    def _open(self, bucket: TableBucket, version: int) -> _Opened:
        try:
            return self._states.open(bucket, version)
        except LakewardError as wrong:
            return wrong

    def _take_all(self, asked: AskedPuts, pending: Pending) -> Steps:
        for place, bucket in enumerate(asked.buckets):
            run_here(self._take_one(asked, place, self._open(bucket, pending.exchange.version), pending))
            if place % AT_ONCE == AT_ONCE - 1:
                yield
        for bucket in asked.buckets:
            self._states.grow(bucket)
        return pending.answer_or_wait()

    async def _take_beside(self, asked: AskedPuts, states: Sequence[_Opened], pending: Pending) -> None:
        for place, state in enumerate(states):
            await run_beside(self._take_one(asked, place, state, pending), self._busy.on_thread)
            grow = state.growth() if isinstance(state, KvTablet) else None
            if grow is not None:
                await self._busy.on_thread(grow)

    def _take_one(self, asked: AskedPuts, place: int, state: _Opened, pending: Pending) -> Flow[None]:
        """The batch of one bucket."""
        bucket = asked.buckets[place]
        request, done = asked.request, pending.done_at(place)
        done = self._flushes.guard(
            bucket, self._states.replication.guard(bucket, request.acks, request.timeout_ms, done)
        )
        try:
            if isinstance(state, LakewardError):
                raise state
            self._states.replication.check_write(bucket, request.acks)
            records = _records(asked.request.buckets_req[place])
            if self._followed is None:
                yield from self._take(asked.request, state, bucket, records, done)
            else:
                with self._followed.step(pending.exchange, "kv put", bucket):
                    yield from self._take(asked.request, state, bucket, records, done)
        except LakewardError as wrong:
            done(wrong)

    def _take(
        self, request: PutKvRequest, state: KvTablet, bucket: TableBucket, data: memoryview, done: Done
    ) -> Flow[None]:
        batch: KvBatch = yield partial(_read_batch, state, bucket, data)
        verdict, before = Verdict.NEXT, None
        if batch.writer_id >= 0 and batch.batch_sequence >= 0:
            verdict, before = state.log.writers.judge(batch.writer_id, batch.batch_sequence)
        if verdict in {Verdict.NEXT, Verdict.AHEAD}:
            self._writes.check()
        match verdict:
            case Verdict.NEXT:
                done((yield from self._put(request, state, bucket, batch)))
                yield from self._follow(state, bucket, batch.writer_id, batch.batch_sequence)
            case Verdict.DUPLICATE:
                assert before is not None
                done(before.last_offset + 1)
            case Verdict.AHEAD:
                sequences = (batch.batch_sequence, batch.batch_sequence)
                write = partial(self._put_kept, request, bucket)
                self._early.wait(bucket, batch.writer_id, sequences, data, request.timeout_ms, write, done)
            case Verdict.OUT_OF_ORDER:
                raise out_of_order(bucket, batch.writer_id, batch.batch_sequence)

    def _follow(self, state: KvTablet, bucket: TableBucket, writer_id: int, sequence: int) -> Flow[None]:
        """Put what waited for the batch that has just been put."""
        while (early := self._early.take(bucket, writer_id, sequence)) is not None:
            try:
                early.done((yield from early.write(state, early.data)))
            except LakewardError as wrong:
                early.done(wrong)
                return
            sequence = early.last_sequence

    def _put_kept(self, request: PutKvRequest, bucket: TableBucket, state: KvTablet, data: memoryview) -> Flow[int]:
        batch: KvBatch = yield partial(parse_kv_batch, data)
        return (yield from self._put(request, state, bucket, batch))

    def _put(self, request: PutKvRequest, state: KvTablet, bucket: TableBucket, batch: KvBatch) -> Flow[int]:
        overwrite = request.agg_mode == _OVERWRITE
        try:
            end = yield from self._steps.put(bucket, state, batch, request.target_columns, overwrite=overwrite)
        except CorruptError as wrong:
            raise refusal(state.path, bucket, wrong) from wrong
        self._traffic[bucket.table_id].take_in(batch.record_count, batch.data.size)
        self._waiters.touch(bucket)
        return end


def _records(one: PbPutKvReqForBucket) -> memoryview:
    assert not isinstance(one.records, list)
    return memoryview(one.records)


def _are_long(batches: Sequence[memoryview], states: Sequence[_Opened], target_columns: tuple[int, ...]) -> bool:
    return any(
        isinstance(state, KvTablet) and is_long(state, kv_record_count(data), len(data), target_columns)
        for data, state in zip(batches, states, strict=True)
    )


def _after(work: asyncio.Future[None], pending: Pending) -> Steps:
    """The answer when the work is done; meanwhile this client's next requests wait, and its bytes stay."""
    yield work
    work.result()
    return pending.answer_or_wait()


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
