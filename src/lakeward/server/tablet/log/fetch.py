"""FETCH_LOG: read, select, answer or wait."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.messages.log import (
    FetchLogRequest,
    FetchLogResponse,
    PbFetchLogReqForBucket,
    PbFetchLogReqForTable,
    PbFetchLogRespForBucket,
    PbFetchLogRespForTable,
)
from lakeward.rpc.dispatch import Exchange, Steps, at_once
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.rpc.server_connection import ServerConnection
from lakeward.server.archive.remote_reads import RemoteReads, StillLoadingError
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.tablet.log.answer_room import AnswerRoom
from lakeward.server.tablet.log.fetch_answer import AT_ONCE, fetch_answer
from lakeward.server.tablet.log.selection import Selection, Selections
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.traffic import Traffic

FROM_EARLIEST = -2
_DEFAULT_WAIT_MS = 100
_WAIT_MS_MAX = 60_000
#: A client that still has rows to fetch from another bucket must not be held up by this one. (notes: long poll stalls)
_WAIT_MS_WHEN_BEHIND = 3
_RECENT_S = 2.0
_TRACKED_BUCKETS_MAX = 4096
_QUIET_ERRORS = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TABLE_OR_BUCKET}
#: How long a fetch waits at least for what has to be looked up in remote storage.
_WAIT_MS_FOR_REMOTE = 5000
_REMOTE_FIRST = 1
_PROGRESS = "fetch progress"
_PARKED = "fetches parked"


class FetchLimits(NamedTuple):
    """How much of the server one connection's fetches may take."""

    answer_bytes: int
    waiting: int


class _Progress(NamedTuple):
    """Up to where a client has read a bucket at least, and when it last asked."""

    next_offset: int
    asked_at: float


class _Handed(NamedTuple):
    """What a client gets of a table."""

    table_id: int
    rows: int
    bytes: int


class _Answer(NamedTuple):
    """What there is to answer with; an error, or batches filtered out, must be told without waiting."""

    tables: tuple[PbFetchLogRespForTable, ...]
    bytes: int
    must_be_told: bool
    buckets_missing: int
    is_loading: bool
    handed: list[_Handed]
    refusals: list[LakewardError]


