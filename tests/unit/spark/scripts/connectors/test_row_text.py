"""A row as a line, as Java would have it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import types as spark

from lakeward.spark.scripts.connectors.row_text import row_text


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (None, spark.LongType(), "null"),
        (0.0, spark.DoubleType(), "0.0"),
        (-0.001, spark.DoubleType(), "-0.001"),
        (1234567.0, spark.DoubleType(), "1234567.0"),
        (12345678.5, spark.DoubleType(), "1.23456785E7"),
        (1e-5, spark.DoubleType(), "1.0E-5"),
        (float("nan"), spark.DoubleType(), "NaN"),
        (float("-inf"), spark.DoubleType(), "-Infinity"),
        (0.10000000149011612, spark.FloatType(), "0.1"),
        (100.0, spark.FloatType(), "100.0"),
        (Decimal("1E+3"), spark.DecimalType(10, 0), "1000"),
        (date(2026, 11, 1), spark.DateType(), "2026-11-01"),
        (time(1, 2), spark.TimeType(), "01:02"),
        (datetime(2026, 11, 1, 1, 2, 3, 4), spark.TimestampNTZType(), "2026-11-01T01:02:03.000004"),
        (datetime(2026, 11, 1, tzinfo=UTC), spark.TimestampType(), "2026-11-01T00:00:00Z"),
        ([True, None], spark.ArrayType(spark.BooleanType()), "[true, null]"),
        ({"a": 1.5}, spark.MapType(spark.StringType(), spark.DoubleType()), "{a=1.5}"),
        (bytearray(b"\x00\x80"), spark.BinaryType(), "[0, -128]"),
    ],
)
def test_a_value_looks_as_in_java(value: Any, type_: spark.DataType, text: str) -> None:
    """By its type."""
    assert row_text([value], [type_]) == f"+I[{text}]"


def test_each_change_has_its_mark() -> None:
    """The four of a changelog."""
    marks = [row_text([1], [spark.LongType()], c) for c in ("insert", "update_before", "update_after", "delete")]
    assert marks == ["+I[1]", "-U[1]", "+U[1]", "-D[1]"]
