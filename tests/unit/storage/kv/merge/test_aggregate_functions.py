"""Aggregate functions, against what Apache Fluss's own classes answered."""

from __future__ import annotations

import json
import math
import struct
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_tables import INT, STRING, PkTable, Row, column

from lakeward.errors import ErrorCode, InvalidError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.type_text import parse_type
from lakeward.model.values import Timestamp
from lakeward.storage.kv.merge.aggregate_functions import combine_of
from lakeward.storage.kv.merge.row_merger import Fate

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[4] / "data" / "vectors.json").read_text())[
    "aggregate_functions"
]
FORMATS = ["COMPACTED", "INDEXED"]


def merged(type_: DataType, function: str, old: Any, new: Any, kv_format: str = "COMPACTED", **parameters: str) -> Any:
    """What a column of an aggregation table makes of two cells."""
    columns = [("k", INT), column("v", type_, function, **parameters)]
    properties = {"table.merge-engine": "aggregation", "table.kv.format": kv_format}
    outcome: Row | Fate = PkTable(columns, properties=properties).upsert((1, old), (1, new))
    assert not isinstance(outcome, Fate)
    return outcome[1]


@pytest.mark.parametrize("kv_format", FORMATS)
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v['function']} {v['type']} {v['acc']} {v['input']}")
def test_functions_answer_as_those_of_apache_fluss(vector: dict[str, Any], kv_format: str) -> None:
    """Each vector was executed with Apache Fluss's classes."""
    type_ = parse_type(vector["type"])
    decimal = type_.root is TypeRoot.DECIMAL
    old, new, result = (
        Decimal(v) if decimal and v is not None else v for v in (vector["acc"], vector["input"], vector["result"])
    )
    name, _, rest = vector["function"].partition("(delimiter=")
    parameters = {"delimiter": rest[:-1]} if rest else {}
    assert merged(type_, name, old, new, kv_format, **parameters) == result


@pytest.mark.parametrize(
    ("type_", "function", "old", "new", "result"),
    [
        (t.TINYINT(), "sum", 127, 1, -128),
        (t.SMALLINT(), "sum", -32768, -1, 32767),
        (t.BIGINT(), "sum", 2**63 - 1, 1, -(2**63)),
        (t.TINYINT(), "product", 100, 3, 44),
        (t.INT(), "product", 2**30, 4, 0),
        (t.BIGINT(), "product", 2**62, -2, -(2**63)),
        (t.DOUBLE(), "sum", 1e308, 1e308, math.inf),
        (t.DOUBLE(), "product", -1e300, 1e300, -math.inf),
        (t.FLOAT(), "sum", 3e38, 3e38, math.inf),
        (t.FLOAT(), "product", -3e38, 10.0, -math.inf),
        (t.DECIMAL(4, 2), "product", Decimal("99.99"), Decimal("99.99"), None),
        (t.DECIMAL(4, 2), "product", Decimal("0.05"), Decimal("0.50"), Decimal("0.03")),
        (t.DECIMAL(4, 2), "product", Decimal("-0.05"), Decimal("0.50"), Decimal("-0.03")),
        (t.DECIMAL(4, 2), "product", Decimal("0.04"), Decimal("0.12"), Decimal("0.00")),
        (t.DECIMAL(22, 2), "product", Decimal("1.05"), Decimal("-2.10"), Decimal("-2.21")),
        (t.DECIMAL(22, 2), "product", Decimal("1e15"), Decimal("1e15"), None),
        (t.DECIMAL(22, 2), "sum", Decimal("-1.00"), Decimal("0.50"), Decimal("-0.50")),
        (t.DECIMAL(18, 0), "sum", Decimal(10**18 - 1), Decimal(-(10**18) + 1), Decimal(0)),
        (t.CHAR(3), "max", "ab", "b", "b"),
        (t.CHAR(3), "min", "ab", "b", "ab"),
        (t.DATE(), "min", 3, -2, -2),
        (t.TIME(3), "max", 3, 2, 3),
        (t.TIMESTAMP(3), "max", Timestamp(-5), Timestamp(4), Timestamp(4)),
        (t.TIMESTAMP_LTZ(6), "min", Timestamp(4, 2000), Timestamp(4, 1000), Timestamp(4, 1000)),
        (t.DECIMAL(30, 1), "max", Decimal("-12345678901234567890.0"), Decimal("0.1"), Decimal("0.1")),
        (t.DECIMAL(5, 1), "min", Decimal("-1.5"), Decimal("0.1"), Decimal("-1.5")),
        (t.BOOLEAN(), "bool_and", True, True, True),
        (t.BOOLEAN(), "bool_or", False, True, True),
        (t.BOOLEAN(), "bool_or", False, False, False),
        (t.BOOLEAN(), "bool_or", None, False, False),
        (STRING, "string_agg", "a", "b", "a,b"),
        (STRING, "listagg", "ü", "", "ü,"),
        (t.CHAR(5), "listagg", "ab", "c", "ab,c"),
        (t.ARRAY(INT), "first_value", (1, None), (2,), (1, None)),
        (t.ROW([("a", INT)]), "last_value", (1,), None, None),
        (t.MAP(STRING, INT), "last_value_ignore_nulls", (("a", 1),), None, (("a", 1),)),
    ],
)
@pytest.mark.parametrize("kv_format", FORMATS)
def test_a_cell_and_a_new_cell_make(
    type_: DataType, function: str, old: Any, new: Any, result: Any, kv_format: str
) -> None:
    """The rules of each function, type by type and in both row formats."""
    assert merged(type_, function, old, new, kv_format) == result


