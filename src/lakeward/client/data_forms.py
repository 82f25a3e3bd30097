"""Rows as people hold them → Arrow batches that fit a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.records.arrow_types import arrow_schema, conform

_ROWS_AT_ONCE = 4096
_FEW_ROWS = 100


def is_quick(data: Any) -> bool:
    """Whether turning this into batches takes next to no time: it is Arrow already, or a handful of rows."""
    return isinstance(data, pa.RecordBatch | pa.Table) or (isinstance(data, list) and len(data) <= _FEW_ROWS)


def batches_of(data: Any, schema: Schema) -> Iterator[pa.RecordBatch]:
    """The rows as Arrow batches with the table's columns, order and types; what does not fit is refused."""
    for rows in _arrow_of(data, schema):
        fitting = conform(rows, schema)
        if isinstance(fitting, pa.RecordBatch):
            yield fitting
        else:
            yield from fitting.to_batches()


def _arrow_of(data: Any, schema: Schema) -> Iterator[pa.RecordBatch | pa.Table]:
    if isinstance(data, pa.RecordBatch | pa.Table):
        yield data
    elif isinstance(data, pa.RecordBatchReader):
        yield from data
    elif _is_pandas(data):
        yield pa.Table.from_pandas(data, preserve_index=False)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):  # polars, duckdb, …
        yield pa.table(data)
    elif isinstance(data, Mapping):
        yield _of_columns(data, schema)
    elif isinstance(data, str | bytes):
        raise _not_rows(data)
    elif isinstance(data, Sequence) and all(isinstance(row, Mapping) for row in data):
        yield _of_rows(data, schema)
    elif isinstance(data, Iterable):
        yield from _of_pieces(data, schema)
    else:
        raise _not_rows(data)


def _of_pieces(pieces: Iterable[Any], schema: Schema) -> Iterator[pa.RecordBatch | pa.Table]:
    """Pieces of any form; single rows are gathered, since a table of one row costs as much as one of a thousand."""
    rows: list[Mapping[str, Any]] = []
    for piece in pieces:
        if isinstance(piece, Mapping) and not _holds_columns(piece):
            rows.append(piece)
            if len(rows) == _ROWS_AT_ONCE:
                yield _of_rows(rows, schema)
                rows = []
            continue
        if rows:
            yield _of_rows(rows, schema)
            rows = []
        yield from _arrow_of(piece, schema)
    if rows:
        yield _of_rows(rows, schema)


def _holds_columns(piece: Mapping[Any, Any]) -> bool:
    return bool(piece) and all(isinstance(v, list | pa.Array | pa.ChunkedArray) for v in piece.values())


def _of_rows(rows: Sequence[Mapping[str, Any]], schema: Schema) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return _of_columns({name: [row.get(name) for row in rows] for name in names}, schema)


def _of_columns(columns: Mapping[str, Any], schema: Schema) -> pa.Table:
    target = arrow_schema(schema)
    arrays = []
    for name, values in columns.items():
        place = target.get_field_index(name)
        try:
            arrays.append(_array(values, None if place < 0 else target.field(place).type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as wrong:
            wanted = "" if place < 0 else f" is {schema.column(name).type};"
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column '{name}'{wanted} the values do not fit: {wrong}"
            ) from wrong
    try:
        return pa.Table.from_arrays(arrays, names=[str(name) for name in columns])
    except pa.ArrowInvalid as wrong:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(f"The columns differ in length: {wrong}") from wrong


def _array(values: Any, wanted: pa.DataType | None) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(values, type=wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values)  # what Arrow reads by itself, `conform` may still be able to cast


def _is_pandas(data: Any) -> bool:
    # Without importing pandas: who passes a DataFrame has loaded it already.
    return type(data).__module__.split(".", 1)[0] == "pandas" and type(data).__name__ == "DataFrame"


def _not_rows(data: Any) -> Exception:
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"{type(data).__name__} is not rows; give a pyarrow Table or RecordBatch, a pandas or polars DataFrame, "
        "a list of dicts, a dict of lists, or an iterable of these."
    )
