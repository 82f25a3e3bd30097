"""Batches as Spark wants them, and back: microseconds, binary without a length, TIME in nanoseconds.

Columns whose types agree are passed on as they are; a batch that agrees as a whole is the same object.
"""

from __future__ import annotations

import pyarrow as pa

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_type, conform
from lakeward.records.arrow.coarser_columns import coarser

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
    columns = [coarser(values, field.type) for values, field in zip(batch.columns, target, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=target) if columns else batch


def from_spark(batch: pa.RecordBatch, schema: Schema, target: pa.Schema | None = None) -> pa.RecordBatch:
    """Spark's rows in a table's types; refuses what would lose digits, and NULLs where the table has none.

    Columns are matched by name, missing ones become NULL. `target` is `arrow_schema(schema)`, made once.
    """
    return conform(batch, schema, target)
