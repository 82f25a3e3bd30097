"""A split → Arrow batches, in the types of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.lake_cache import lake_cache_of
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, LogSplit, Split, StateSplit
from lakeward.query.read.data_loss import DataLossError
from lakeward.query.read.lake_rows import LakeRows
from lakeward.query.read.log_rows import LogRows
from lakeward.query.read.query_metrics import QueryMetrics, metrics_of
from lakeward.query.read.row_filter import RowFilter
from lakeward.query.read.tail import Tail
from lakeward.query.read.view_rows import BinlogRows, ChangelogRows, UpsertRows, blank_rows, state_changes
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View, check_view, view_schema
from lakeward.records.arrow.arrow_types import arrow_schema

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

_COUNTED_ROWS = 1 << 20
#: Tails that are fetched side by side: while one is decoded, the server reads another.
_TAILS_AT_ONCE = 8
#: Columns that are quick to read when all that is wanted is how many rows there are.
_LIGHT = (TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.DATE, TypeRoot.BIGINT)


def result_schema(schema: Schema, request: ReadRequest) -> pa.Schema:
    """The Arrow schema of what a request reads of a table with this schema."""
    return arrow_schema(_shown_schema(schema, request))


def _shown_schema(schema: Schema, request: ReadRequest) -> Schema:
    whole = view_schema(schema, request.view)
    return whole if request.columns is None else whole.select(request.columns)


def read_split(conn: Connection, request: ReadRequest, split: Split) -> Iterator[pa.RecordBatch]:
    """The rows of a split, in order; at most `request.limit` of them. Close the iterator to stop early."""
    return read_splits(conn, request, [split])


def read_splits(
    conn: Connection, request: ReadRequest, splits: Sequence[Split], *, judges_rows: bool = False
) -> Iterator[pa.RecordBatch]:
    """The rows of a task's splits, one after the other; at most `request.limit` of them all.

    With `judges_rows` filters leave out rows too, for those to whom each row on its way costs more than that.
    """
    table = conn.table(str(request.path))
    check_view(table.info, request.view)
    reading = _Reading(table, request, judges_rows=judges_rows)
    return _limit(_forget_when_gone(conn, _one_after_the_other(reading, splits, metrics_of(conn.inner))), request.limit)


def read_tails(
    conn: Connection,
    request: ReadRequest,
    splits: Sequence[LakeSplit],
    watch: Callable[[pa.RecordBatch], None] | None = None,
) -> list[Tail]:
    """The changes of splits, to be laid over their files by whoever reads them; OvertakenError if they are gone.

    `watch` sees them as they come, on several threads, and ends it by what it raises.
    """
    table = conn.table(str(request.path))
    lake = LakeRows(table, request, _shown_schema(table.info.schema, request).names, LogRows(table, request))
    try:
        with ThreadPoolExecutor(min(len(splits), _TAILS_AT_ONCE) or 1) as threads:
            return list(threads.map(lambda split: lake.tail(split, watch), splits))
    except DataLossError as lost:
        raise OvertakenError(f"{lost.message} The lake's newer snapshot has them: ask again.") from lost


def _forget_when_gone(conn: Connection, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows; whoever plans again because some are gone sees the newest snapshot."""
    try:
        yield from rows
    except OvertakenError:
        lake_cache_of(conn.inner).forget_readers()
        raise


def _one_after_the_other(reading: _Reading, splits: Sequence[Split], metrics: QueryMetrics) -> Iterator[pa.RecordBatch]:
    for split in splits:
        yield from metrics.read(split.tier, reading.rows(split))


