"""A split with lake files → Arrow batches: files alone, or files with the changelog's tail laid over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lakeward.client.forms.results import BucketId
from lakeward.errors import LakewardError
from lakeward.lake.port import Bounds, LakePlace, LakeReader, LakeSnapshot, PlacedFile
from lakeward.lake.rows.system_columns import BUCKET, OFFSET, TIMESTAMP
from lakeward.model.partition import name_of_values
from lakeward.model.schema import Schema
from lakeward.query.lake.cold_part import open_reader
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.splits import LakeRangeSplit, LakeSplit, OffsetWindow
from lakeward.query.read.data_loss import DataLossError
from lakeward.query.read.log_rows import LogRows
from lakeward.query.read.row_filter import RowFilter
from lakeward.query.read.tail import Tail
from lakeward.query.request.request import ReadRequest
from lakeward.records.arrow.arrow_types import arrow_schema

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

_ALL_ROWS = RowFilter((), Schema(()))


class LakeRows:
    """How one request reads files of a table's lake."""

    def __init__(
        self,
        table: Table,
        request: ReadRequest,
        columns: tuple[str, ...],
        log: LogRows,
        row_filter: RowFilter = _ALL_ROWS,
    ) -> None:
        self._table = table
        self._info = table.info
        self._request = request
        self._columns = columns
        self._log = log
        self._filter = row_filter
        self._opened: LakeReader | None = None

    def _reader(self) -> LakeReader:
        if self._opened is None:
            self._opened = open_reader(self._info, self._request.options)
        if self._opened is None:
            raise OvertakenError(f"The lake's table {self._info.path} was dropped while it was read; ask again.")
        return self._opened

    def rows(self, split: LakeSplit) -> Iterator[pa.RecordBatch]:
        """The rows of a split, in no order."""
        if split.log_stop <= split.log_start:
            return self._of_files(split, arrow_schema(self._schema_of(self._columns)))
        return self._merge_rows(split)

    def _schema_of(self, names: tuple[str, ...]) -> Schema:
        return self._info.schema.select(names)

    def _of_files(self, split: LakeSplit | LakeRangeSplit, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        try:
            if split.files:
                read = (batch for batch in self._reader().rows(split.files, schema) if batch.num_rows)
                yield from self._filter.all_matching(read)
        except FileNotFoundError as gone:
            raise OvertakenError(
                f"A file of snapshot {split.snapshot_id} of {self._info.path} was removed from the lake while it was "
                f"read ({gone}): the snapshot has expired, or somebody else took the file away."
            ) from gone

    def _merge_rows(self, split: LakeSplit) -> Iterator[pa.RecordBatch]:
        try:
            tail = self.tail(split)
        except DataLossError as lost:
            yield from self.rows(self._newer(split, lost))
            return
        for rows in self._of_files(split, arrow_schema(self._schema_of(self._with_keys()))):
            left = tail.untouched_rows(rows)
            if left.num_rows:
                yield left.select(list(self._columns))
        target = arrow_schema(self._schema_of(self._columns))
        for rows in tail.rows.select(list(self._columns)).to_batches() if self._columns else _blank_rows(tail.rows):
            left = self._filter.matching(rows)
            if left.num_rows:
                yield left if left.schema.equals(target) else left.cast(target)

    def tail(self, split: LakeSplit, watch: Callable[[pa.RecordBatch], None] | None = None) -> Tail:
        """The changes of a split; DataLossError when retention has removed them."""
        names = self._with_keys()
        schema = arrow_schema(self._schema_of(names)).append(pa.field("_change_type", pa.string()))
        changes = self._log.fetch(split.tail, names, metadata=True, strict=True)
        found: list[pa.RecordBatch] = []
        for batch in changes:
            if watch is not None:
                watch(batch)
            found.append(batch.select(schema.names).cast(schema))
        return Tail(pa.Table.from_batches(found, schema), self._info.schema.primary_key)

    def _with_keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._columns, *self._info.schema.primary_key]))

    def _newer(self, split: LakeSplit, lost: DataLossError) -> LakeSplit:
        """The same rows from a newer snapshot, whose files hold the changes that retention has removed."""
        reader = open_reader(self._info, self._request.options)
        snapshot = None if reader is None else next(iter(reader.snapshots()), None)
        end = None if snapshot is None else self._end(snapshot, split.id)
        if reader is None or snapshot is None or end is None or not split.log_start < end <= split.log_stop:
            raise OvertakenError(
                f"The changes of {self._info.path}, bucket {split.id}, were removed by retention while they were read, "
                "and the lake has moved beyond the point that this read was planned for. Ask again."
            ) from lost
        self._opened = reader
        placed = reader.files(snapshot.snapshot_id)
        files = tuple(p.file for p in placed if _id(p.place) == split.id)
        return replace(split, snapshot_id=snapshot.snapshot_id, files=files, log_start=end)

    def of_offsets(self, id_: BucketId, start: int, stop: int, lost: LakewardError) -> Iterator[pa.RecordBatch]:
        """Rows of a log table that have left the log: from the lake's newest snapshot, by their offsets."""
        reader = open_reader(self._info, self._request.options)
        snapshots = [] if reader is None else reader.snapshots()
        if reader is None or not snapshots or (self._end(snapshots[0], id_) or 0) < stop:
            raise lost
        window = OffsetWindow(id_.bucket, start, stop)
        placed = reader.files(snapshots[0].snapshot_id, [OFFSET, BUCKET])
        files = tuple(p.file for p in placed if _id(p.place).partition == id_.partition and may_hold(p, window))
        self._opened = reader
        yield from self.in_windows(LakeRangeSplit(id_.partition, "", snapshots[0].snapshot_id, files, (window,)))

    def in_windows(self, split: LakeRangeSplit) -> Iterator[pa.RecordBatch]:
        """Rows of a log table by their offsets. Not every lake keeps buckets apart: the rows know theirs."""
        schema = arrow_schema(self._schema_of(self._columns))
        schema = schema.append(pa.field(OFFSET, pa.int64())).append(pa.field(BUCKET, pa.int32()))
        starts, stops = (np.zeros(max(w.bucket for w in split.windows) + 2, np.int64) for _ in range(2))
        for bucket, start, stop in split.windows:
            starts[bucket], stops[bucket] = start, stop
        if split.until_ms is not None:
            schema = schema.append(pa.field(TIMESTAMP, pa.timestamp("ms", tz="UTC")))
        for rows in self._of_files(split, schema):
            offsets = rows.column(OFFSET).to_numpy()
            # The last place has an empty window, for buckets that are not asked for.
            buckets = np.minimum(rows.column(BUCKET).to_numpy(), len(starts) - 1)
            wanted = (offsets >= starts[buckets]) & (offsets < stops[buckets])
            if split.until_ms is not None:
                wanted &= rows.column(TIMESTAMP).cast(pa.int64()).to_numpy() <= split.until_ms
            kept = rows.filter(pa.array(wanted))
            if kept.num_rows:
                yield kept.select(list(self._columns))

    def _end(self, snapshot: LakeSnapshot, id_: BucketId) -> int | None:
        """How far a bucket is in a snapshot."""
        numbers = {p.id for p in self._table.partitions() if p.name == id_.partition} if id_.partition else {None}
        ends = (snapshot.offsets or {}).items()
        return next((end for b, end in ends if b.partition_id in numbers and b.bucket == id_.bucket), None)


def may_hold(placed: PlacedFile, window: OffsetWindow) -> bool:
    """Whether a file can hold rows of a window, by the bounds of its offsets and buckets."""
    none = Bounds()
    offsets, buckets = placed.bounds.get(OFFSET, none), placed.bounds.get(BUCKET, none)
    return (
        (offsets.low is None or offsets.low < window.stop)
        and (offsets.high is None or offsets.high >= window.start)
        and (buckets.low is None or buckets.low <= window.bucket)
        and (buckets.high is None or buckets.high >= window.bucket)
    )


def _id(place: LakePlace) -> BucketId:
    return BucketId(name_of_values(place.partition_values) if place.partition_values else None, place.bucket)


def _blank_rows(rows: pa.Table) -> list[pa.RecordBatch]:
    return [pa.record_batch([pa.nulls(rows.num_rows)], ["_"]).select([])]
