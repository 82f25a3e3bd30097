"""Filters as Spark pushes them."""

from __future__ import annotations

from pyspark.sql import datasource as spark

from lakeward.query.request import filters as own
from lakeward.spark.table.pushed_filters import filters_of


def test_filters_of_columns_are_understood() -> None:
    """Each of Spark's kinds has its counterpart."""
    a = ("a",)
    pushed = [
        spark.EqualTo(a, 1),
        spark.EqualNullSafe(a, None),
        spark.GreaterThan(a, 1),
        spark.GreaterThanOrEqual(a, 1),
        spark.LessThan(a, 1),
        spark.LessThanOrEqual(a, 1),
        spark.In(a, (1, 2)),
        spark.IsNull(a),
        spark.IsNotNull(a),
        spark.StringStartsWith(a, "x"),
        spark.StringEndsWith(a, "x"),
        spark.StringContains(a, "x"),
        spark.Not(spark.EqualTo(a, 1)),
    ]
    assert filters_of(pushed) == (
        own.Compare("=", "a", 1),
        own.Compare("<=>", "a", None),
        own.Compare(">", "a", 1),
        own.Compare(">=", "a", 1),
        own.Compare("<", "a", 1),
        own.Compare("<=", "a", 1),
        own.In("a", (1, 2)),
        own.IsNull("a"),
        own.NotNull("a"),
        own.StartsWith("a", "x"),
        own.EndsWith("a", "x"),
        own.Contains("a", "x"),
        own.Not(own.Compare("=", "a", 1)),
    )


def test_filters_inside_columns_are_left_to_spark() -> None:
    """A field of a struct is no column of the table."""
    assert filters_of([spark.EqualTo(("a", "b"), 1), spark.Not(spark.IsNull(("a", "b")))]) == ()
