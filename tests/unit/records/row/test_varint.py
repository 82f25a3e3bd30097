"""Variable-length integers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.records.row import varint

I32 = st.integers(-(2**31), 2**31 - 1)
I64 = st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("value", "as_i32", "as_i64"),
    [
        (0, "00", "00"),
        (127, "7f", "7f"),
        (128, "8001", "8001"),
        (300, "ac02", "ac02"),
        (-1, "ffffffff0f", "ffffffffffffffffff01"),
    ],
)
def test_known_bytes(value: int, as_i32: str, as_i64: str) -> None:
    """The table of the specification."""
    short, long = bytearray(), bytearray()
    varint.put_i32(short, value)
    varint.put_i64(long, value)
    assert (short.hex(), long.hex()) == (as_i32, as_i64)


@given(I32, st.binary(max_size=3))
def test_i32_survives_a_round_trip(value: int, before: bytes) -> None:
    """Any 32-bit integer is read where it was written."""
    out = bytearray(before)
    varint.put_i32(out, value)
    assert varint.get_i32(bytes(out), len(before)) == (value, len(out))


@given(I64)
def test_i64_survives_a_round_trip(value: int) -> None:
    """Any 64-bit integer is read as it was written."""
    out = bytearray()
    varint.put_i64(out, value)
    assert varint.get_i64(bytes(out), 0) == (value, len(out))


def test_an_endless_integer_is_refused() -> None:
    """More continuation bytes than the width allows are damage."""
    with pytest.raises(ValueError, match="longer than 5"):
        varint.get_i32(b"\x80" * 20, 0)
    with pytest.raises(IndexError):
        varint.get_i64(b"\x80" * 3, 0)


def test_numbers_too_wide_are_refused() -> None:
    """A value is never cut to the width."""
    with pytest.raises(OverflowError):
        varint.put_i32(bytearray(), 2**31)
    with pytest.raises(OverflowError):
        varint.put_i64(bytearray(), 2**63)
