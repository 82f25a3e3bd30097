"""Partition values read back from names."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.model.partition import value_text
from lakeward.model.partition_text import value_of_text
from lakeward.model.values import Timestamp

TIMESTAMPS = st.builds(Timestamp, st.integers(-(10**15), 10**15), st.integers(0, 999_999))
FLOATS = st.floats(width=32, allow_nan=False)
TYPED = [
    (t.BOOLEAN(), st.booleans()),
    (t.TINYINT(), st.integers(-128, 127)),
    (t.INT(), st.integers(-(2**31), 2**31 - 1)),
    (t.BIGINT(), st.integers(-(2**63), 2**63 - 1)),
    (t.FLOAT(), FLOATS),
    (t.DOUBLE(), st.floats(allow_nan=False)),
    (t.STRING(), st.text("aZ09_-", min_size=1)),
    (t.BINARY(3), st.binary(min_size=3, max_size=3)),
    (t.BYTES(), st.binary(min_size=1)),
    (t.DATE(), st.integers(-(10**7), 10**7)),
    (t.TIME(3), st.integers(0, 86_399_999)),
    (t.TIMESTAMP(9), TIMESTAMPS),
    (t.TIMESTAMP_LTZ(9), TIMESTAMPS),
]


@pytest.mark.parametrize(("type_", "values"), TYPED, ids=lambda v: str(v) if isinstance(v, t.DataType) else "")
@pytest.mark.parametrize("follow_pyfluss", [False, True])
def test_every_text_gives_its_value_back(type_: t.DataType, values: st.SearchStrategy, follow_pyfluss: bool) -> None:
    """Java's texts and pyfluss' are both understood."""

    @given(values)
    def check(value: object) -> None:
        text = value_text(type_, value, follow_pyfluss=follow_pyfluss)
        read = value_of_text(type_, text)
        assert read == value
        assert not isinstance(value, float) or struct.pack("<d", read) == struct.pack("<d", value)

    check()


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (t.INT(), "eu"),
        (t.INT(), "1_0"),
        (t.INT(), "01"),
        (t.BOOLEAN(), "yes"),
        (t.BYTES(), "abc"),
        (t.DATE(), "2024-02-30"),
        (t.DATE(), "2024-2-3"),
        (t.TIME(3), "25-00-00_000"),
        (t.TIMESTAMP(3), "2024-01-01"),
        (t.DOUBLE(), "1_0_0"),
        (t.DECIMAL(4, 2), "1_00"),
    ],
)
def test_what_no_value_is_named_is_refused(type_: t.DataType, text: str) -> None:
    """A name that nobody gives to a value is not guessed at."""
    with pytest.raises(InvalidError, match="is no value of a column"):
        value_of_text(type_, text)