@pytest.mark.parametrize("type_", [t.FLOAT(), t.DOUBLE()], ids=str)
def test_floating_numbers_have_one_order(type_: DataType) -> None:
    """−infinity, −0.0, 0.0, infinity, NaN: from the smallest to the largest, as Java compares them."""
    numbers = [-math.inf, -1.5, -0.0, 0.0, 2.5, math.inf, math.nan]
    for i, a in enumerate(numbers):
        for j, b in enumerate(numbers):
            assert _bits(merged(type_, "max", a, b)) == _bits(numbers[max(i, j)])
            assert _bits(merged(type_, "min", a, b)) == _bits(numbers[min(i, j)])


def _bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(st.floats(width=32), st.floats(width=32))
def test_sums_of_float_are_rounded_to_float(a: float, b: float) -> None:
    """A FLOAT column adds and multiplies as 32-bit numbers do, overflow included."""
    with np.errstate(all="ignore"):
        total, product = np.float32(a) + np.float32(b), np.float32(a) * np.float32(b)
    assert _bits(merged(t.FLOAT(), "sum", a, b)) == _bits(float(total) if total == total else math.nan)
    assert _bits(merged(t.FLOAT(), "product", a, b)) == _bits(float(product) if product == product else math.nan)


@given(st.integers(-(10**13), 10**13), st.integers(-(10**13), 10**13))
def test_long_decimals_multiply_exactly(a: int, b: int) -> None:
    """A product is rounded half up to the scale of its column, and NULL when it has too many digits."""
    x, y = Decimal(a).scaleb(-3), Decimal(b).scaleb(-3)
    rounded = (x * y).quantize(Decimal("0.001"), ROUND_HALF_UP)
    assert merged(t.DECIMAL(22, 3), "product", x, y) == (rounded if abs(rounded) < 10**19 else None)


@pytest.mark.parametrize("function", ["rbm32", "rbm64"])
def test_bitmaps_unite(function: str) -> None:
    """A bitmap column holds the union of what was written; NULL adds nothing."""
    vectors = json.loads((Path(__file__).parents[4] / "data" / "vectors.json").read_text())["roaring"]
    (data,) = (bytes.fromhex(v["hex"]) for v in vectors if v["function"] == function)
    assert merged(t.BYTES(), function, data, data) == data
    assert merged(t.BYTES(), function, None, data) == data
    assert merged(t.BYTES(), function, data, None) == data


@pytest.mark.parametrize("function", ["rbm32", "rbm64"])
@pytest.mark.parametrize("old", [None, (1, None)], ids=["first row", "no bitmap yet"])
def test_what_is_no_bitmap_never_gets_in(function: str, old: Row | None) -> None:
    """Bytes that are no bitmap are refused with the column's name, before they could block the key for good."""
    table = PkTable([("k", INT), column("seen", t.BYTES(), function)], properties={"table.merge-engine": "aggregation"})
    with pytest.raises(InvalidError, match=rf"'seen'.*'{function}'") as caught:
        table.upsert(old, (1, b"no bitmap"))
    assert caught.value.code is ErrorCode.INVALID_TARGET_COLUMN


def test_text_that_outgrows_its_column_is_refused() -> None:
    """CHAR in the INDEXED format has a width; a list that does not fit it is an error, not a cut."""
    with pytest.raises(InvalidError, match="does not fit"):
        merged(t.CHAR(3), "listagg", "ab", "c", "INDEXED")


def test_unknown_functions_are_named() -> None:
    """A function that nobody knows is told with its column."""
    with pytest.raises(InvalidError, match=r"'v'.*'median'"):
        combine_of(column("v", INT, "median"))
