"""Which types go into a column without being asked."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lakeward.spark.scripts.planning.fitting import fits

_PRICE, _COUNT = DecimalType(10, 2), DecimalType(10, 0)


def _row(*types: DataType) -> StructType:
    return StructType([StructField(f"f{at}", one) for at, one in enumerate(types)])


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (NullType(), IntegerType()),
        (IntegerType(), LongType()),
        (LongType(), ShortType()),
        (IntegerType(), DoubleType()),
        (_PRICE, DecimalType(10, 1)),
        (_PRICE, FloatType()),
        (_COUNT, IntegerType()),
        (DoubleType(), _PRICE),
        (DateType(), TimestampNTZType()),
        (TimestampNTZType(), DateType()),
        (TimestampType(), TimestampNTZType()),
        (ArrayType(IntegerType()), ArrayType(LongType())),
        (_row(IntegerType(), StringType()), _row(LongType(), StringType())),
    ],
)
def test_what_loses_nothing_or_fails_goes_in(found: DataType, wanted: DataType) -> None:
    """Wider types, whole numbers that are looked at one by one, and what Flink rounds."""
    assert fits(found, wanted)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (_PRICE, IntegerType()),
        (DoubleType(), LongType()),
        (FloatType(), ShortType()),
        (DoubleType(), FloatType()),
        (StringType(), IntegerType()),
        (IntegerType(), StringType()),
        (TimestampType(), DateType()),
        (ArrayType(_PRICE), ArrayType(IntegerType())),
        (MapType(StringType(), DoubleType()), MapType(StringType(), LongType())),
        (_row(IntegerType(), _PRICE), _row(IntegerType(), IntegerType())),
        (_row(IntegerType()), _row(IntegerType(), IntegerType())),
    ],
)
def test_what_loses_something_is_to_be_said(found: DataType, wanted: DataType) -> None:
    """A fraction that is cut, a number of which digits are left out, a text that may be none; in lists, too."""
    assert not fits(found, wanted)
