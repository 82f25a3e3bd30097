"""Column types → Iceberg types, and Arrow rows → the rows of a data file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa
from pyiceberg import types as ice
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.schema import Schema as IcebergSchema

from lakeward.lake.rows.conformed_rows import conform_rows
from lakeward.lake.rows.system_columns import BUCKET, OFFSET, TIMESTAMP
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema

#: As Apache Fluss maps them: one text type, one binary type, times and moments in microseconds.
_PLAIN: dict[TypeRoot, ice.IcebergType] = {
    TypeRoot.BOOLEAN: ice.BooleanType(),
    TypeRoot.TINYINT: ice.IntegerType(),
    TypeRoot.SMALLINT: ice.IntegerType(),
    TypeRoot.INTEGER: ice.IntegerType(),
    TypeRoot.BIGINT: ice.LongType(),
    TypeRoot.FLOAT: ice.FloatType(),
    TypeRoot.DOUBLE: ice.DoubleType(),
    TypeRoot.CHAR: ice.StringType(),
    TypeRoot.STRING: ice.StringType(),
    TypeRoot.BINARY: ice.BinaryType(),
    TypeRoot.BYTES: ice.BinaryType(),
    TypeRoot.DATE: ice.DateType(),
    TypeRoot.TIME: ice.TimeType(),
    TypeRoot.TIMESTAMP: ice.TimestampType(),
    TypeRoot.TIMESTAMP_LTZ: ice.TimestamptzType(),
}
SYSTEM_TYPES: tuple[tuple[str, ice.IcebergType], ...] = (
    (BUCKET, ice.IntegerType()),
    (OFFSET, ice.LongType()),
    (TIMESTAMP, ice.TimestamptzType()),
)


def iceberg_schema(schema: Schema) -> IcebergSchema:
    """The lake's schema of a table, system columns last; top-level ids first, as Iceberg numbers them."""
    fields = [(c.name, c.type, c.comment) for c in schema.columns]
    ids = count(1)
    top = [next(ids) for _ in range(len(fields) + len(SYSTEM_TYPES))]
    built = [
        ice.NestedField(number, name, iceberg_type(type_, ids), required=not type_.nullable, doc=comment)
        for number, (name, type_, comment) in zip(top, fields, strict=False)
    ]
    built += [
        ice.NestedField(number, name, type_, required=True)
        for number, (name, type_) in zip(top[len(fields) :], SYSTEM_TYPES, strict=True)
    ]
    keys = [f.field_id for f in built if f.name in schema.primary_key]
    return IcebergSchema(*built, identifier_field_ids=keys)


def iceberg_type(type_: DataType, ids: Iterator[int]) -> ice.IcebergType:
    """The Iceberg type of a column; nested fields take their ids from `ids`."""
    match type_.root:
        case TypeRoot.DECIMAL:
            assert type_.precision is not None
            assert type_.scale is not None
            return ice.DecimalType(type_.precision, type_.scale)
        case TypeRoot.ARRAY:
            assert type_.element is not None
            number = next(ids)
            return ice.ListType(number, iceberg_type(type_.element, ids), element_required=not type_.element.nullable)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            key_id, value_id = next(ids), next(ids)
            key, value = iceberg_type(type_.key, ids), iceberg_type(type_.value, ids)
            return ice.MapType(key_id, key, value_id, value, value_required=not type_.value.nullable)
        case TypeRoot.ROW:
            numbers = [next(ids) for _ in type_.fields]
            return ice.StructType(
                *(
                    ice.NestedField(
                        n, f.name, iceberg_type(f.type, ids), required=not f.type.nullable, doc=f.description
                    )
                    for n, f in zip(numbers, type_.fields, strict=True)
                )
            )
        case root:
            return _PLAIN[root]


class FileRows:
    """Rows as a data file holds them: Iceberg's Arrow types, with field ids."""

    def __init__(self, schema: IcebergSchema) -> None:
        self.schema = pa.schema([_narrow(f) for f in schema_to_pyarrow(schema)])

    def of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The same rows, matched by name; a value that does not fit is refused with its column."""
        return conform_rows(rows, self.schema)


def _narrow(field: pa.Field) -> pa.Field:
    """pyiceberg asks for 64-bit lengths; ours are 32 bits, the files are the same, and nothing is copied."""
    return field.with_type(_narrow_type(field.type))


def _narrow_type(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(type_):
        return pa.string()
    if pa.types.is_large_binary(type_):
        return pa.binary()
    if pa.types.is_large_list(type_) or pa.types.is_list(type_):
        return pa.list_(_narrow(type_.value_field))
    if pa.types.is_map(type_):
        return pa.map_(_narrow(type_.key_field), _narrow(type_.item_field))
    if pa.types.is_struct(type_):
        return pa.struct([_narrow(f) for f in type_])
    return type_
