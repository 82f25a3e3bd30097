"""TableStream: an unbounded read, batch by batch. Stateless; everything it knows is in the offsets.

    initial()               where a stream without a checkpoint begins
    latest(start, limit)    how far the next batch goes
    plan(start, end)        the splits of a batch; `read_split` reads them
    progress(offset)        how far behind the stream is

Every row comes exactly once: a batch is given by its two offsets alone, and planned again it holds the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lakeward.client.blocking.groups import ConsumerGroups
from lakeward.client.forms.results import BucketId, Timestamp
from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.lake.cold_part import LakeUnavailableError
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.plan import Plan, log_splits, summary, whole_logs
from lakeward.query.plan.splits import Split, StateSplit
from lakeward.query.read import data_loss
from lakeward.query.request.options import StartupMode, Tiers
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View, check_view
from lakeward.query.stream.admission import ReadLimit, admit
from lakeward.query.stream.progress import BucketProgress, Progress
from lakeward.query.stream.stream_batch import BEGINNING, Range, StreamBatch, halves, is_same
from lakeward.query.stream.stream_lake import Beginning, StreamLake, beginning, reads_lake
from lakeward.query.stream.stream_offset import Position, StreamOffset
from lakeward.query.stream.table_now import TableNow
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

#: Looking at a bucket's next rows costs a request: only the buckets that are furthest behind are looked at.
_PEEKED_BUCKETS = 8


class TableStream:
    """A stream of a table or of one of its views."""

    def __init__(self, conn: Connection, request: ReadRequest, clock: Clock | None = None) -> None:
        self._conn = conn
        self._request = request
        self._settings = request.settings
        self._clock = clock or SystemClock()

    # -- offsets ------------------------------------------------------------------------------------------------------

    def initial(self) -> StreamOffset:
        """Where the stream begins, by `scan.startup.mode`."""
        found = self._now()
        is_full = self._settings.mode is StartupMode.FULL
        told = beginning(self._conn, found, self._request) if is_full and reads_lake(found, self._request) else None
        positions, lake_ends = told or Beginning(self._begin(found), {})
        now_ms = self._clock.now_ms()
        return StreamOffset(found.table_id, positions, found.partitions, now_ms, is_initial=True, lake_ends=lake_ends)

    def _begin(self, found: TableNow) -> dict[BucketId, Position]:
        match self._settings.mode:
            case StartupMode.FULL if found.table.info.descriptor.has_primary_key:
                return {id_: Position(end, is_state=end > 0) for id_, end in found.offsets("latest").items()}
            case StartupMode.LATEST:
                return _positions(found.offsets("latest"))
            case StartupMode.TIMESTAMP:
                assert self._settings.start_ms is not None
                return _positions(found.offsets(Timestamp(self._settings.start_ms)))
            case StartupMode.GROUP:
                begins = found.offsets("earliest")
                return _positions(begins | self._group_offsets(begins))
            case _:
                return _positions(found.offsets("earliest"))

    def _group_offsets(self, known: Mapping[BucketId, int]) -> dict[BucketId, int]:

        assert self._settings.group is not None
        told = ConsumerGroups(self._conn).committed(self._settings.group, self._request.path)
        return {id_: offset for id_, offset in told.items() if id_ in known}

    def head(self) -> StreamOffset:
        """Where the table ends now; for people, not to read from."""
        found = self._now()
        return StreamOffset(found.table_id, _positions(found.offsets("latest")), found.partitions)

    def latest(
        self, start: StreamOffset, limit: ReadLimit | None = None, *, within: StreamOffset | None = None
    ) -> StreamOffset:
        """How far the batch that begins at `start` goes: to the end of the table, or as far as the limit allows.

        Partitions that appeared are in it, those that were dropped are not. Nothing beyond `within` is read; a run
        over what is available now calls `latest(start)` once and passes that.
        """
        found = self._now()
        starts = self._starts(start, found)
        ends = found.offsets("latest") | self._gone_buckets(start, found)
        starts = {id_: self._within_log(id_, starts.get(id_, BEGINNING), end) for id_, end in ends.items()}
        if within is not None:
            ends = {id_: min(end, within.buckets[id_].offset) for id_, end in ends.items() if id_ in within.buckets}
            starts = {id_: position for id_, position in starts.items() if id_ in ends}
        admitted = admit(starts, ends, self._rows(limit, found, starts, ends))
        kept = {id_.partition for id_ in admitted}
        partitions = {name: number for name, number in found.partitions.items() if name in kept}
        if (start.table_id, start.buckets, start.partitions) == (found.table_id, admitted, partitions):
            return start  # nothing new
        begin = replace(start, is_initial=False) if start.is_initial else None
        in_lake = {
            id_: end
            for id_, end in start.lake_ends.items()
            if id_ in admitted and admitted[id_].offset < end and is_same(id_, start.partitions, partitions)
        }
        return StreamOffset(found.table_id, admitted, partitions, start.state_ms, begin=begin, lake_ends=in_lake)

    def _gone_buckets(self, start: StreamOffset, found: TableNow) -> dict[BucketId, int]:
        """Buckets that were only in the lake when the stream began, and the rows they had."""
        if start.table_id != found.table_id:
            return {}
        gone = {id_: p.offset for id_, p in start.buckets.items() if start.is_gone(id_)}
        return {id_: rows for id_, rows in gone.items() if id_.partition not in found.partitions}

    def _starts(self, start: StreamOffset, found: TableNow) -> Mapping[BucketId, Position]:
        """What of an offset still stands for the tables and partitions that are there."""
        if start.table_id != found.table_id:
            if self._settings.fail_on_data_loss:
                raise data_loss.recreation_error(self._request.path)
            return {}
        stands = {id_: p for id_, p in start.buckets.items() if is_same(id_, start.partitions, found.partitions)}
        stands |= {id_: start.buckets[id_] for id_ in self._gone_buckets(start, found)}
        if self._settings.fail_on_data_loss or self._turns_to_lake(found):
            return stands
        begins = found.offsets("earliest")
        everywhere = {**dict.fromkeys(begins, BEGINNING), **stands}
        return {id_: p if p.is_state else Position(max(p.offset, begins.get(id_, 0))) for id_, p in everywhere.items()}

    def _within_log(self, id_: BucketId, position: Position, end: int) -> Position:
        if position.offset <= end:
            return position
        if self._settings.fail_on_data_loss:
            raise data_loss.shrunk_log_error(self._request.path, id_, position.offset, end)
        return Position(end, is_state=position.is_state)

    def _rows(
        self,
        limit: ReadLimit | None,
        found: TableNow,
        starts: Mapping[BucketId, Position],
        ends: Mapping[BucketId, int],
    ) -> int | None:
        """The limit in rows. A row is taken to be as large as the next ones of the longest backlog are in the log."""
        if limit is None:
            return None
        behind = {id_: ends[id_] - p.offset for id_, p in starts.items() if not p.is_state and ends[id_] > p.offset}
        if limit.bytes is None or not behind:
            return limit.in_rows(None)
        longest = max(behind, key=lambda id_: behind[id_])
        seen = _peek(found.table, longest, starts[longest].offset)
        if seen is None and longest in (begins := found.offsets("earliest", {longest.partition})):
            seen = _peek(found.table, longest, begins[longest])  # the next rows are in the lake
        return limit.in_rows(None if seen is None else seen[0])

    # -- batches ------------------------------------------------------------------------------------------------------

    def plan(self, start: StreamOffset, end: StreamOffset) -> Plan:
        """The splits of the batch between two offsets; rows that are gone are an error, unless that is switched off."""
        found = self._now()
        if start.is_initial and end.begin is not None:
            start = end.begin
        if end.table_id != found.table_id:
            if self._settings.fail_on_data_loss:
                raise data_loss.recreation_error(self._request.path)
            return Plan((), summary(found.table.info, self._request, ()))
        batch = StreamBatch(start, end, found.partitions)
        if batch.lost and self._settings.fail_on_data_loss:
            (id_, (begin, stop)), *_ = batch.lost.items()
            raise data_loss.drop_error(self._request.path, id_, begin, stop)
        cold, hot = halves(batch.ranges, batch.lake_ends)
        present = self._present(hot, found, cold)
        lake = self._lake_splits(batch, cold, found)
        known = {split.id for split in lake}
        states = self._states({i: s for i, s in batch.states.items() if i not in known}, start.state_ms, found)
        keeps_order = found.table.info.descriptor.has_primary_key
        logs = whole_logs(present) if keeps_order else log_splits(present, self._request)
        splits = (*lake, *states, *(replace(log, in_stream=True) for log in logs))
        numbers = summary(found.table.info, self._request, splits, found.partitions_in_all)
        return Plan(splits, numbers, keeps_order)

    def _lake_splits(
        self, batch: StreamBatch, cold: Mapping[BucketId, tuple[int, int]], found: TableNow
    ) -> list[Split]:
        """What of a batch is read in the lake; states that it does not reach are left to the servers."""
        wants_state = bool(batch.states) and reads_lake(found, self._request)
        if not (wants_state or batch.gone or cold):
            return []
        try:
            lake = StreamLake(self._conn, found, self._request)
            return [
                *lake.gone_splits(batch.gone),
                *(lake.states(batch.states) if wants_state else ()),
                *lake.ranges(cold),
            ]
        except (LakeUnavailableError, OvertakenError):
            if batch.gone or cold:
                raise
            return []

    def _states(self, as_of: Mapping[BucketId, int], time_ms: int, found: TableNow) -> list[StateSplit]:
        """States as of offsets, by the servers: they take back what changed since, as long as the log has it."""
        begins = found.offsets("earliest", {id_.partition for id_ in as_of}) if as_of else {}
        passed = {id_: offset for id_, offset in as_of.items() if begins.get(id_, 0) > offset}
        if passed and self._settings.fail_on_data_loss:
            (id_, offset), *_ = passed.items()
            raise data_loss.passed_state_error(self._request.path, id_, offset, begins[id_])
        return [StateSplit(*id_, None if id_ in passed else offset, offset, time_ms) for id_, offset in as_of.items()]

    def _turns_to_lake(self, found: TableNow) -> bool:
        """Whether rows that have left the log are in the lake, by their offsets."""
        return not found.table.info.descriptor.has_primary_key and reads_lake(found, self._request)

    def _present(
        self, ranges: Mapping[BucketId, Range], found: TableNow, cold: dict[BucketId, Range]
    ) -> dict[BucketId, Range]:
        """The ranges without what retention has removed; of a table that is tiered, that is added to `cold`."""
        if not ranges:
            return {}
        begins = found.offsets("earliest", {id_.partition for id_ in ranges})
        present = {}
        for id_, (start, stop) in ranges.items():
            begin = begins.get(id_, 0)
            if begin > start and self._turns_to_lake(found):
                cold[id_] = (cold.get(id_, (start, start))[0], min(begin, stop))
            elif begin > start and self._settings.fail_on_data_loss:
                raise data_loss.retention_error(self._request.path, id_, start, min(begin, stop))
            if stop > max(start, begin):
                present[id_] = (max(start, begin), stop)
        return present

    def commit(self, offset: StreamOffset) -> None:
        """Tell the consumer group, if the stream has one, that everything before an offset was read."""
        if self._settings.group is None:
            return

        ConsumerGroups(self._conn).commit(self._settings.group, self._request.path, offset.next_offsets())

    # -- progress -----------------------------------------------------------------------------------------------------

    def progress(self, offset: StreamOffset) -> Progress:
        """How far behind the table's end an offset is, bucket by bucket."""
        found = self._now()
        told = offset.buckets if offset.table_id == found.table_id else {}
        buckets = []
        for id_, end in found.offsets("latest").items():
            stands = id_ in told and is_same(id_, offset.partitions, found.partitions)
            at = told[id_] if stands else BEGINNING
            buckets.append(BucketProgress(id_, at.offset, end, at.is_state))
        furthest = sorted(buckets, key=lambda b: b.rows_behind, reverse=True)[:_PEEKED_BUCKETS]
        oldest = {
            b.bucket: _peek(found.table, b.bucket, b.next_offset) for b in furthest if b.end_offset > b.next_offset
        }
        return Progress([_with_time(b, oldest.get(b.bucket)) for b in buckets])

    # -- the table now ------------------------------------------------------------------------------------------------

    def _now(self) -> TableNow:
        table = self._conn.table(str(self._request.path))
        check_view(table.info, self._request.view)
        if self._request.view is View.LAKE or self._settings.tiers is Tiers.LAKE:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"The lake's half of {table.path} grows by whole snapshots and is read as a batch; stream "
                f"{table.path} itself, which begins with the lake."
            )
        return TableNow(table, self._request)


def _positions(offsets: Mapping[BucketId, int]) -> dict[BucketId, Position]:
    return {id_: Position(offset) for id_, offset in offsets.items()}


def _peek(table: Table, id_: BucketId, offset: int) -> tuple[float, int] | None:
    """Bytes per row and time of the rows at an offset; None when the log does not say."""
    try:
        seen = table.peek(id_, offset)
    except LakewardError:
        return None  # gone or dropped: the plan of the next batch says so
    return None if seen is None or not seen.rows else (seen.bytes / seen.rows, seen.time_ms)


def _with_time(bucket: BucketProgress, seen: tuple[float, int] | None) -> BucketProgress:
    if seen is None:
        return bucket
    return BucketProgress(bucket.bucket, bucket.next_offset, bucket.end_offset, bucket.is_state, seen[1])
