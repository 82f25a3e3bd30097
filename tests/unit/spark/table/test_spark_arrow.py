"""Batches in Spark's Arrow types, held against pyspark's own schema; no JVM runs."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_schema

from lakeward.errors import InvalidError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.table.spark_arrow import from_spark, spark_arrow_schema, to_spark
from lakeward.spark.table.types import spark_schema

WIDE = """b BOOLEAN NOT NULL, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f FLOAT, d DOUBLE, c CHAR(3), s STRING,
    fix BINARY(2), bin BYTES, dec DECIMAL(20, 3), day DATE, t0 TIME(0), t3 TIME(3), t6 TIME(6), t9 TIME(9),
    ts0 TIMESTAMP(0), ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), l0 TIMESTAMP_LTZ(0), l3 TIMESTAMP_LTZ(3),
    l6 TIMESTAMP_LTZ(6), arr ARRAY<TIMESTAMP(3)>, m MAP<STRING, BINARY(2)>,
    r ROW<x TIME(3), y ARRAY<ROW<z TIMESTAMP_LTZ(0) NOT NULL>>>"""


def _schema(text: str) -> Schema:
    return Schema.of(parse_columns(text)[0])


def _wide_rows() -> list[dict[str, object]]:
    noon, at = dt.time(12, 0, 1), dt.datetime(2026, 11, 15, 9, 0, 1)
    utc = at.replace(tzinfo=dt.UTC)
    row = {
        "b": True,
        "i1": 1,
        "i2": 2,
        "i4": 3,
        "i8": 4,
        "f": 0.5,
        "d": 0.25,
        "c": "ab",
        "s": "text",
        "fix": b"xy",
        "bin": b"z",
        "dec": Decimal("1.250"),
        "day": at.date(),
        "t0": noon,
        "t3": noon,
        "t6": noon,
        "t9": noon,
        "ts0": at,
        "ts3": at,
        "ts6": at,
        "l0": utc,
        "l3": utc,
        "l6": utc,
        "arr": [at, None],
        "m": [("k", b"ab"), ("l", None)],
        "r": {"x": noon, "y": [{"z": utc}, None]},
    }
    nulls: dict[str, object] = dict.fromkeys(row)
    return [row, nulls | {"b": False}, row | {"arr": None, "r": {"x": None, "y": []}}]


@pytest.mark.parametrize("text", [WIDE, "n TIMESTAMP(9), l TIMESTAMP_LTZ(8) NOT NULL"])
def test_the_arrow_schema_is_pysparks_own(text: str) -> None:
    """What we hand over equals what pyspark derives from the Spark schema, nullability and order included."""
    schema = _schema(text)
    struct = spark.StructType.fromJson(spark_schema(schema))
    assert spark_arrow_schema(schema).equals(to_arrow_schema(struct, timezone="UTC"))


@pytest.mark.parametrize("cut", [slice(0, 3), slice(1, 3)])
def test_rows_go_to_spark_and_come_back(cut: slice) -> None:
    """Every type is the same value after both casts, in sliced batches too."""
    schema = _schema(WIDE)
    batch = pa.RecordBatch.from_pylist(_wide_rows(), schema=arrow_schema(schema))[cut]
    there = to_spark(batch, spark_arrow_schema(schema))
    there.validate(full=True)
    assert there.schema.equals(spark_arrow_schema(schema))
    assert from_spark(there, schema).to_pylist() == batch.to_pylist() == _wide_rows()[cut]


def test_a_batch_that_agrees_is_passed_on_as_it_is() -> None:
    """No copy and no new object where Spark's types are the table's."""
    schema = _schema("a BIGINT, s STRING NOT NULL, t TIMESTAMP_LTZ(6)")
    batch = pa.RecordBatch.from_pylist([{"a": 1, "s": "x", "t": None}], schema=arrow_schema(schema))
    assert to_spark(batch, spark_arrow_schema(schema)) is batch


def test_nanoseconds_are_rounded_down() -> None:
    """Before 1970 as after it, nested as at the top, NULLs stay."""
    schema = _schema("n TIMESTAMP(9), l ARRAY<TIMESTAMP_LTZ(9)>")
    values = [1_999, -1, None, -1_000]
    nanoseconds = pa.array(values, pa.timestamp("ns"))
    lists = pa.array([[1_999, -1], None, [], [None, -1_001]], arrow_schema(schema).field("l").type)
    batch = pa.RecordBatch.from_arrays([nanoseconds, lists], schema=arrow_schema(schema))
    there = to_spark(batch, spark_arrow_schema(schema))
    assert there.column("n").cast(pa.int64()).to_pylist() == [1, -1, None, -1]
    assert there.column("l").cast(pa.list_(pa.int64())).to_pylist() == [[1, -1], None, [], [None, -2]]


@pytest.mark.parametrize(
    ("declared", "values"),
    [
        ("TIMESTAMP(3)", pa.array([1], pa.timestamp("us"))),
        ("TIMESTAMP_LTZ(0)", pa.array([1_000], pa.timestamp("us", "Europe/Berlin"))),
        ("TIMESTAMP(9)", pa.array([2**62], pa.timestamp("us"))),
        ("TIME(6)", pa.array([1_000], pa.time64("ns"))),
        ("BINARY(2)", pa.array([b"abc"], pa.binary())),
        ("INT NOT NULL", pa.array([None], pa.int32())),
    ],
)
def test_what_would_be_lost_is_refused_by_column(declared: str, values: pa.Array) -> None:
    """Digits a column has no room for, bytes of another length, NULLs: one sentence with the column's name."""
    with pytest.raises(InvalidError, match="'c'"):
        from_spark(pa.RecordBatch.from_arrays([values], names=["c"]), _schema(f"c {declared}"))


def test_sparks_session_zone_does_not_matter() -> None:
    """A timestamp in the session's zone is the same moment in UTC."""
    values = pa.array([1_000_000], pa.timestamp("us", "America/New_York"))
    made = from_spark(pa.RecordBatch.from_arrays([values], names=["c"]), _schema("c TIMESTAMP_LTZ(3)"))
    assert made.column("c").to_pylist() == [dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)]
