"""Rows on their way into a data file: the file's columns, matched by name, in the file's types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode


def conformed(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows in these columns; missing ones are NULL, a value that does not fit is refused with its column."""
    return matched(rows, schema, _cast)


def matched(rows: pa.RecordBatch, schema: pa.Schema, cast: Callable[[pa.Field, pa.Array], pa.Array]) -> pa.RecordBatch:
    """The rows in these columns; missing ones are NULL, those of another type are cast."""
    arrays = []
    for field in schema:
        place = rows.schema.get_field_index(field.name)
        if place < 0:
            arrays.append(pa.nulls(rows.num_rows, field.type))
            continue
        column = rows.column(place)
        arrays.append(column if column.type.equals(field.type) else cast(field, column))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(field: pa.Field, column: pa.Array) -> pa.Array:
    try:
        return pc.cast(column, field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as wrong:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Column '{field.name}' is {column.type} and the lake has {field.type}: a value does not fit. {wrong}"
        ) from None
