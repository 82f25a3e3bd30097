"""Changes → the rows of a view, in Arrow: whole columns at a time, never row by row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.client.decode.log_decoder import CHANGE_TYPES
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath
from lakeward.query.request.options import Deletes
from lakeward.query.request.views import AFTER, BEFORE, CHANGE_TYPE, COMMIT_TIMESTAMP, LOG_OFFSET, View, view_schema
from lakeward.records.arrow.arrow_types import arrow_schema

_APPENDED, _INSERTED, _OLD, _NEW, _DELETED = CHANGE_TYPES
#: What Apache Fluss's virtual tables call the changes.
CHANGE_WORDS = {
    _APPENDED: "insert",
    _INSERTED: "insert",
    _OLD: "update_before",
    _NEW: "update_after",
    _DELETED: "delete",
}
_BINLOG_NAMES = {**CHANGE_WORDS, _NEW: "update"}
_FETCHED = {CHANGE_TYPE: "_change_type", LOG_OFFSET: "_offset", COMMIT_TIMESTAMP: "_timestamp"}


def state_changes(rows: pa.RecordBatch, offset: int, time_ms: int) -> pa.RecordBatch:
    """Rows of a state as if they had just been inserted: the changes that lead to it are not known."""
    count = rows.num_rows
    told = [
        pa.repeat(pa.scalar(0, pa.int32()), count),
        pa.repeat(pa.scalar(offset, pa.int64()), count),
        pa.repeat(pa.scalar(time_ms, pa.timestamp("ms", tz="UTC")), count),
        pa.repeat(pa.scalar(_INSERTED), count),
    ]
    names = [*rows.schema.names, "_bucket", "_offset", "_timestamp", "_change_type"]
    return pa.RecordBatch.from_arrays([*rows.columns, *told], names)


class ChangelogRows:
    """`$changelog`: each change a row, with what it did, its offset and its time."""

    def __init__(self, schema: Schema, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self.schema = arrow_schema(view_schema(schema, View.CHANGELOG).select(columns))

    def rows(self, changes: pa.RecordBatch) -> pa.RecordBatch:
        """The view's rows."""
        arrays = [
            _rename_kinds(changes.column(CHANGE_TYPE), CHANGE_WORDS)
            if name == CHANGE_TYPE
            else changes.column(_FETCHED.get(name, name))
            for name in self._columns
        ]
        return _batch(arrays, self.schema, changes.num_rows)


class BinlogRows:
    """`$binlog`: each change a row with what was there before and after.

    An update is two changes, `-U` and `+U` right after it. It is the row of its `+U`, whose offset it shows; so a
    stretch of the log is read from one offset earlier (`lead`), and a `-U` at its end belongs to the next stretch.
    """

    lead = 1

    def __init__(self, schema: Schema, columns: tuple[str, ...], start: int) -> None:
        self._columns = columns
        self._start = start
        self._schema = schema
        self._before: pa.RecordBatch | None = None
        self.schema = arrow_schema(view_schema(schema, View.BINLOG).select(columns))

    def rows(self, changes: pa.RecordBatch) -> pa.RecordBatch:
        """The view's rows; what an update was before may have come at the end of the changes before these."""
        if self._before is not None:
            changes = pa.concat_batches([self._before, changes])
        kinds = changes.column(CHANGE_TYPE)
        old = _mask(pc.equal(kinds, _OLD))
        self._before = changes.slice(changes.num_rows - 1) if old[-1] else None
        shown = ~old & (changes.column("_offset").to_numpy() >= self._start)
        at = np.flatnonzero(shown)
        return self._make_rows(changes, at, old)

    def _make_rows(self, changes: pa.RecordBatch, at: NDArray[np.int64], old: NDArray[np.bool_]) -> pa.RecordBatch:
        kinds = changes.column(CHANGE_TYPE).take(pa.array(at))
        deleted = _mask(pc.equal(kinds, _DELETED))
        updated = _mask(pc.equal(kinds, _NEW)) & (at > 0) & old[at - 1]
        # A delete carries the row that was there; an update's old row is the change before it, if the table keeps it.
        before_at = np.where(updated, at - 1, at)
        arrays = []
        for name in self._columns:
            if name == CHANGE_TYPE:
                arrays.append(_rename_kinds(kinds, _BINLOG_NAMES))
            elif name == BEFORE:
                arrays.append(self._nested_rows(name, changes, before_at, is_null=~(deleted | updated)))
            elif name == AFTER:
                arrays.append(self._nested_rows(name, changes, at, is_null=deleted))
            else:
                arrays.append(changes.column(_FETCHED[name]).take(pa.array(at)))
        return _batch(arrays, self.schema, len(at))

    def _nested_rows(
        self, name: str, changes: pa.RecordBatch, at: NDArray[np.int64], is_null: NDArray[np.bool_]
    ) -> pa.Array:
        rows = changes.select(self._schema.names).take(pa.array(at))
        fields = list(self.schema.field(name).type)
        return pa.StructArray.from_arrays(rows.columns, fields=fields, mask=pa.array(is_null))


class UpsertRows:
    """The plain rows of a stream of a primary key table: what was inserted, and what updates led to."""

    def __init__(self, path: TablePath, schema: Schema, columns: tuple[str, ...], deletes: Deletes) -> None:
        self._path = path
        self._columns = columns
        self._deletes = deletes
        self.schema = arrow_schema(schema.select(columns))

    def rows(self, changes: pa.RecordBatch) -> pa.RecordBatch:
        """The rows; refuses deletes, which they cannot show, unless they are to be left out."""
        kinds = changes.column(CHANGE_TYPE)
        deleted = pc.equal(kinds, _DELETED)
        if self._deletes is Deletes.FAIL and pc.any(deleted).as_py():
            offset = changes.column("_offset").filter(deleted)[0].as_py()
            raise ErrorCode.DELETION_DISABLED.error(
                f"A row of {self._path} was deleted (offset {offset}), which a stream of rows cannot show: "
                f"read {self._path}$changelog, or leave deletes out with scan.deletes=ignore."
            )
        kept = pc.invert(pc.or_(deleted, pc.equal(kinds, _OLD)))
        if pc.all(kept).as_py() is not False:
            return _batch([changes.column(n) for n in self._columns], self.schema, changes.num_rows)
        found = changes.filter(kept)
        return _batch([found.column(n) for n in self._columns], self.schema, found.num_rows)


def _mask(flags: pa.Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = flags.to_numpy(zero_copy_only=False)
    return found


def _rename_kinds(kinds: pa.Array, names: dict[str, str]) -> pa.Array:
    places = pc.index_in(kinds, pa.array(list(names)))
    return pa.array(list(names.values())).take(places)


def _batch(arrays: list[pa.Array], schema: pa.Schema, count: int) -> pa.RecordBatch:
    """A batch that has its number of rows even when it has no columns."""
    if not arrays:
        return blank_rows(count)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def blank_rows(count: int) -> pa.RecordBatch:
    """So many rows without a column."""
    return pa.record_batch([pa.nulls(count)], ["_"]).select([])
