"""How a table is partitioned, and the place a partition stands for."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from lake_tables import made_for, table_info

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.iceberg.schema.layout import partition_of, partition_spec, sort_order, spec_columns
from lakeward.lake.iceberg.schema.places import Places
from lakeward.lake.iceberg.schema.types import iceberg_schema
from lakeward.lake.port import LakePlace
from lakeward.model.table import TableInfo


def spec_text(info: TableInfo) -> list[str]:
    """The fields of the spec, as `name: transform`."""
    return [f"{f.name}: {f.transform}" for f in partition_spec(info, iceberg_schema(info.schema)).fields]


def test_a_log_table_is_partitioned_by_its_keys_and_its_bucket() -> None:
    """As Apache Fluss does it."""
    info = table_info({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"])
    assert spec_text(info) == ["dt: identity", "__bucket: identity"]


def test_one_bucket_key_is_a_bucket_transform() -> None:
    """Rows of a key are found by stock readers too."""
    info = table_info({"id": "BIGINT", "name": "STRING"}, buckets=4)
    keyed = replace(info, descriptor=replace(info.descriptor, bucket_keys=("id",)))
    assert spec_text(made_for("iceberg", keyed)) == ["id_bucket: bucket[4]"]
    primary = table_info({"id": "BIGINT NOT NULL"}, key="id", buckets=3)
    assert spec_text(made_for("iceberg", primary)) == ["id_bucket: bucket[3]"]


def test_buckets_by_another_hash_are_a_column() -> None:
    """A table that was not made for Iceberg: a reader that looked by Iceberg's hash would miss rows."""
    assert spec_text(table_info({"id": "BIGINT NOT NULL"}, key="id", buckets=3)) == ["__bucket: identity"]
    assert spec_text(made_for("paimon", table_info({"id": "BIGINT NOT NULL"}, key="id"))) == ["__bucket: identity"]


def test_a_primary_key_table_needs_one_bucket_key() -> None:
    """What else could be done is said."""
    info = table_info({"a": "BIGINT NOT NULL", "b": "BIGINT NOT NULL"})
    schema = replace(info.schema, primary_key=("a", "b"))
    two = replace(info, descriptor=replace(info.descriptor, schema=schema, bucket_keys=("a", "b")))
    with pytest.raises(LakewardError, match=r"bucketed by a, b; .*'paimon'") as wrong:
        spec_text(made_for("iceberg", two))
    assert wrong.value.code is ErrorCode.INVALID_TABLE


def test_rows_are_sorted_by_offset() -> None:
    """In a file they lie in the order of the log."""
    schema = iceberg_schema(table_info({"id": "BIGINT"}).schema)
    (field,) = sort_order(schema).fields
    assert schema.find_column_name(field.source_id) == "__offset"


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        ("STRING", "a b", "a b"),
        ("INT", 7, "7"),
        ("BOOLEAN", True, "true"),
        ("DATE", dt.date(2026, 11, 1), "2026-11-01"),
        ("TIMESTAMP(3)", dt.datetime(2026, 11, 1, 1, 2, 3, 4000), "2026-11-01-01-02-03_004"),
        ("BYTES", b"\x01\xff", "01ff"),
    ],
)
def test_a_partition_of_every_type_is_its_place(type_: str, value: Any, text: str) -> None:
    """The values in a manifest lead back to the name of our partition."""
    info = table_info({"id": "BIGINT", "part": type_}, partitions=["part"])
    schema = iceberg_schema(info.schema)
    spec = partition_spec(info, schema)
    row = {"part": [value], "id": [1]}
    from lakeward.records.arrow.arrow_types import arrow_schema

    own = arrow_schema(info.schema)
    rows = pa.RecordBatch.from_arrays([pa.array(row[f.name], f.type) for f in own], schema=own)
    key = partition_of(spec, schema, 3, rows)
    values = [key.partition[i] for i in range(len(key.partition))]
    assert Places(spec_columns(spec, schema), info).of(values) == LakePlace(3, (text,))
