"""LIST_OFFSETS, LIMIT_SCAN and GET_TABLE_STATS: questions about a log."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.codec import Parts, encode
from lakeward.protocol.messages.log import (
    LimitScanRequest,
    LimitScanResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    PbListOffsetsRespForBucket,
)
from lakeward.protocol.messages.table import GetTableStatsRequest, GetTableStatsResponse
from lakeward.rpc.dispatch import EncodedAnswer, Exchange, Handler, Steps
from lakeward.rpc.error_answers import refusal
from lakeward.server.archive.remote_reads import RemoteReads
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.tablet.requests.limit_errors import answer_too_large
from lakeward.server.tablet.requests.table_stats import count_rows
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.storage.log.replica_log import ReplicaLog

EARLIEST, LATEST, TIMESTAMP, LEADER_END = 0, 1, 2, 3
#: So many buckets are looked at without a break.
_AT_ONCE = 32


class Scans:
    """Answers questions about logs."""

    def __init__(
        self,
        buckets: Buckets,
        logs: Logs,
        keyed: Handler,
        now_ms: Callable[[], int],
        busy: BusyBuckets,
        answer_bytes_max: int,
        remote: RemoteReads | None = None,
    ) -> None:
        """`keyed` answers what is asked of primary key tables."""
        self._answer_bytes_max = answer_bytes_max
        self._busy = busy
        self._remote = remote
        self._buckets = buckets
        self._logs = logs
        self._keyed = keyed
        self._now_ms = now_ms

    def list_offsets(self, request: ListOffsetsRequest, exchange: Exchange) -> ListOffsetsResponse | Steps | None:
        """Earliest, latest or by-time offsets of some buckets."""
        if request.offset_type not in {EARLIEST, LATEST, TIMESTAMP, LEADER_END}:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"There is no offset type {request.offset_type}.")
        if request.offset_type == TIMESTAMP and request.start_timestamp is None:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error("An offset by timestamp needs the timestamp.")
        if self._remote is not None and request.offset_type == TIMESTAMP:
            self._busy.answer_later(exchange, self._offsets_by_time(self._remote, request))
            return None
        if len(request.bucket_id) > _AT_ONCE:
            return self._offsets(request)
        return ListOffsetsResponse(buckets_resp=tuple(self._offset(request, number) for number in request.bucket_id))

    def _offsets(self, request: ListOffsetsRequest) -> Steps:
        parts: Parts = []
        for at in range(0, len(request.bucket_id), _AT_ONCE):
            answers = tuple(self._offset(request, number) for number in request.bucket_id[at : at + _AT_ONCE])
            parts.append(encode(ListOffsetsResponse(buckets_resp=answers)))
            yield
        return EncodedAnswer(parts)

    async def _offsets_by_time(self, remote: RemoteReads, request: ListOffsetsRequest) -> ListOffsetsResponse:
        """What was appended at or after a time may be in remote storage, which has to be looked up."""
        answers = []
        for number in request.bucket_id:
            answer = self._offset(request, number)
            bucket = TableBucket(request.table_id, request.partition_id, number)
            log = None if answer.error_code else self._logs.open(bucket)
            if log is not None and request.start_timestamp is not None:
                start = log.start_offset
                if answer.offset == start and remote.begins_before(bucket, start):
                    try:
                        found = await remote.offset_of_time(bucket, request.start_timestamp, start)
                    except LakewardError as wrong:
                        answer = _no_offset(number, wrong)
                    else:
                        answer = answer if found is None else PbListOffsetsRespForBucket(bucket_id=number, offset=found)
            answers.append(answer)
        return ListOffsetsResponse(buckets_resp=tuple(answers))

    def _offset(self, request: ListOffsetsRequest, number: int) -> PbListOffsetsRespForBucket:
        bucket = TableBucket(request.table_id, request.partition_id, number)
        try:
            return PbListOffsetsRespForBucket(bucket_id=number, offset=self._offset_of(request, bucket))
        except LakewardError as wrong:
            return _no_offset(number, wrong)

    def _offset_of(self, request: ListOffsetsRequest, bucket: TableBucket) -> int:
        self._buckets.table(bucket)
        log = self._logs.open(bucket)
        if request.offset_type == EARLIEST:
            return log.start_offset if request.follower_server_id >= 0 else self._start_offset(bucket, log)
        if request.offset_type == LEADER_END:
            return self._buckets.replication.elected_end(bucket, log)
        if request.offset_type == LATEST:
            return self._latest(request.follower_server_id, bucket, log)
        assert request.start_timestamp is not None
        now_ms = self._now_ms()
        if request.start_timestamp > now_ms:
            raise ErrorCode.INVALID_TIMESTAMP.error(
                f"Get offset error for table bucket {bucket}, the fetch timestamp {request.start_timestamp} "
                f"is larger than the current timestamp {now_ms}"
            )
        return min(log.offset_of_time(request.start_timestamp), self._latest(-1, bucket, log))

    def _latest(self, follower: int, bucket: TableBucket, log: ReplicaLog) -> int:
        """Where a log ends: for clients what all replicas in sync have, for replicas what there is."""
        replication = self._buckets.replication
        return replication.end_for(bucket, follower, log) if follower >= 0 else replication.visible_end(bucket, log)

    def limit_scan(self, request: LimitScanRequest, exchange: Exchange) -> LimitScanResponse | None:
        """The newest batches of a log that hold at least `limit` rows; the client cuts them to size."""
        bucket = TableBucket(request.table_id, request.partition_id, request.bucket_id)
        try:
            table = self._buckets.table(bucket)
            if table.descriptor.has_primary_key:
                answer: LimitScanResponse | None = self._keyed(request, exchange)
                return answer
            log = self._logs.open(bucket)
            offset = max(self._start_offset(bucket, log), log.end_offset - max(request.limit, 0))
            if offset < log.start_offset and self._remote is not None:
                self._busy.answer_later(exchange, self._last_rows_of_both(self._remote, bucket, offset))
                return None
            return LimitScanResponse(is_log_table=True, records=self._last_rows(log, offset, 0))
        except LakewardError as wrong:
            return refusal(LimitScanResponse, wrong)

    async def _last_rows_of_both(self, remote: RemoteReads, bucket: TableBucket, offset: int) -> LimitScanResponse:
        """The last rows reach back into remote storage."""
        try:
            start = self._logs.open(bucket).start_offset
            there = await remote.read(bucket, offset, start, self._answer_bytes_max)
            if sum(map(len, there)) >= self._answer_bytes_max:
                raise answer_too_large(self._answer_bytes_max)
            log = self._logs.open(bucket)
            here = self._last_rows(log, max(start, log.start_offset), sum(map(len, there)))
        except LakewardError as wrong:
            return refusal(LimitScanResponse, wrong)
        return LimitScanResponse(is_log_table=True, records=[*there, *here])

    def _last_rows(self, log: ReplicaLog, offset: int, size: int) -> list[bytes | bytearray | memoryview]:
        """The batches from an offset on; `size` bytes of the answer are taken already."""
        records: list[bytes | bytearray | memoryview] = []
        while offset < log.end_offset:
            read = log.read(offset, max(self._answer_bytes_max - size, 0), at_least_one=False)
            if not read.data:
                raise answer_too_large(self._answer_bytes_max)
            records.append(read.data)
            size += len(read.data)
            if read.reaches_end:
                break
            offset = log.offset_behind(read)
        return records

    def _start_offset(self, bucket: TableBucket, log: ReplicaLog) -> int:
        """The first offset that can be read, here or in remote storage."""
        start = log.start_offset
        return start if self._remote is None else self._remote.start_offset(bucket, start)

    def table_stats(self, request: GetTableStatsRequest, exchange: Exchange) -> GetTableStatsResponse | Steps | None:
        """How many rows some buckets hold."""
        if self._buckets.has_primary_key(request.table_id):
            answer: GetTableStatsResponse | Steps | None = self._keyed(request, exchange)
            return answer
        return count_rows(request, self._count)

    def _count(self, bucket: TableBucket) -> int:
        self._buckets.table(bucket)
        log = self._logs.open(bucket)
        return log.rows_from(self._start_offset(bucket, log))


def _no_offset(number: int, wrong: LakewardError) -> PbListOffsetsRespForBucket:
    return refusal(PbListOffsetsRespForBucket, wrong, bucket_id=number)
