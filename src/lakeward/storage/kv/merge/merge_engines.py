"""Merge engines for whole rows, and which merger a request gets.

none          the new row takes the place of the old one     LastRow, or the store's own vectorised path
first_row     the old row stays                              FirstRow
versioned     the row with the larger version stays          LargestVersion
aggregation   cell by cell, `aggregate_functions`            Aggregation
some columns  `partial_update`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.model.values import Timestamp
from lakeward.options import table as table_options
from lakeward.storage.kv.merge.aggregate_functions import BITMAP_FUNCTIONS, Combine, combine_of, last_value
from lakeward.storage.kv.merge.partial_update import NextId, PartialUpdate
from lakeward.storage.kv.merge.row_merger import Deletes, Fate, Merged, MergeEngine, RowMerger, deletes_for
from lakeward.storage.kv.merge.target_columns import checked_targets, whole_rows_only
from lakeward.storage.kv.merge.value_rows import ValueRows

_MINIMUM: dict[TypeRoot, Any] = {
    TypeRoot.INTEGER: -(2**31),
    TypeRoot.BIGINT: -(2**63),
    TypeRoot.TIMESTAMP: Timestamp(-(2**63)),
}


def merger_for(
    table: TableInfo,
    schema_of: Callable[[int], Schema],
    *,
    target_columns: Sequence[int] | None = None,
    overwrite: bool = False,
    next_id: NextId | None = None,
) -> RowMerger | None:
    """The merger of a request; None: every row takes the place of the old one, which can be done for a batch at once.

    `table` holds the latest schema, which merged rows are written with. Deletions without a merger: `deletes_for`.
    INVALID_TARGET_COLUMN when the table cannot take these target columns.
    """
    targets = checked_targets(table, target_columns)
    engine = None if overwrite else table_options.MERGE_ENGINE.read(table.descriptor.properties)
    if engine is None and targets is None:
        return None
    rows = ValueRows(table, schema_of)
    deletes = deletes_for(table, overwrite=overwrite)
    if targets is not None:
        if engine in {"first_row", "versioned"}:
            raise whole_rows_only(table, engine)
        functions = column_functions(table.schema) if engine == "aggregation" else None
        return PartialUpdate(rows, deletes, targets, functions=functions, next_id=next_id)
    if engine == "first_row":
        return FirstRow(rows, deletes)
    if engine == "versioned":
        return LargestVersion(rows, deletes)
    return Aggregation(rows, deletes)


def column_functions(schema: Schema) -> list[Combine]:
    """How each column of an aggregation table merges; key columns take the new cell, which is the old one."""
    return [last_value if c.name in schema.primary_key else combine_of(c) for c in schema.columns]


class LastRow(MergeEngine):
    """The new row takes the place of the old one. The measure of the vectorised path."""

    def __init__(self, rows: ValueRows, deletes: Deletes) -> None:
        super().__init__(rows.table.path, deletes)
        self.rows = rows

    def upsert(self, old: bytes | None, new: bytes) -> Merged:  # noqa: ARG002
        """The new row."""
        self.rows.check(new)
        return new


class FirstRow(LastRow):
    """The first row of a key stays."""

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """The old row where there is one."""
        self.rows.check(new)
        return new if old is None else Fate.KEEP


class LargestVersion(LastRow):
    """The row with the larger version stays; of equal ones the new one. NULL is the smallest version."""

    def __init__(self, rows: ValueRows, deletes: Deletes) -> None:
        super().__init__(rows, deletes)
        name = table_options.MERGE_VERSION_COLUMN.read(rows.table.descriptor.properties)
        assert name is not None, "a versioned table names its version column"
        self.version_at = rows.table.schema.positions[name]
        self._minimum = _MINIMUM[rows.types[self.version_at].root]

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """The row with the larger version."""
        version = self._version(self.rows.read_new(new)[self.version_at])
        if old is None or self._version(self.rows.read(old)[self.version_at]) <= version:
            return new
        return Fate.KEEP

    def _version(self, cell: Any) -> Any:
        return self._minimum if cell is None else cell


class Aggregation(LastRow):
    """Rows of a key are merged cell by cell."""

    def __init__(self, rows: ValueRows, deletes: Deletes) -> None:
        super().__init__(rows, deletes)
        schema = rows.table.schema
        self._functions = column_functions(schema)
        self._bitmaps = [
            (i, self._functions[i])
            for i, c in enumerate(schema.columns)
            if c.aggregate is not None and c.aggregate.function in BITMAP_FUNCTIONS
        ]

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """The old row with the new one merged into it; the first row is stored as it came."""
        if old is not None:
            stored, arrived = self.rows.read(old), self.rows.read_new(new)
            return self.rows.write([f(a, b) for f, a, b in zip(self._functions, stored, arrived, strict=True)])
        if not self._bitmaps:
            self.rows.check(new)
        else:
            cells = self.rows.read_new(new)
            for i, combine in self._bitmaps:
                combine(None, cells[i])
        return new
