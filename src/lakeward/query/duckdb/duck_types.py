"""Columns as DuckDB is given them.

It has no nanoseconds where there is a zone, nor in a time of day that it could compare with another one. Moments in
milliseconds it would not compare with `now()`: they are microseconds, as they are in the lake's files. And it wants
`pytz` when it hands a filter with a zone down to Arrow: such columns go as microseconds, and a view turns them back.
Filters on fractions are kept from Arrow as well: NaN is the largest of them for DuckDB, and no number for Arrow, which
would drop it (`f > 1`), and from the bounds of Parquet's row groups, which do not know of it.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from lakeward.records.arrow.coarser_columns import coarser

_COARSER = {
    pa.time64("ns"): pa.time64("us"),
    **{pa.timestamp(unit, tz="UTC"): pa.timestamp("us", tz="UTC") for unit in ("s", "ms", "ns")},
    **{pa.timestamp(unit): pa.timestamp("us") for unit in ("s", "ms")},
}


@lru_cache(maxsize=256)
def duck_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns in types that DuckDB has."""
    return pa.schema([_field(field) for field in schema])


def to_duck(rows: pa.Table | pa.RecordBatchReader) -> pa.Table | pa.RecordBatchReader:
    """Rows as they are handed over."""
    ducks = duck_schema(rows.schema)
    target = pa.schema([f.with_type(pa.int64()) if _is_zoned(f) else f for f in ducks])
    if target.equals(rows.schema):
        return rows
    if isinstance(rows, pa.Table):
        return pa.Table.from_batches([_batch_to_duck(batch, ducks, target) for batch in rows.to_batches()], target)
    return pa.RecordBatchReader.from_batches(target, (_batch_to_duck(batch, ducks, target) for batch in rows))


def _batch_to_duck(rows: pa.RecordBatch, ducks: pa.Schema, target: pa.Schema) -> pa.RecordBatch:
    columns = [
        coarser(values, duck.type).cast(field.type)
        for values, duck, field in zip(rows.columns, ducks, target, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=target)


def select_sql(schema: pa.Schema, name: str) -> str:
    """What selects rows that were handed over by this name."""
    is_nested = any(pa.types.is_nested(f.type) and _is_misjudged(f) for f in schema)
    # Filters go into the fields of a ROW, but not through an OFFSET.
    end = " OFFSET 0" if is_nested else ""
    return f"SELECT {', '.join(map(_column_sql, schema))} FROM {name}{end}"  # noqa: S608 - names of columns, quoted


def hide_bounds(expression: str, arrow: pa.DataType) -> str:
    """An expression that DuckDB leaves out no rows by before it has seen them: bounds do not know of NaN."""
    return f"-(-{expression})" if pa.types.is_floating(arrow) else expression


def _column_sql(field: pa.Field) -> str:
    name = '"' + field.name.replace('"', '""') + '"'
    if _is_zoned(field):
        return f"make_timestamptz({name}) AS {name}"
    return f"{hide_bounds(name, field.type)} AS {name}"


def _is_misjudged(field: pa.Field) -> bool:
    """Whether Arrow would filter the column, or a part of it, in another way than DuckDB does."""
    arrow = field.type
    parts = [arrow.field(n) for n in range(arrow.num_fields)] if pa.types.is_nested(arrow) else []
    return pa.types.is_floating(arrow) or _is_zoned(field) or any(map(_is_misjudged, parts))


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
