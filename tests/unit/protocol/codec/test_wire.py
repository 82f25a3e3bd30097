"""Varints, tags and lengths: the primitives of the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError
from lakeward.protocol.codec.wire import FIXED32, FIXED64, LENGTH, VARINT, read_length, read_varint, skip, write_varint


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (0, "00"),
        (1, "01"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        (2**32 - 1, "ffffffff0f"),
        (2**63 - 1, "ffffffffffffffff7f"),
        (-1, "ffffffffffffffffff01"),
        (-(2**63), "80808080808080808001"),
    ],
)
def test_numbers_have_the_bytes_of_protobuf(value: int, data: str) -> None:
    """Seven bits a byte, lowest first; negatives take ten bytes."""
    assert write_varint(value).hex() == data
    assert read_varint(bytes.fromhex(data), 0, len(data) // 2) == (value % 2**64, len(data) // 2)


@given(st.integers(-(2**63), 2**64 - 1), st.binary(max_size=5), st.binary(max_size=5))
def test_any_number_is_read_where_it_stands(value: int, before: bytes, after: bytes) -> None:
    """The value and the position after it are found in the middle of other bytes."""
    number = write_varint(value)
    data = before + number + after
    assert read_varint(data, len(before), len(data)) == (value % 2**64, len(before) + len(number))


@pytest.mark.parametrize("data", ["", "80", "ff", "ffffffffffffffffffff01", "8080808080808080808080"])
def test_numbers_that_do_not_end_are_corrupt(data: str) -> None:
    """A number is cut off, or longer than ten bytes."""
    with pytest.raises(CorruptError):
        read_varint(bytes.fromhex(data), 0, len(data) // 2)


def test_a_number_stops_at_its_limit() -> None:
    """Bytes behind the end of the enclosing message are not read, though they are there."""
    with pytest.raises(CorruptError):
        read_varint(b"\x80\x01", 0, 1)


@pytest.mark.parametrize("data", ["05abcd", "ffffffff0f", "ffffffffffffffffff01"])
def test_lengths_that_reach_too_far_are_corrupt(data: str) -> None:
    """A value cannot be longer than what is left."""
    with pytest.raises(CorruptError):
        read_length(bytes.fromhex(data), 0, len(data) // 2)


def test_a_length_gives_start_and_end() -> None:
    """Also of nothing."""
    assert read_length(b"\x03abc", 0, 4) == (1, 4)
    assert read_length(b"\x00", 0, 1) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "data", "size"),
    [(VARINT, "ac02ff", 2), (FIXED64, "00" * 9, 8), (FIXED32, "00" * 9, 4), (LENGTH, "02abcdef", 3)],
)
def test_unknown_values_are_stepped_over(kind: int, data: str, size: int) -> None:
    """Each kind of value knows its own end."""
    assert skip(bytes.fromhex(data), 0, len(data) // 2, kind) == size


@pytest.mark.parametrize(
    ("kind", "data"), [(FIXED64, "00" * 7), (FIXED32, "000000"), (3, ""), (4, "00"), (6, "00"), (7, "00")]
)
def test_values_that_cannot_be_stepped_over_are_corrupt(kind: int, data: str) -> None:
    """Cut-off values, and kinds that no message of ours uses."""
    with pytest.raises(CorruptError):
        skip(bytes.fromhex(data), 0, len(data) // 2, kind)
