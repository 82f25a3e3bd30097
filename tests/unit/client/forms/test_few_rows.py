"""A few plain rows: the short way gives what the long way gives, or leaves it to it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.forms import few_rows as module
from lakeward.client.forms.data_forms import arrow_of, batches_in
from lakeward.client.forms.few_rows import few_rows
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.records.arrow.arrow_types import conform

SCHEMA = Schema.of(parse_columns("id INT NOT NULL, big BIGINT, ok BOOLEAN, price DOUBLE, name STRING, raw BYTES")[0])
ROW: dict[str, Any] = {"id": 1, "big": 2**40, "ok": True, "price": 1.5, "name": "ä", "raw": b"\0"}
_ints = st.none() | st.integers(-(2**31), 2**31 - 1)


def _long_way(rows: list[dict[str, Any]]) -> pa.Table:
    found = [batch for piece in arrow_of(rows, SCHEMA) for batch in batches_in(conform(piece, SCHEMA))]
    return pa.Table.from_batches(found)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "id": st.integers(-(2**31), 2**31 - 1),
                "big": _ints,
                "ok": st.none() | st.booleans(),
                "price": st.none() | st.floats(allow_nan=False),
                "name": st.none() | st.text(),
                "raw": st.none() | st.binary(),
            }
        ),
        min_size=1,
        max_size=16,
    )
)
def test_both_ways_lead_to_the_same_rows(rows: list[dict[str, Any]]) -> None:
    """Same columns, same types, same values."""
    short = few_rows(rows, SCHEMA)
    if short is not None:
        assert pa.Table.from_batches([short]).equals(_long_way(rows))
        assert short.schema.equals(_long_way(rows).schema)


def test_a_dict_is_a_row() -> None:
    """One row needs no list around it, and columns no order."""
    turned = dict(reversed(ROW.items()))
    assert few_rows(turned, SCHEMA) == few_rows([ROW], SCHEMA)
    assert few_rows(ROW, SCHEMA) is not None


@pytest.mark.parametrize(
    "data",
    [
        [],
        [ROW] * 17,
        ROW | {"id": None},
        ROW | {"id": 2**31},
        ROW | {"id": True},
        ROW | {"price": 1},
        ROW | {"name": "\ud800"},
        ROW | {"more": 1},
        {name: value for name, value in ROW.items() if name != "raw"},
        {**{name: value for name, value in ROW.items() if name != "raw"}, "row": b""},
        [ROW, 5],
        {name: [value] for name, value in ROW.items()},
        "rows",
    ],
)
def test_what_is_not_plain_is_left_to_the_long_way(data: Any) -> None:
    """Which casts it, or says what is wrong with it."""
    assert few_rows(data, SCHEMA) is None


def test_schemas_with_other_types_are_left_to_it() -> None:
    """Moments, decimals and nested values want a closer look."""
    schema = Schema.of(parse_columns("id INT, at TIMESTAMP(3)")[0])
    assert few_rows({"id": 1, "at": None}, schema) is None


def test_plans_are_bounded() -> None:
    """A client that sees thousands of tables keeps a few plans."""
    for _ in range(200):
        few_rows({"id": 1}, Schema.of(parse_columns("id INT")[0]))
    assert len(module._plans) <= 64
