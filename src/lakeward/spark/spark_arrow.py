"""Batches as Spark wants them, and back: microseconds, binary without a length, TIME in nanoseconds.

Columns whose types agree are passed on as they are; a batch that agrees as a whole is the same object.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow_types import arrow_type, conform

_PLAIN_IN_SPARK = {
    TypeRoot.BINARY: pa.binary(),
    TypeRoot.TIME: pa.time64("ns"),
    TypeRoot.TIMESTAMP: pa.timestamp("us"),
    TypeRoot.TIMESTAMP_LTZ: pa.timestamp("us", tz="UTC"),
}


def spark_arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema that Spark expects of a table's rows: pyspark's own for `spark_schema(schema)`, zone UTC."""
    return pa.schema([_field(c.name, c.type) for c in schema.columns])


def _field(name: str, type_: DataType) -> pa.Field:
    return pa.field(name, spark_arrow_type(type_), nullable=type_.nullable)


def spark_arrow_type(type_: DataType) -> pa.DataType:
    """The Arrow type in which Spark takes and gives a column type."""
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return pa.list_(_field("element", type_.element))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return pa.map_(_field("key", type_.key.not_null()), _field("value", type_.value))
        case TypeRoot.ROW:
            return pa.struct([_field(f.name, f.type) for f in type_.fields])
        case root:
            return _PLAIN_IN_SPARK.get(root) or arrow_type(type_)


def to_spark(batch: pa.RecordBatch, target: pa.Schema) -> pa.RecordBatch:
    """A table's rows in Spark's types; `target` is `spark_arrow_schema` of the batch's columns, made once.

    Nanoseconds are rounded down to microseconds, before 1970 as well: Spark has no more.
    """
    if batch.schema.equals(target):
        return batch
    columns = [_to_spark(values, field.type) for values, field in zip(batch.columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=target) if columns else batch


def _to_spark(values: pa.Array, target: pa.DataType) -> pa.Array:
    source = values.type
    if source == target:
        return values
    if pa.types.is_timestamp(source):
        return _microseconds(values, target)
    if pa.types.is_struct(source):
        parts = [_to_spark(values.field(i), target.field(i).type) for i in range(target.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=values.is_null())
    if pa.types.is_map(source):
        fields = [target.key_field, target.item_field]
        parts = [_to_spark(values.keys, target.key_type), _to_spark(values.items, target.item_type)]
        return _same_lists(values, target, pa.StructArray.from_arrays(parts, fields=fields))
    if pa.types.is_list(source):
        return _same_lists(values, target, _to_spark(values.values, target.value_type))
    return values.cast(target)


def _same_lists(values: pa.Array, target: pa.DataType, children: pa.Array) -> pa.Array:
    """The same lists over other elements; validity and offsets are shared."""
    shared = values.buffers()[:2]
    return pa.Array.from_buffers(target, len(values), shared, values.null_count, values.offset, [children])


def _microseconds(values: pa.Array, target: pa.DataType) -> pa.Array:
    if values.type.unit == "ns":  # a cast rounds towards 1970, not down; without a zone the floor is plain arithmetic
        values = pc.floor_temporal(values.cast(pa.timestamp("ns")), unit="microsecond")
    return values.cast(target)


def from_spark(batch: pa.RecordBatch, schema: Schema, target: pa.Schema | None = None) -> pa.RecordBatch:
    """Spark's rows in a table's types; refuses what would lose digits, and NULLs where the table has none.

    Columns are matched by name, missing ones become NULL. `target` is `arrow_schema(schema)`, made once.
    """
    return conform(batch, schema, target)
