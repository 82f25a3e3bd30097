"""Row events of one table → Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from lakeward.capture.mysql.binlog import table_map as wire
from lakeward.capture.mysql.binlog.event_kernels import cut_rows, mark_new_keys
from lakeward.capture.mysql.binlog.table_map import TableMap
from lakeward.capture.mysql.cells.binlog_columns import column_of_binlog
from lakeward.capture.mysql.cells.cells import I32, I64, U8, Cells
from lakeward.capture.mysql.cells.charsets import Charsets
from lakeward.capture.mysql.cells.temporal import ValueRules
from lakeward.capture.mysql.schema.tables import column_forms
from lakeward.capture.port import SourceTable, TableRows
from lakeward.errors import ErrorCode
from lakeward.records.arrow.arrow_types import arrow_schema

_ROWS_MAX = 65_536
_FULL, _DAMAGED = 1, 2
_UPDATE = 2
#: The kind of a row's first image by what its event does: write, update, delete.
_FIRST_KIND = np.array([0, 1, 2, 4], np.uint8)


@dataclass(slots=True)
class RowShape:
    """How rows of a TABLE_MAP become rows of a table, and the events that wait to be read so."""

    map: TableMap
    table: SourceTable
    rules: ValueRules
    charsets: Charsets
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    seconds: int = 0

    def add(self, action: int, begin: int, end: int, seconds: int) -> None:
        """One event more: 1 writes, 2 updates, 3 deletes; its rows are between two places of the block."""
        self.begins.append(begin)
        self.ends.append(end)
        self.actions.append(action)
        self.seconds = seconds

    def take(self, data: U8) -> Iterator[TableRows]:
        """The rows of the events that were added, which are forgotten."""
        if not self.begins:
            return
        cut = _cut(data, self)
        self.begins, self.ends, self.actions = [], [], []
        schema = arrow_schema(self.table.schema)
        forms = column_forms(self.table, self.rules)
        for begin in range(0, cut.count, _ROWS_MAX):
            end = min(begin + _ROWS_MAX, cut.count)
            columns = [
                column_of_binlog(
                    form, cut.cells(index).slice(begin, end), self.charsets, is_json=on_wire.kind == wire.JSON
                )
                for index, (form, on_wire) in enumerate(zip(forms, self.map.columns, strict=True))
            ]
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            yield TableRows(self.table, batch, pa.array(cut.kinds[begin:end]), self.seconds * 1000)


@dataclass(frozen=True, slots=True)
class _Cut:
    data: U8
    starts: I64
    lengths: I32
    kinds: U8
    count: int

    def cells(self, column: int) -> Cells:
        return Cells(self.data, self.starts[column, : self.count], self.lengths[column, : self.count])


def _cut(data: U8, shape: RowShape) -> _Cut:
    sizes, prefixes = shape.map.program()
    begins, ends = np.array(shape.begins, np.int64), np.array(shape.ends, np.int64)
    actions = np.array(shape.actions, np.uint8)
    columns, smallest = len(sizes), int(sizes.sum() + prefixes.sum()) + (len(sizes) + 7) // 8
    room = int((ends - begins).sum()) // smallest + 16
    starts, lengths = np.empty((columns, room), np.int64), np.empty((columns, room), np.int32)
    event_of, state = np.empty(room, np.int32), np.zeros(3, np.int64)
    while True:
        outcome = cut_rows(
            data, begins, ends, actions == _UPDATE, sizes, prefixes, starts, lengths, event_of, state
        )  # fmt: skip
        if outcome == _DAMAGED:
            raise ErrorCode.CORRUPT_MESSAGE.error(f"A row event of {shape.map.id} in the binlog cannot be read.")
        if outcome != _FULL:
            break
        starts = np.concatenate([starts, np.empty_like(starts)], axis=1)
        lengths = np.concatenate([lengths, np.empty_like(lengths)], axis=1)
        event_of = np.concatenate([event_of, np.empty_like(event_of)])
    count = int(state[2])
    kinds = _kinds(actions, event_of[:count])
    key = np.array([shape.table.schema.positions[name] for name in shape.table.schema.primary_key], np.int64)
    if len(key) and (actions == _UPDATE).any():
        mark_new_keys(data, starts, lengths, key, kinds)
    return _Cut(data, starts, lengths, kinds, count)


def _kinds(actions: U8, event_of: I32) -> U8:
    """What each image is; images of updates alternate."""
    kinds = _FIRST_KIND[actions[event_of]]
    updates = np.flatnonzero(kinds == _UPDATE)
    kinds[updates[1::2]] = 3
    return kinds
