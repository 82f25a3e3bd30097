"""How a table is partitioned in Iceberg, as Apache Fluss does it, and which partition a place is.

Log tables     their partition keys, then __bucket (or bucket[n] of the one bucket key); sorted by __offset
Primary key    their partition keys, then bucket[n] of the bucket key, which is how such a table is bucketed

A table that was not made for Iceberg has buckets by another hash: its last partition field is __bucket in any case.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.schema import Schema as IcebergSchema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform

from lakeward.errors import ErrorCode
from lakeward.lake.iceberg.schema.places import SpecColumn
from lakeward.lake.rows.system_columns import BUCKET, OFFSET
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT

_FIRST_ID = 1000


def partition_spec(info: TableInfo, schema: IcebergSchema) -> PartitionSpec:
    """The partition spec of a table; refuses keys that Iceberg's buckets cannot follow."""
    descriptor = info.descriptor
    keys = descriptor.bucket_keys
    is_by_hash = LAKE_FORMAT.read(descriptor.properties) == "iceberg"
    if is_by_hash and descriptor.has_primary_key and len(keys) != 1:
        raise ErrorCode.INVALID_TABLE.error(
            f"{info.path} is bucketed by {', '.join(keys)}; in Iceberg a primary key table is bucketed by exactly one "
            "column. Name one with 'bucket.key', or use 'table.datalake.format' = 'paimon'."
        )
    fields: list[tuple[str, Transform[Any, Any], str]] = [
        (name, IdentityTransform(), name) for name in descriptor.partition_keys
    ]
    if is_by_hash and len(keys) == 1:
        fields.append((keys[0], BucketTransform(info.bucket_count), f"{keys[0]}_bucket"))
    else:
        fields.append((BUCKET, IdentityTransform(), BUCKET))
    return PartitionSpec(
        *(
            PartitionField(schema.find_field(column).field_id, _FIRST_ID + i, transform, name)
            for i, (column, transform, name) in enumerate(fields)
        )
    )


def spec_columns(spec: PartitionSpec, schema: IcebergSchema) -> tuple[SpecColumn, ...]:
    """The columns of a partition spec."""
    names = [schema.find_column_name(field.source_id) or "" for field in spec.fields]
    kinds = [isinstance(field.transform, IdentityTransform) for field in spec.fields]
    return tuple(SpecColumn(*pair) for pair in zip(names, kinds, strict=True))


def sort_order(schema: IcebergSchema) -> SortOrder:
    """Rows lie in the order of the log."""
    return SortOrder(SortField(schema.find_field(OFFSET).field_id, IdentityTransform()))


def partition_of(spec: PartitionSpec, schema: IcebergSchema, bucket: int, rows: pa.RecordBatch) -> PartitionKey:
    """The partition of rows that all belong to one bucket of one partition."""
    values = []
    for field in spec.fields:
        name = schema.find_column_name(field.source_id)
        assert name is not None
        is_bucket = name == BUCKET or isinstance(field.transform, BucketTransform)
        value = bucket if is_bucket else rows.column(rows.schema.get_field_index(name))[0].as_py()
        values.append(PartitionFieldValue(field, value))
    return PartitionKey(values, spec, schema)