class Fetches:
    """Answers fetches, at once or when rows have come."""

    def __init__(
        self,
        catalog: Catalog,
        buckets: Buckets,
        logs: Logs,
        waiters: Waiters,
        lake_floor: Callable[[TableBucket], int | None],
        limits: FetchLimits,
        traffic: Traffic,
        remote: RemoteReads | None = None,
    ) -> None:
        """`lake_floor` tells up to where the lake has a bucket; None for tables that are not tiered."""
        self._remote = remote
        self._traffic = traffic
        self._limits = limits
        self._lake_floor = lake_floor
        self._buckets = buckets
        self._logs = logs
        self._waiters = waiters
        self._selections = Selections(catalog)

    def handle(self, request: FetchLogRequest, exchange: Exchange) -> FetchLogResponse | Steps | None:
        """Answer now, or park the fetch."""
        for table in request.tables_req:
            if table.filter_predicate is not None and (table.filter_schema_id is None or table.filter_schema_id < 0):
                raise ErrorCode.UNKNOWN_SERVER_ERROR.error("A filter needs the id of the schema it was made for.")
        steps = self._answer(request, exchange)
        if sum(len(table.buckets_req) for table in request.tables_req) > AT_ONCE:
            return steps
        answer: FetchLogResponse | None = at_once(steps)
        return answer

    def _answer(self, request: FetchLogRequest, exchange: Exchange) -> Steps:
        connection = exchange.connection
        answer = yield from self._read(request, connection)
        wait_ms = self._wait_ms(request)
        enough = answer.bytes >= (request.min_bytes or 0)
        if answer.is_loading and not answer.bytes:
            wait_ms, enough = max(wait_ms, _WAIT_MS_FOR_REMOTE), False
        parked = self._parked_of(connection)
        if wait_ms <= 0 or enough or answer.must_be_told or len(parked) >= self._limits.waiting:
            self.count(answer, exchange)
            return (yield from fetch_answer(answer.tables))
        if self._is_behind(request, connection) and not answer.is_loading:
            wait_ms = min(wait_ms, _WAIT_MS_WHEN_BEHIND)
        fetch = _ParkedFetch(self, request, exchange, answer.buckets_missing)
        parked.add(fetch)
        self._waiters.park(fetch, wait_ms / 1000)
        return None

    def _parked_of(self, connection: ServerConnection) -> set[_ParkedFetch]:
        """The fetches of a client that wait; they end with its connection."""
        parked = connection.state.get(_PARKED)
        if parked is None:
            parked = connection.state[_PARKED] = set()
            connection.when_closed(lambda: self._forget(connection))
        assert isinstance(parked, set)
        return parked

    def _forget(self, connection: ServerConnection) -> None:
        for fetch in self._parked_of(connection):
            self._waiters.forget(fetch)

    def count(self, answer: _Answer, exchange: Exchange) -> None:
        """A fetch is answered with this."""
        for table_id, rows, size in answer.handed:
            self._traffic[table_id].hand_out(rows, size)
        for wrong in answer.refusals:
            exchange.note_refusal(wrong)

    def unpark(self, fetch: _ParkedFetch) -> None:
        """A fetch is answered."""
        self._parked_of(fetch.connection).discard(fetch)
        self._waiters.forget(fetch)

    @staticmethod
    def _wait_ms(request: FetchLogRequest) -> int:
        if request.min_bytes is None:
            return 0
        return min(_DEFAULT_WAIT_MS if request.max_wait_ms is None else request.max_wait_ms, _WAIT_MS_MAX)

    # -- reading

    def _read(
        self, request: FetchLogRequest, connection: ServerConnection, *, time_is_up: bool = False
    ) -> Generator[None, None, _Answer]:
        room = AnswerRoom(min(request.max_bytes, self._limits.answer_bytes))
        must_be_told = False
        buckets_missing = 0
        is_loading = False
        tables = []
        handed: list[_Handed] = []
        refusals: list[LakewardError] = []
        for asked in request.tables_req:
            buckets = []
            rows = table_bytes = 0
            for one in asked.buckets_req:
                bucket = TableBucket(asked.table_id, one.partition_id, one.bucket_id)
                try:
                    found = None
                    if room.is_full and request.follower_server_id < 0:  # a follower tells how far it is by asking
                        response, size = self._look_away(one, bucket, connection), 0
                    elif found := self._find_remote(one, bucket, request, time_is_up=time_is_up):
                        response, size = found, 0
                    else:
                        response, selected = self._read_bucket(
                            asked, one, bucket, room, connection, request.follower_server_id
                        )
                        size, rows = selected.size, rows + selected.rows
                except StillLoadingError:
                    response, size, is_loading = self._nothing_yet(one, bucket), 0, True
                except LakewardError as wrong:
                    response, size = bucket_refusal(PbFetchLogRespForBucket, one, wrong), 0
                    refusals.append(wrong)
                    is_missing = wrong.code in _QUIET_ERRORS
                    buckets_missing += is_missing
                    must_be_told |= not is_missing
                else:
                    must_be_told |= response.filtered_end_offset is not None or found is not None
                buckets.append(response)
                room.take(size)
                table_bytes += size
                if len(buckets) % AT_ONCE == 0:
                    yield
            tables.append(PbFetchLogRespForTable(table_id=asked.table_id, buckets_resp=tuple(buckets)))
            if table_bytes:
                handed.append(_Handed(asked.table_id, rows, table_bytes))
            if len(tables) % AT_ONCE == 0:
                yield
        return _Answer(tuple(tables), room.taken, must_be_told, buckets_missing, is_loading, handed, refusals)

    def _find_remote(
        self, one: PbFetchLogReqForBucket, bucket: TableBucket, request: FetchLogRequest, *, time_is_up: bool
    ) -> PbFetchLogRespForBucket | None:
        """An answer that says where in remote storage the rows are; None where they are to be read from here."""
        if self._remote is None:
            return None
        self._buckets.table(bucket)
        log = self._logs.open(bucket)
        offset = one.fetch_offset
        if offset == FROM_EARLIEST:
            offset = self._remote.start_offset(bucket, log.start_offset)
        remote_first = request.read_preference == _REMOTE_FIRST
        found = self._remote.fetch_info(
            bucket, offset, log.start_offset, remote_first=remote_first, time_is_up=time_is_up
        )
        if found is None:
            return None
        if request.follower_server_id >= 0:  # it will go on behind what is told: it has been heard of from now on
            self._buckets.replication.follower_asks(bucket, request.follower_server_id, offset, log)
        return replace(self._nothing_yet(one, bucket), records=None, remote_log_fetch_info=found)

    def _nothing_yet(self, one: PbFetchLogReqForBucket, bucket: TableBucket) -> PbFetchLogRespForBucket:
        return PbFetchLogRespForBucket(
            partition_id=one.partition_id,
            bucket_id=one.bucket_id,
            high_watermark=self._buckets.replication.visible_end(bucket, self._logs.open(bucket)),
            log_start_offset=0,
            records=b"",
        )

    def _look_away(
        self, one: PbFetchLogReqForBucket, bucket: TableBucket, connection: ServerConnection
    ) -> PbFetchLogRespForBucket:
        """An answer that is full says of a bucket only how far it goes; its rows, and what is wrong with them, later.

        Clients expect an entry for each bucket, and begin their next request with those that gave nothing.
        """
        self._buckets.table(bucket)
        self._note_progress(connection, bucket, max(one.fetch_offset, 0))
        return self._nothing_yet(one, bucket)

    def _read_bucket(
        self,
        asked: PbFetchLogReqForTable,
        one: PbFetchLogReqForBucket,
        bucket: TableBucket,
        room: AnswerRoom,
        connection: ServerConnection,
        follower: int,
    ) -> tuple[PbFetchLogRespForBucket, Selection]:
        table = self._buckets.table(bucket)
        log = self._logs.open(bucket)
        offset = log.start_offset if one.fetch_offset == FROM_EARLIEST else one.fetch_offset
        visible_end = self._buckets.replication.visible_end(bucket, log)
        if follower >= 0:
            self._buckets.replication.follower_asks(bucket, follower, offset, log)
        elif offset < log.start_offset:
            self._refuse_expired(table, bucket, offset, log.start_offset)
        end = log.end_offset if follower >= 0 else visible_end
        bytes_max = max(0, min(one.max_fetch_bytes, room.left))
        read = log.read(offset, bytes_max, at_least_one=not room.taken, until=end)
        if not read.data and not read.reaches_end and bytes_max < one.max_fetch_bytes:
            room.note_miss()
        selected = self._selections.select(table, asked, read, end if read.reaches_end else offset)
        self._note_progress(connection, bucket, selected.next_offset)
        response = PbFetchLogRespForBucket(
            partition_id=one.partition_id,
            bucket_id=one.bucket_id,
            high_watermark=visible_end,
            log_start_offset=0,  # as Apache Fluss, which does not maintain it
            records=selected.records,
            filtered_end_offset=selected.filtered_end_offset,
        )
        return response, selected

    def _refuse_expired(self, table: TableInfo, bucket: TableBucket, offset: int, start_offset: int) -> None:
        """Say so if the lake still has what the log has not: an empty answer would have the client wait for ever."""
        in_lake = self._lake_floor(bucket) or 0
        if 0 <= offset < in_lake:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"Offset {offset} of {bucket} has left the log of {table.path}, which begins at {start_offset}. The"
                f" lake has it: read the lake's table up to offset {in_lake} and the log from there."
            )

    # -- who is behind

    def _note_progress(self, connection: ServerConnection, bucket: TableBucket, next_offset: int) -> None:
        progress = _progress_of(connection)
        if len(progress) >= _TRACKED_BUCKETS_MAX:
            progress.clear()
        progress[bucket] = _Progress(next_offset, connection.active_at)

    def _is_behind(self, request: FetchLogRequest, connection: ServerConnection) -> bool:
        """Whether the client has, a moment ago, left rows behind in a bucket that this fetch does not name."""
        asked = {
            TableBucket(table.table_id, one.partition_id, one.bucket_id)
            for table in request.tables_req
            for one in table.buckets_req
        }
        tables = {table.table_id for table in request.tables_req}
        for bucket, progress in _progress_of(connection).items():
            if bucket.table_id not in tables or bucket in asked:
                continue
            if connection.active_at - progress.asked_at > _RECENT_S:
                continue
            try:
                if progress.next_offset < self._buckets.replication.visible_end(bucket, self._logs.open(bucket)):
                    return True
            except LakewardError:
                continue  # the bucket has been dropped since
        return False


