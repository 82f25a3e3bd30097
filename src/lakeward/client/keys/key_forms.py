"""Keys as people hold them → an Arrow batch of key columns.

one key     a value (for a key of one column), a tuple in the order of the key, or a dict
many keys   a list or other iterable of those; a dict of lists; an array or series (one column); a table or data frame

Columns that are not part of the key are left aside, so that a data frame of orders looks up their customers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.forms.data_forms import Rows, columns_as_table, frame_as_table
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TablePath
from lakeward.records.arrow.arrow_types import arrow_schema, conform

_SEQUENCES = (list, pa.Array, pa.ChunkedArray)
#: Values of these types need no second look: Arrow takes them as they are, or refuses them.
_SURE = {
    TypeRoot.TINYINT: int,
    TypeRoot.SMALLINT: int,
    TypeRoot.INTEGER: int,
    TypeRoot.BIGINT: int,
    TypeRoot.CHAR: str,
    TypeRoot.STRING: str,
    TypeRoot.BYTES: bytes,
}


class KeyForms:
    """Makes keys of one table, or prefixes of them, out of whatever people hold."""

    def __init__(self, columns: Sequence[Column], path: TablePath, what: str = "key") -> None:
        self._schema = Schema(tuple(Column(c.name, c.type.not_null(), c.id) for c in columns))
        self._arrow = arrow_schema(self._schema)
        self._sure = tuple(_SURE.get(c.type.root) for c in columns)
        self._floating = any(pa.types.is_floating(field.type) for field in self._arrow)
        self._path = path
        self._what = what

    def batch(self, keys: Any) -> pa.RecordBatch:
        """The keys as one batch with exactly these columns, none of them NULL; −0 is 0."""
        quick = self._quick(keys)
        if quick is not None:
            return quick
        try:
            rows = conform(_rows_of(keys, self._schema, self._path, self._what), self._schema)
        except LakewardError as wrong:
            raise wrong.code.error(f"The {self._what}s for {self._path}: {wrong.message}") from wrong
        if not isinstance(rows, pa.RecordBatch):
            (rows,) = rows.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
        return without_negative_zeros(rows) if self._floating else rows

    def plain(self, keys: Any) -> Sequence[tuple[Any, ...]] | None:
        """One key, or a list of them, as tuples of Python's own numbers and texts; None if they are anything else."""
        rows = keys if type(keys) is list else [keys]
        if len(self._sure) == 1:
            rows = [row if type(row) is tuple else (row,) for row in rows]
        for row in rows:
            if type(row) is not tuple or len(row) != len(self._sure) or tuple(map(type, row)) != self._sure:
                return None
        return rows

    def _quick(self, keys: Any) -> pa.RecordBatch | None:
        """Plain keys without the checks that others need: what most lookups are, at next to no cost."""
        rows = self.plain(keys)
        if not rows:
            return None
        columns = zip(*rows, strict=True)
        try:
            arrays = [pa.array(values, field.type) for values, field in zip(columns, self._arrow, strict=True)]
        except (pa.ArrowInvalid, OverflowError):
            return None  # too large: the long way says it better
        return pa.RecordBatch.from_arrays(arrays, schema=self._arrow)


def without_negative_zeros(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Floating point keys as they are compared: −0 equals 0, so both must be one key. NaNs are one key anyway."""
    arrays = [without_negative_zero(c) if pa.types.is_floating(c.type) else c for c in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)


def without_negative_zero(values: pa.Array) -> pa.Array:
    """The same for one column."""
    return pc.add(values, pa.scalar(0, values.type))


def _rows_of(keys: Any, schema: Schema, path: TablePath, what: str) -> Rows:
    frame = frame_as_table(keys)
    if frame is not None:
        return _select(frame, schema, what)
    if isinstance(keys, Mapping):
        held = {name: keys[name] for name in schema.names if name in keys}
        many = bool(held) and all(isinstance(v, _SEQUENCES) or _is_array(v) for v in held.values())
        return (
            _of_rows([keys], schema, path, what) if not many else _select(columns_as_table(held, schema), schema, what)
        )
    if isinstance(keys, pa.Array | pa.ChunkedArray) or _is_array(keys):
        return _of_values(keys, schema, what)
    if isinstance(keys, tuple | str | bytes | bytearray) or not isinstance(keys, Iterable):
        return _of_rows([keys], schema, path, what)
    return _of_rows(list(keys), schema, path, what)


def _select(rows: Rows, schema: Schema, what: str) -> Rows:
    missing = [name for name in schema.names if name not in rows.schema.names]
    if missing:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"column '{missing[0]}' of the {what} is missing.")
    return rows.select(list(schema.names))


def _of_values(values: Any, schema: Schema, what: str) -> pa.Table:
    """An array is the one column of the key."""
    if len(schema.names) != 1:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"one array was given, and the {what} has the columns {', '.join(schema.names)}; give a table or tuples."
        )
    plain = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return columns_as_table({schema.names[0]: plain}, schema)


def _of_rows(rows: Sequence[Any], schema: Schema, path: TablePath, what: str) -> pa.Table:
    if not rows:
        return columns_as_table({name: [] for name in schema.names}, schema)
    if all(isinstance(row, Mapping) for row in rows):
        return columns_as_table({n: [_cell(row, n, what) for row in rows] for n in schema.names}, schema)
    if all(isinstance(row, tuple | list) for row in rows):
        if any(len(row) != len(schema.names) for row in rows):
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"the {what} of {path} is ({', '.join(schema.names)}), so each tuple has {len(schema.names)} values."
            )
        return columns_as_table(dict(zip(schema.names, map(list, zip(*rows, strict=True)), strict=True)), schema)
    if len(schema.names) != 1:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"the {what} is ({', '.join(schema.names)}); give tuples in that order, dicts, or a table."
        )
    return columns_as_table({schema.names[0]: list(rows)}, schema)


def _cell(row: Mapping[str, Any], name: str, what: str) -> Any:
    try:
        return row[name]
    except KeyError:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"column '{name}' of the {what} is missing in {row!r:.100}."
        ) from None


def _is_array(values: Any) -> bool:
    """Whether these are many values: of numpy, a pandas Series or Index, a polars Series."""
    kind = type(values)
    return kind.__name__ in {"ndarray", "Series", "Index"} or (
        hasattr(values, "__arrow_array__") and not isinstance(values, Mapping)
    )
