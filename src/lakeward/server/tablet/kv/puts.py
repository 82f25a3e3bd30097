"""PUT_KV: check, judge, put, answer. Batches that came too early wait, as for logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PbPutKvReqForBucket, PbPutKvRespForBucket, PutKvRequest, PutKvResponse
from lakeward.records.batch.kv_batch import KvBatch, kv_crc_is_right, parse_kv_batch
from lakeward.rpc.dispatch import Exchange, Steps, at_once
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.tablet.buckets.pending import Done, Outcome, Pending
from lakeward.server.tablet.buckets.tablets import Tablets
from lakeward.server.tablet.kv.kv_gate import KvGate
from lakeward.server.tablet.log.append_checks import refused
from lakeward.server.tablet.log.early import EarlyBatches, out_of_order
from lakeward.server.tablet.log.produce import ACKS, AT_ONCE
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.log.writer_state import Verdict

_BY_ENGINE, _OVERWRITE = 0, 1


class Puts:
    """Answers puts."""

    def __init__(
        self, tablets: Tablets, gate: KvGate, waiters: Waiters, early: EarlyBatches, now_ms: Callable[[], int]
    ) -> None:
        self._tablets = tablets
        self._gate = gate
        self._waiters = waiters
        self._early = early
        self._now_ms = now_ms

    def handle(self, request: PutKvRequest, exchange: Exchange) -> PutKvResponse | Steps | None:
        """Put to each bucket that is named; answer when all of them are done."""
        if request.acks not in ACKS:
            raise ErrorCode.INVALID_REQUIRED_ACKS.error(f"acks must be 0, 1 or -1, not {request.acks}.")
        if request.agg_mode not in {None, _BY_ENGINE, _OVERWRITE}:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"There is no merge mode {request.agg_mode}.")
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        if not self._gate.admits(buckets, self.handle, request, exchange):
            return None
        pending = Pending(len(request.buckets_req), exchange, lambda outcomes: _response(request, outcomes))
        steps = self._take_all(request, exchange.version, pending)
        return steps if len(buckets) > AT_ONCE else at_once(steps)

    def _take_all(self, request: PutKvRequest, version: int, pending: Pending) -> Steps:
        for place, one in enumerate(request.buckets_req):
            done = pending.done_at(place)
            try:
                self._gate.check_free(TableBucket(request.table_id, one.partition_id, one.bucket_id))
                self._take(request, one, version, done)
            except LakewardError as wrong:
                done(wrong)
            if place % AT_ONCE == AT_ONCE - 1:
                yield
        for one in request.buckets_req:
            self._gate.grow(TableBucket(request.table_id, one.partition_id, one.bucket_id))
        return pending.started()

    def _take(self, request: PutKvRequest, one: PbPutKvReqForBucket, version: int, done: Done) -> None:
        bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
        kv = self._tablets.kv(bucket, version)
        assert not isinstance(one.records, list)
        data = memoryview(one.records)
        batch = self._batch(kv, bucket, data)
        verdict, before = Verdict.NEXT, None
        if batch.writer_id >= 0 and batch.batch_sequence >= 0:
            verdict, before = kv.log.writers.judge(batch.writer_id, batch.batch_sequence)
        if verdict in {Verdict.NEXT, Verdict.AHEAD}:
            self._tablets.writes.check()
        match verdict:
            case Verdict.NEXT:
                done(self._put(request, bucket, batch))
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
                    lambda kept: self._put(request, bucket, parse_kv_batch(kept)),
                    done,
                )
            case Verdict.OUT_OF_ORDER:
                raise out_of_order(bucket, batch.writer_id, batch.batch_sequence)

    def _put(self, request: PutKvRequest, bucket: TableBucket, batch: KvBatch) -> int:
        overwrite = request.agg_mode == _OVERWRITE
        with self._refusing(bucket):
            end = self._tablets.kv(bucket).put(batch, request.target_columns, self._now_ms(), overwrite=overwrite)
        self._waiters.touch(bucket)
        return end

    def _batch(self, kv: KvTablet, bucket: TableBucket, data: memoryview) -> KvBatch:
        """The batch, read and looked at. Only what its checksum refutes may be sent again."""
        if not kv_crc_is_right(data):
            return parse_kv_batch(data)
        with self._refusing(bucket):
            batch = parse_kv_batch(data, crc_was_checked=True)
            kv.check(batch, bucket.bucket)
        return batch

    @contextmanager
    def _refusing(self, bucket: TableBucket) -> Iterator[None]:
        """Turn what is found damaged into a refusal: the same bytes will never do."""
        try:
            yield
        except CorruptError as wrong:
            raise refused(self._tablets.table(bucket).path, bucket, wrong) from wrong


def _response(request: PutKvRequest, outcomes: list[Outcome]) -> PutKvResponse:
    pairs = zip(request.buckets_req, outcomes, strict=True)
    return PutKvResponse(buckets_resp=tuple(_result(one, outcome) for one, outcome in pairs))


def _result(one: PbPutKvReqForBucket, outcome: Outcome) -> PbPutKvRespForBucket:
    if isinstance(outcome, LakewardError):
        return bucket_refusal(PbPutKvRespForBucket, one, outcome)
    return PbPutKvRespForBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, log_end_offset=outcome)
