"""Keys as people hold them → an Arrow batch of key columns.

one key     a value (for a key of one column), a tuple in the order of the key, or a dict
many keys   a list or other iterable of those; a dict of lists; an array or series (one column); a table or data frame

Columns that are not part of the key are left aside, so that a data frame of orders looks up their customers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.client.data_forms import Rows, columns_as_table, frame_as_table
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TablePath
from lakeward.records.arrow_types import conform

_SEQUENCES = (list, pa.Array, pa.ChunkedArray)


def key_batch(keys: Any, columns: Sequence[Column], path: TablePath, what: str = "key") -> pa.RecordBatch:
    """The keys as one batch with exactly these columns, none of them NULL."""
    schema = Schema(tuple(Column(c.name, c.type.not_null(), c.id) for c in columns))
    try:
        rows = conform(_rows_of(keys, schema, path, what), schema)
    except LakewardError as wrong:
        raise wrong.code.error(f"The {what}s for {path}: {wrong.message}") from wrong
    if isinstance(rows, pa.RecordBatch):
        return rows
    (batch,) = rows.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=rows.schema)]
    return batch


def _rows_of(keys: Any, schema: Schema, path: TablePath, what: str) -> Rows:
    frame = frame_as_table(keys)
    if frame is not None:
        return _selected(frame, schema, what)
    if isinstance(keys, Mapping):
        held = {name: keys[name] for name in schema.names if name in keys}
        many = bool(held) and all(isinstance(v, _SEQUENCES) or _is_array(v) for v in held.values())
        return (
            _of_rows([keys], schema, path, what)
            if not many
            else _selected(columns_as_table(held, schema), schema, what)
        )
    if isinstance(keys, pa.Array | pa.ChunkedArray) or _is_array(keys):
        return _of_values(keys, schema, what)
    if isinstance(keys, tuple | str | bytes | bytearray) or not isinstance(keys, Iterable):
        return _of_rows([keys], schema, path, what)
    return _of_rows(list(keys), schema, path, what)


def _selected(rows: Rows, schema: Schema, what: str) -> Rows:
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
        return columns_as_table({n: [_held(row, n, what) for row in rows] for n in schema.names}, schema)
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


def _held(row: Mapping[str, Any], name: str, what: str) -> Any:
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
