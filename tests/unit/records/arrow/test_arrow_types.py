"""Column types as Arrow types, and data made to fit a table."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from row_strategies import types, unhurried

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema, arrow_type, conform, data_type, schema_of_arrow


@pytest.mark.parametrize(
    ("type_", "arrow"),
    [
        (t.BOOLEAN(), pa.bool_()),
        (t.TINYINT(), pa.int8()),
        (t.BIGINT(), pa.int64()),
        (t.CHAR(3), pa.string()),
        (t.BINARY(4), pa.binary(4)),
        (t.DECIMAL(30, 4), pa.decimal128(30, 4)),
        (t.TIME(0), pa.time32("s")),
        (t.TIME(2), pa.time32("ms")),
        (t.TIME(6), pa.time64("us")),
        (t.TIME(7), pa.time64("ns")),
        (t.TIMESTAMP(0), pa.timestamp("s")),
        (t.TIMESTAMP(3), pa.timestamp("ms")),
        (t.TIMESTAMP(4), pa.timestamp("us")),
        (t.TIMESTAMP_LTZ(9), pa.timestamp("ns", "UTC")),
        (t.ARRAY(t.INT().not_null()), pa.list_(pa.field("element", pa.int32(), nullable=False))),
        (t.MAP(t.STRING(), t.INT()), pa.map_(pa.string(), pa.int32())),
        (t.ROW([("a", t.INT())]), pa.struct([("a", pa.int32())])),
    ],
    ids=str,
)
def test_types_and_their_arrow_counterparts(type_, arrow) -> None:
    """The mapping of the specification; LTZ shows its zone."""
    assert arrow_type(type_) == arrow


@unhurried
@given(types)
def test_arrow_and_back_keeps_the_arrow_type(type_) -> None:
    """A type read from our own Arrow schema maps to the same Arrow type again."""
    assert arrow_type(data_type(arrow_type(type_))) == arrow_type(type_)


@pytest.mark.parametrize(
    ("arrow", "type_"),
    [
        (pa.large_string(), t.STRING()),
        (pa.string_view(), t.STRING()),
        (pa.dictionary(pa.int8(), pa.string()), t.STRING()),
        (pa.run_end_encoded(pa.int32(), pa.int64()), t.BIGINT()),
        (pa.large_list(pa.int8()), t.ARRAY(t.TINYINT())),
        (pa.list_(pa.int8(), 3), t.ARRAY(t.TINYINT())),
        (pa.uint16(), t.INT()),
        (pa.uint32(), t.BIGINT()),
        (pa.float16(), t.FLOAT()),
        (pa.date64(), t.DATE()),
        (pa.timestamp("us", "Europe/Paris"), t.TIMESTAMP_LTZ(6)),
        (pa.timestamp("s"), t.TIMESTAMP(0)),
        (pa.time64("ns"), t.TIME(9)),
        (pa.decimal256(20, 2), t.DECIMAL(20, 2)),
        (pa.uuid(), t.BINARY(16)),
    ],
    ids=str,
)
def test_foreign_arrow_types(arrow, type_) -> None:
    """What other tools produce finds the type that holds all its values."""
    assert data_type(arrow) == type_
    assert data_type(arrow, nullable=False) == type_.not_null()


@pytest.mark.parametrize(
    "arrow",
    [
        pa.uint64(),
        pa.null(),
        pa.duration("s"),
        pa.decimal256(50, 2),
        pa.decimal128(5, -2),
        pa.month_day_nano_interval(),
    ],
    ids=str,
)
def test_types_without_counterpart_name_the_column(arrow) -> None:
    """The refusal says which column and what to do."""
    with pytest.raises(InvalidError, match=r"Column 'odd': Arrow type .* has no counterpart.*:"):
        schema_of_arrow(pa.schema([("fine", pa.int32()), ("odd", arrow)]))


def test_schemas_keep_names_order_and_nullability() -> None:
    """A table made from an Arrow schema shows that schema."""
    arrow = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.string())])
    assert arrow_schema(schema_of_arrow(arrow)) == arrow


TABLE = Schema.of(
    [("id", t.INT().not_null()), ("name", t.STRING()), ("at", t.TIMESTAMP_LTZ(3)), ("price", t.DECIMAL(10, 2))]
)


def test_columns_are_matched_by_name_and_filled_up() -> None:
    """Order does not matter and nullable columns may be missing."""
    made = conform(pa.table({"name": ["x", None], "id": [1, 2]}), TABLE)
    assert made.schema == arrow_schema(TABLE)
    assert made.to_pylist()[1] == {"id": 2, "name": None, "at": None, "price": None}


def test_a_batch_stays_a_batch() -> None:
    """conform gives back what it was given."""
    assert isinstance(conform(pa.record_batch({"id": pa.array([1])}), TABLE), pa.RecordBatch)
    assert isinstance(conform(pa.table({"id": [1]}), TABLE), pa.Table)


def test_data_that_fits_is_not_copied() -> None:
    """The common case costs nothing."""
    ready = conform(pa.record_batch({"id": pa.array([1], pa.int32())}), TABLE)
    assert conform(ready, TABLE).column(0).buffers()[1].address == ready.column(0).buffers()[1].address


def test_python_values_find_their_types() -> None:
    """What a list of dicts gives fits as people expect."""
    rows = pa.Table.from_pylist([{"id": 1, "at": dt.datetime(2024, 1, 1), "price": 1.1, "name": "é"}])
    (row,) = conform(rows, TABLE).to_pylist()
    assert row["price"] == Decimal("1.10")
    assert row["at"] == dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"id": [1], "naem": ["x"]}, "no column 'naem'; its columns are 'id', 'name', 'at', 'price'"),
        ({"name": ["x"]}, "lacks column 'id', which is NOT NULL"),
        ({"id": [1, None, None]}, "Column 'id' is NOT NULL, but the data has 2 NULL in it, the first in row 1"),
        ({"id": [2**31]}, "Column 'id' is INT NOT NULL; .*int64.*2147483648"),
        ({"id": [1.5]}, "Column 'id'.*truncated"),
        ({"id": ["1"]}, "Column 'id'.*cast the data first"),
        ({"id": [1], "name": [5]}, "Column 'name' is STRING.*cast the data first"),
        ({"id": [1], "price": [Decimal("1.234")]}, "Column 'price'.*data loss"),
        ({"id": [1], "at": pa.array([1], pa.timestamp("us"))}, "Column 'at'.*lose data"),
    ],
)
def test_refusals_name_the_column(columns, why) -> None:
    """Unknown columns, NULLs and losses are told apart."""
    with pytest.raises(InvalidError, match=why):
        conform(pa.table(columns), TABLE)


def test_a_doubled_column_is_refused() -> None:
    """Two columns of one name cannot both be meant."""
    doubled = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["id", "id"])
    with pytest.raises(InvalidError, match="'id' more than once"):
        conform(doubled, TABLE)