class _Reading:
    """How one request reads the splits of one table."""

    def __init__(self, table: Table, request: ReadRequest, *, judges_rows: bool) -> None:
        self._table = table
        self._request = request
        self._schema = table.info.schema
        self._columns = _shown_schema(self._schema, request).names
        self._log = LogRows(table, request)
        judged = self._columns if judges_rows and request.view is View.ROWS else ()
        self._filter = RowFilter(request.filters, self._schema.select(judged))
        self._lake = LakeRows(table, request, self._columns, self._log, self._filter)
        self._are_rows: dict[BucketId, bool] = {}
        keyed, properties = table.info.descriptor.has_primary_key, table.info.descriptor.properties
        self._may_turn_to_lake = request.view is View.ROWS and not keyed and LAKE_ENABLED.read(properties)

    def rows(self, split: Split) -> Iterator[pa.RecordBatch]:
        match split:
            case StateSplit():
                return self._filter.all_matching(self._state(split))
            case LakeSplit():
                return self._lake.rows(split)
            case LakeRangeSplit():
                return self._lake.in_windows(split)
            case LogSplit():
                return self._filter.all_matching(self._of_log(split))

    def _of_log(self, split: LogSplit) -> Iterator[pa.RecordBatch]:
        match self._request.view:
            case View.CHANGELOG:
                rows = ChangelogRows(self._schema, self._columns)
                return self._changes(split, self._own_columns(), rows)
            case View.BINLOG:
                before_too = BinlogRows(self._schema, self._columns, split.start)
                return self._changes(split, self._schema.names, before_too, lead=before_too.lead)
            case _ if self._table.info.descriptor.has_primary_key:
                deletes = self._request.settings.deletes
                upserts = UpsertRows(self._request.path, self._schema, self._columns, deletes)
                return self._changes(split, self._own_columns(), upserts)
            case _:
                return self._plain(split)

    def _state(self, split: StateSplit) -> Iterator[pa.RecordBatch]:
        view = self._request.view
        columns = self._schema.names if view is View.BINLOG else self._own_columns()
        found = self._state_rows(split, columns)
        if view is View.ROWS:
            return (blank_rows(rows.num_rows) if not self._columns else rows for rows in found)
        made = (
            ChangelogRows(self._schema, self._columns)
            if view is View.CHANGELOG
            else BinlogRows(self._schema, self._columns, 0)
        )
        # The last change that is in the state; none of those that come after it has this offset.
        offset = max((split.as_of or 0) - 1, 0)
        return (made.rows(state_changes(rows, offset, split.time_ms)) for rows in found)

    def _state_rows(self, split: StateSplit, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        try:
            yield from self._table.snapshot_batches(
                columns, partitions=split.partitions, buckets=[split.bucket], as_of=split.as_of
            )
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                raise
            raise OvertakenError(
                f"The rows of {self._request.path}, bucket {split.id}, as of offset {split.as_of} cannot be read any "
                "more: what changed since then was removed by retention before it was read. Ask again."
            ) from wrong

    def _plain(self, split: LogSplit) -> Iterator[pa.RecordBatch]:
        counts = not self._columns and not self._request.filters
        if counts and not self._request.settings.skip_damaged and self._offsets_are_rows(split.id):
            for first in range(split.start, split.stop, _COUNTED_ROWS):
                yield blank_rows(min(_COUNTED_ROWS, split.stop - first))
            return
        if self._may_turn_to_lake:
            yield from self._log_or_lake(split)
            return
        for rows in self._log.fetch(split, self._own_columns(), metadata=False):
            yield rows if self._columns else blank_rows(rows.num_rows)

    def _offsets_are_rows(self, bucket: BucketId) -> bool:
        """Whether rows need not be read to be counted, because the offsets say it."""
        if bucket not in self._are_rows:
            self._are_rows[bucket] = self._table.offsets_are_rows(bucket)
        return self._are_rows[bucket]

    def _log_or_lake(self, split: LogSplit) -> Iterator[pa.RecordBatch]:
        """What retention removes while it is read has been in the lake before: it is read there, by its offsets."""
        at, names = split.start, list(self._columns)
        # Without filters every offset comes as a row, so that counting them tells where one is, and costs nothing.
        told = bool(self._request.filters) or self._request.settings.skip_damaged
        while at < split.stop:
            begin, seen, gaps = at, 0, list[LeftOut]()
            left = replace(split, start=at)
            try:
                for rows in self._log.fetch(left, self._own_columns(), metadata=told, strict=True, gaps=gaps):
                    seen += rows.num_rows
                    at = rows.column("_offset")[-1].as_py() + 1 if told else _behind(begin + seen, gaps)
                    yield rows.select(names) if names else blank_rows(rows.num_rows)
                return
            except DataLossError as lost:
                if lost.stop is None or lost.stop <= at:
                    raise
                yield from self._lake.of_offsets(split.id, at, lost.stop, lost)
                at = lost.stop

    def _changes(
        self,
        split: LogSplit,
        columns: tuple[str, ...],
        made: ChangelogRows | BinlogRows | UpsertRows,
        lead: int = 0,
    ) -> Iterator[pa.RecordBatch]:
        for changes in self._log.fetch(split, columns, metadata=True, lead=lead):
            rows = made.rows(changes)
            if rows.num_rows:
                yield rows

    def _own_columns(self) -> tuple[str, ...]:
        """The table's columns to read; at least one, since the server sends all when asked for none."""
        own = tuple(name for name in self._columns if name in self._schema.positions)
        if own:
            return own
        by_root = {column.type.root: column.name for column in reversed(self._schema.columns)}
        return (next((by_root[root] for root in _LIGHT if root in by_root), self._schema.names[0]),)


def _behind(offset: int, gaps: Sequence[LeftOut]) -> int:
    """Where rows end that would end at an offset if none before it were missing."""
    for gap in gaps:
        if gap.start <= offset:
            offset += gap.stop - gap.start
    return offset


def _limit(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    if limit is not None and limit < 0:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(f"The limit of a read is {limit}; it cannot be negative.")
    return batches if limit is None else _cut(batches, limit)


def _cut(batches: Iterator[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    left = limit
    try:
        while left > 0 and (batch := next(batches, None)) is not None:
            yield batch if batch.num_rows <= left else batch.slice(0, left)
            left -= batch.num_rows
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            close()
