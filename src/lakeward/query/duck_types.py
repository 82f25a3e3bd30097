"""Columns as DuckDB is given them.

It has no nanoseconds where there is a zone, nor in a time of day that it could compare with another one. And it wants
`pytz` when it hands a filter with a zone down to Arrow: such columns go as microseconds, and a view turns them back.
"""

from __future__ import annotations

import pyarrow as pa

from lakeward.records.coarser_columns import coarser

_COARSER = {
    pa.time64("ns"): pa.time64("us"),
    **{pa.timestamp(unit, tz="UTC"): pa.timestamp("us", tz="UTC") for unit in ("s", "ms", "ns")},
}


def duck_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that DuckDB has."""
    return pa.schema([_field(field) for field in schema])


def sent(rows: pa.Table | pa.RecordBatchReader) -> pa.Table | pa.RecordBatchReader:
    """Rows as they are handed over."""
    ducks = duck_schema(rows.schema)
    target = pa.schema([f.with_type(pa.int64()) if _is_zoned(f) else f for f in ducks])
    if target.equals(rows.schema):
        return rows
    if isinstance(rows, pa.Table):
        return pa.Table.from_batches([_sent(batch, ducks, target) for batch in rows.to_batches()], target)
    return pa.RecordBatchReader.from_batches(target, (_sent(batch, ducks, target) for batch in rows))


def _sent(rows: pa.RecordBatch, ducks: pa.Schema, target: pa.Schema) -> pa.RecordBatch:
    columns = [
        coarser(values, duck.type).cast(field.type)
        for values, duck, field in zip(rows.columns, ducks, target, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def shown_columns(schema: pa.Schema) -> str:
    """What a SELECT makes of rows that were handed over."""
    return ", ".join(_shown(field) for field in schema)


def _shown(field: pa.Field) -> str:
    name = '"' + field.name.replace('"', '""') + '"'
    return f"make_timestamptz({name}) AS {name}" if _is_zoned(field) else name


def _is_zoned(field: pa.Field) -> bool:
    return bool(pa.types.is_timestamp(field.type) and field.type.tz is not None)


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
