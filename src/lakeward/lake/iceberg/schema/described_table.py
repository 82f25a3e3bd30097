"""Any Iceberg table as if it were ours: its columns in our types, its identifier fields as the primary key."""

from __future__ import annotations

from pyiceberg import types as ice
from pyiceberg.table import Table

from lakeward.errors import ErrorCode
from lakeward.lake.rows.system_columns import BUCKET
from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BINARY,
    BOOLEAN,
    BYTES,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    MAP,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    DataType,
    RowField,
    TypeRoot,
)
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath

_PLAIN: dict[type[ice.IcebergType], DataType] = {
    ice.BooleanType: BOOLEAN(),
    ice.IntegerType: INT(),
    ice.LongType: BIGINT(),
    ice.FloatType: FLOAT(),
    ice.DoubleType: DOUBLE(),
    ice.StringType: STRING(),
    ice.BinaryType: BYTES(),
    ice.DateType: DATE(),
    ice.TimeType: TIME(6),
    ice.TimestampType: TIMESTAMP(6),
    ice.TimestamptzType: TIMESTAMP_LTZ(6),
}


def describe_table(path: TablePath, table: Table) -> TableInfo:
    """A table of the lake in our words; a type that we have no word for is refused with its column."""
    schema = table.schema()
    columns = []
    for field in schema.fields:
        try:
            columns.append(Column(field.name, _type(field.field_type, field.required), comment=field.doc))
        except KeyError:
            raise ErrorCode.INVALID_TABLE.error(
                f"The lake's table {path} cannot be read here: its column '{field.name}' is {field.field_type}."
            ) from None
    keys = [field.name for field in schema.fields if field.field_id in schema.identifier_field_ids]
    names = {field.field_id: field.name for field in schema.fields}
    own = [names.get(f.source_id) for f in table.spec().fields if str(f.transform) == "identity"]
    partitions = tuple(name for name in own if name is not None and name != BUCKET)
    descriptor = TableDescriptor(
        Schema.of(columns, keys), partitions, bucket_count=1, comment=table.properties.get("comment")
    )
    return TableInfo(path, 0, 0, descriptor, 0, 0)


def _type(theirs: ice.IcebergType, required: bool) -> DataType:
    found = _nullable_type(theirs)
    return found.not_null() if required else found


def _nullable_type(theirs: ice.IcebergType) -> DataType:
    match theirs:
        case ice.DecimalType():
            return DECIMAL(theirs.precision, theirs.scale)
        case ice.FixedType():
            return BINARY(len(theirs))
        case ice.ListType():
            return ARRAY(_type(theirs.element_type, theirs.element_required))
        case ice.MapType():
            return MAP(_type(theirs.key_type, required=True), _type(theirs.value_type, theirs.value_required))
        case ice.StructType():
            fields = tuple(RowField(f.name, _type(f.field_type, f.required), f.doc) for f in theirs.fields)
            return DataType(TypeRoot.ROW, fields=fields)
        case _:
            return _PLAIN[type(theirs)]
