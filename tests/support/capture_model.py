"""A table as a capture tells it: rows of chunks, then changes applied one by one. What does not fit is a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from lakeward.capture.port import ChangeKind, Event, SchemaChange, SchemaChangeKind, SourceTable, TableRows

Row = tuple[Any, ...]


def plain_rows(batch: pa.RecordBatch) -> list[Row]:
    """Rows as tuples; lists in them as tuples too, so that they can be counted."""
    return [tuple(tuple(v) if isinstance(v, list) else v for v in row.values()) for row in batch.to_pylist()]


class CapturedTable:
    """Rows by key, or counted where there is no key. `is_strict`: an update or a delete must find its row."""

    def __init__(self, table: SourceTable, *, is_strict: bool) -> None:
        self.table, self.is_strict = table, is_strict
        self.by_key: dict[Row, Row] = {}
        self.counts: Counter[Row] = Counter()

    @property
    def rows(self) -> Counter[Row]:
        """All rows."""
        return self.counts if not self.table.schema.primary_key else Counter(self.by_key.values())

    def copy(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Take the rows of a chunk: none of them may be there already."""
        for batch in batches:
            for row in plain_rows(batch):
                assert not self.is_strict or self.key(row) not in self.by_key, f"{row} was copied twice"
                self._put(row)

    def apply(self, events: Iterable[Event]) -> None:
        """Take the changes of this table among some events."""
        for event in events:
            if isinstance(event, SchemaChange):
                if event.id == self.table.id and event.kind is SchemaChangeKind.TRUNCATE:
                    self.by_key.clear()
                    self.counts.clear()
            elif event.table.id == self.table.id:
                self._apply_rows(event)

    def _apply_rows(self, event: TableRows) -> None:
        assert event.kinds is not None
        for kind, row in zip(event.kinds.to_pylist(), plain_rows(event.rows), strict=True):
            match ChangeKind(kind):
                case ChangeKind.INSERT:
                    assert not self.is_strict or self.key(row) not in self.by_key, f"{row} was there"
                    self._put(row)
                case ChangeKind.UPDATE_AFTER:
                    self._put(row)
                case ChangeKind.UPDATE_BEFORE | ChangeKind.DELETE:
                    self._take(row)

    def key(self, row: Row) -> Row:
        """The key of a row."""
        return tuple(row[self.table.schema.positions[name]] for name in self.table.schema.primary_key)

    def _put(self, row: Row) -> None:
        if self.table.schema.primary_key:
            self.by_key[self.key(row)] = row
        else:
            self.counts[row] += 1

    def _take(self, row: Row) -> None:
        if not self.table.schema.primary_key:
            self.counts[row] -= 1
            assert self.counts[row] >= 0, f"{row} was not there"
            self.counts += Counter()
        elif self.is_strict:
            assert self.by_key.pop(self.key(row)) == row
        else:
            self.by_key.pop(self.key(row), None)
