"""Casts that never change a value."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.records.arrow.arrow_casts import cast, check_nulls
from lakeward.records.arrow.arrow_types import arrow_type

UTC = dt.UTC


def fit(array: pa.Array, type_: t.DataType) -> list:
    """The values after the cast."""
    made = cast(array, arrow_type(type_), "c", type_)
    made.validate(full=True)
    assert made.type == arrow_type(type_)
    return made.to_pylist()


@pytest.mark.parametrize(
    ("array", "type_", "expected"),
    [
        (pa.nulls(2), t.INT(), [None, None]),
        (pa.array([1, 2], pa.uint8()), t.SMALLINT(), [1, 2]),
        (pa.array([1.0, None]), t.INT(), [1, None]),
        (pa.array([1, None]), t.DECIMAL(10, 2), [Decimal("1.00"), None]),
        (pa.array([10**9], pa.int64()), t.DECIMAL(38, 28), [Decimal(10**9)]),
        (pa.array([1.25, None]), t.DECIMAL(10, 2), [Decimal("1.25"), None]),
        (pa.array([Decimal("0.5")]), t.DOUBLE(), [0.5]),
        (pa.array(["1.5"]), t.DECIMAL(10, 2), [Decimal("1.50")]),
        (pa.array([0.1]), t.FLOAT(), [pytest.approx(0.1)]),
        (pa.array([float("inf"), float("nan")]), t.FLOAT(), [float("inf"), pytest.approx(float("nan"), nan_ok=True)]),
        (pa.array(["a", "b", None]).dictionary_encode(), t.STRING(), ["a", "b", None]),
        (pc.run_end_encode(pa.array([1, 1, 2])), t.INT(), [1, 1, 2]),
        (pa.array([b"ab"], pa.large_binary()), t.BINARY(2), [b"ab"]),
        (pa.array(["2024-01-31"]), t.DATE(), [dt.date(2024, 1, 31)]),
        (pa.array(["12:34:56.789", None]), t.TIME(3), [dt.time(12, 34, 56, 789000), None]),
        (pa.array(["12:34:56.7890000"]), t.TIME(3), [dt.time(12, 34, 56, 789000)]),
        (pa.array(["2024-01-31 01:02:03.450000"]), t.TIMESTAMP(3), [dt.datetime(2024, 1, 31, 1, 2, 3, 450000)]),
        (pa.array(["2024-01-31 00:00:00.000Z"]), t.TIMESTAMP_LTZ(0), [dt.datetime(2024, 1, 31, tzinfo=UTC)]),
        (pa.array(["2024-01-31T01:02:03"]), t.TIMESTAMP(3), [dt.datetime(2024, 1, 31, 1, 2, 3)]),
        (pa.array(["2024-01-31T01:02:03+01:00"]), t.TIMESTAMP_LTZ(3), [dt.datetime(2024, 1, 31, 0, 2, 3, tzinfo=UTC)]),
        (pa.array(["2024-01-31T01:02:03"]), t.TIMESTAMP_LTZ(3), [dt.datetime(2024, 1, 31, 1, 2, 3, tzinfo=UTC)]),
        (pa.array([0], pa.timestamp("us", "Asia/Tokyo")), t.TIMESTAMP_LTZ(0), [dt.datetime(1970, 1, 1, tzinfo=UTC)]),
        (pa.array([86_400], pa.timestamp("s")), t.DATE(), [dt.date(1970, 1, 2)]),
        (pa.array([1], pa.date32()), t.TIMESTAMP(6), [dt.datetime(1970, 1, 2)]),
        (pa.array([[1, None], None], pa.large_list(pa.int64())), t.ARRAY(t.INT()), [[1, None], None]),
        (pa.array([{"b": "x", "a": 1}]), t.ROW([("a", t.INT()), ("b", t.STRING())]), [{"a": 1, "b": "x"}]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())), t.MAP(t.STRING(), t.INT()), [[("k", 1)]]),
    ],
    ids=str,
)  # fmt: skip
def test_what_fits(array, type_, expected) -> None:
    """Values arrive as they were."""
    assert fit(array, type_) == expected
    assert fit(pa.chunked_array([array, array.slice(0, 0)]), type_) == expected if len(array) else True


@pytest.mark.parametrize(
    ("array", "type_", "why"),
    [
        (pa.array([True]), t.INT(), "cast the data first"),
        (pa.array([1]), t.BOOLEAN(), "cast the data first"),
        (pa.array([1e300]), t.FLOAT(), "too large"),
        (pa.array([2**53 + 1]), t.DOUBLE(), "Integer value"),
        (pa.array([1.123]), t.DECIMAL(10, 2), "would change"),
        (pa.array([Decimal("0.1234567890123456789")]), t.DOUBLE(), "would change"),
        (pa.array([10**9]), t.DECIMAL(10, 2), "precision"),
        (pa.array([b"abc"]), t.BINARY(2), "widths"),
        (pa.array([b"abc"]), t.STRING(), "cast the data first"),
        (pa.array([1], pa.timestamp("s")), t.DATE(), "would change"),
        (pa.array([1], pa.timestamp("s", "UTC")), t.TIMESTAMP(3), "TIMESTAMP_LTZ"),
        (pa.array(["noon"]), t.TIME(3), "parse"),
        (pa.array(["soon"]), t.DATE(), "parse"),
        (pa.array([1], pa.duration("s")), t.BIGINT(), "cast the data first"),
        (pa.array([[1.5]]), t.ARRAY(t.INT()), "truncated"),
        (pa.array([[1.5]]), t.ARRAY(t.DECIMAL(5, 1)), "cast the data first"),
        (pa.array([{"a": 1, "z": 2}]), t.ROW([("a", t.INT())]), "no field 'z'"),
    ],
    ids=str,
)
def test_what_does_not_fit(array, type_, why) -> None:
    """A loss is refused with the column and the reason."""
    with pytest.raises(InvalidError, match=rf"(?s)Column 'c' is .*{why}"):
        fit(array, type_)


@pytest.mark.parametrize(
    ("array", "type_", "path"),
    [
        (pa.array([[1, None], None]), t.ARRAY(t.BIGINT().not_null()), r"c\[\]"),
        (pa.array([{"a": None}, None], pa.struct([("a", pa.int32())])), t.ROW([("a", t.INT().not_null())]), r"c\.a"),
        (pa.array([[("k", None)]], pa.map_(pa.string(), pa.int32())), t.MAP(t.STRING(), t.INT().not_null()), r"c\{\}"),
        (pa.array([[[None]]], pa.list_(pa.list_(pa.int32()))), t.ARRAY(t.ARRAY(t.INT().not_null())), r"c\[\]\[\]"),
    ],
    ids=str,
)
def test_nulls_inside_nested_columns_are_found(array, type_, path) -> None:
    """NOT NULL holds at every depth, and a NULL around it does not count."""
    field = pa.field("c", arrow_type(type_))
    for values in (array, pa.chunked_array([array, array])):
        with pytest.raises(InvalidError, match=f"Column '{path}' is NOT NULL"):
            check_nulls(values, field, "c")


def test_nested_columns_without_nulls_pass() -> None:
    """A NULL list or row is no NULL element."""
    type_ = t.ROW([("a", t.INT().not_null()), ("l", t.ARRAY(t.INT().not_null()))])
    check_nulls(
        pa.array([{"a": 1, "l": [1]}, None, {"a": 2, "l": None}], arrow_type(type_)),
        pa.field("c", arrow_type(type_)),
        "c",
    )
