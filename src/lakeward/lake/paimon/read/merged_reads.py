"""The rows of a place of a primary key table: sorted files, merged from key to key.

One range of the first key column at a time, cut at the beginnings of row groups, so that memory holds the row groups
that meet a range, and not the place. Only columns that are asked for are read, beside the key and the order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.read.key_order import last_of_each, sorted_by
from lakeward.lake.paimon.schema.shape import KEY_PREFIX, KIND, SEQUENCE, TableShape
from lakeward.lake.rows.conformed_rows import conform_rows
from lakeward.lake.rows.parquet_rows import fit_rows

#: Rows that are merged at once, about.
_RANGE_ROWS = 1 << 20
#: A row that is there: inserted, or the one after an update.
_THERE = pa.array([0, 2], pa.int8())
_NOT_JUDGED = (pa.types.is_floating, pa.types.is_boolean)


class _Group(NamedTuple):
    """A row group: its file and number, the first and last of the first key column (None: not known), its rows."""

    file: int
    number: int
    low: Any
    high: Any
    rows: int


class _Range(NamedTuple):
    """Values from `low` up to, not including, `high`; None: without an end."""

    low: Any
    high: Any

    def meets(self, group: _Group) -> bool:
        if group.low is None:
            return True
        return (self.low is None or group.high >= self.low) and (self.high is None or group.low < self.high)

    def cut(self, rows: pa.Table, column: str) -> pa.Table:
        type_ = rows.schema.field(column).type
        if self.low is not None:
            rows = rows.filter(pc.greater_equal(rows[column], pa.scalar(self.low, type_)))
        if self.high is not None:
            rows = rows.filter(pc.less(rows[column], pa.scalar(self.high, type_)))
        return rows


def merged_batches(
    shape: TableShape, paths: Sequence[LakePath], schema: pa.Schema, range_rows: int = _RANGE_ROWS
) -> Iterator[pa.RecordBatch]:
    """The newest row of each key in these files that is not a deleted one, in these columns and types."""
    keys = [KEY_PREFIX + name for name in shape.keys]
    wanted = {*keys, SEQUENCE, KIND, *schema.names}
    own = pa.schema([field for field in shape.file_schema() if field.name in wanted])
    with ExitStack() as stack:
        files = [pq.ParquetFile(stack.enter_context(path.open("rb"))) for path in paths]
        groups = [group for n, file in enumerate(files) for group in _groups(n, file, own.field(keys[0]))]
        for range_ in _ranges(groups, range_rows):
            batches = []
            for n, file in enumerate(files):
                numbers = [g.number for g in groups if g.file == n and range_.meets(g)]
                if numbers:
                    there = [name for name in own.names if name in file.schema_arrow.names]
                    rows = range_.cut(file.read_row_groups(numbers, columns=there), keys[0])
                    batches += [conform_rows(batch, own) for batch in rows.to_batches()]
            rows = last_of_each(sorted_by(pa.Table.from_batches(batches, own), keys, SEQUENCE), keys)
            rows = rows.filter(pc.is_in(rows[KIND], _THERE))
            yield from (fit_rows(batch, schema) for batch in rows.to_batches() if batch.num_rows)


def _groups(number: int, file: pq.ParquetFile, key: pa.Field) -> Iterator[_Group]:
    footer = file.metadata
    place = next((n for n in range(footer.num_columns) if footer.schema.column(n).path == key.name), None)
    is_judged = place is not None and not any(test(key.type) for test in _NOT_JUDGED)
    for n in range(footer.num_row_groups):
        group = footer.row_group(n)
        told = group.column(place).statistics if is_judged else None
        low, high = (None, None) if told is None or not told.has_min_max else (told.min, told.max)
        yield _Group(number, n, low, high, group.num_rows)


def _ranges(groups: Sequence[_Group], range_rows: int) -> list[_Range]:
    """Ranges that meet about this many rows each, and all of them together everything; one if too little is known."""
    if any(group.low is None for group in groups):
        return [_Range(None, None)]
    edges, rows = [], 0
    last = None
    for group in sorted(groups, key=lambda g: g.low):
        if rows >= range_rows and group.low != last:
            edges.append(group.low)
            rows, last = 0, group.low
        rows += group.rows
    return [_Range(low, high) for low, high in zip([None, *edges], [*edges, None], strict=True)]
