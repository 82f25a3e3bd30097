"""The Arrow types in which DuckDB is given columns: it has no nanoseconds where there is a zone, nor in a time of day
that it could compare with another one."""

from __future__ import annotations

import pyarrow as pa

_COARSER = {pa.time64("ns"): pa.time64("us"), pa.timestamp("ns", tz="UTC"): pa.timestamp("us", tz="UTC")}


def duck_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in DuckDB's types."""
    return pa.schema([_field(field) for field in schema])


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(_type(field.type))


def _type(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_map(arrow):
        return pa.map_(_field(arrow.key_field), _field(arrow.item_field))
    if pa.types.is_list(arrow):
        return pa.list_(_field(arrow.value_field))
    if pa.types.is_struct(arrow):
        return pa.struct([_field(field) for field in arrow])
    return _COARSER.get(arrow, arrow)
