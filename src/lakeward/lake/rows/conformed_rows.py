"""Rows on their way into a data file: the file's columns, matched by name, in the file's types."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode
from lakeward.records.arrow.coarser_columns import has_nanoseconds


def conform_rows(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows in these columns; missing ones are NULL, a value that does not fit is refused with its column."""
    made = match_columns(rows, schema, _cast)
    if any(has_nanoseconds(type_) for type_ in schema.types):
        _check_nanoseconds(made)
    return made


def match_columns(
    rows: pa.RecordBatch, schema: pa.Schema, cast: Callable[[pa.Field, pa.Array], pa.Array]
) -> pa.RecordBatch:
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
            f"Column '{field.name}' does not fit into the lake, which has {field.type}: {wrong}."
        ) from None


def _check_nanoseconds(rows: pa.RecordBatch) -> None:
    """Refuse moments that a count of nanoseconds does not reach: files with INT96 keep all moments as such."""
    for field, column in zip(rows.schema, rows.columns, strict=True):
        if pa.types.is_timestamp(field.type) and field.type.unit != "ns":
            try:
                pc.cast(column, pa.timestamp("ns", field.type.tz))
            except pa.ArrowInvalid:
                raise ErrorCode.INVALID_TARGET_COLUMN.error(
                    f"Column '{field.name}' has a moment before 1677 or after 2262, which Paimon's files cannot hold "
                    "in a table with another column of TIMESTAMP(7) or finer; declare that one TIMESTAMP(6)."
                ) from None