def _progress_of(connection: ServerConnection) -> dict[TableBucket, _Progress]:
    progress = connection.state.setdefault(_PROGRESS, {})
    assert isinstance(progress, dict)
    return progress


class _ParkedFetch:
    """A fetch that found too little."""

    def __init__(self, fetches: Fetches, request: FetchLogRequest, exchange: Exchange, buckets_missing: int) -> None:
        self._fetches = fetches
        self._request = request
        self._exchange = exchange
        self._buckets_missing = buckets_missing
        self._is_reading = self._is_touched = self._time_is_up = False
        self.connection = exchange.connection
        self.buckets = tuple(
            TableBucket(table.table_id, one.partition_id, one.bucket_id)
            for table in request.tables_req
            for one in table.buckets_req
        )

    def try_complete(self, *, time_is_up: bool) -> bool:
        """Answer when there is enough, when a bucket has gone, or when time is up."""
        if self.connection.is_closing:
            return True
        if self.connection.writes_paused and not time_is_up:
            return False  # it would only pile up; the timer will come
        self._time_is_up |= time_is_up
        self._is_touched = True
        if not self._is_reading:
            self._is_reading = True
            self._exchange.begin_again()
            steps = self._read_again()
            self._exchange.settle(lambda: steps if len(self.buckets) > AT_ONCE else at_once(steps))
        return self._exchange.is_done

    def _read_again(self) -> Steps:
        """Read until nothing has changed meanwhile."""
        while self._is_touched:
            self._is_touched = False
            answer = yield from self._fetches._read(self._request, self.connection, time_is_up=self._time_is_up)
            if self._time_is_up or self._is_enough(answer):
                self._fetches.unpark(self)
                self._fetches.count(answer, self._exchange)
                return (yield from fetch_answer(answer.tables))
        self._is_reading = False
        return None

    def _is_enough(self, answer: _Answer) -> bool:
        if answer.is_loading and not answer.bytes:
            return False
        has_lost = answer.must_be_told or answer.buckets_missing > self._buckets_missing
        return has_lost or answer.bytes >= (self._request.min_bytes or 0)
