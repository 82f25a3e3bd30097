"""The three row formats: golden bytes, round trips, and damage."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, types, unhurried
from row_vectors import VECTORS, label, types_of, values_of

from lakeward.errors import CorruptError, InvalidError
from lakeward.model.data_types import ARRAY, BIGINT, CHAR, DECIMAL, INT, MAP, ROW, STRING, TIMESTAMP, TINYINT
from lakeward.model.values import Timestamp
from lakeward.records.row import aligned_row, compacted_row, indexed_row
from lakeward.records.row.row_codec import minimal_bytes

FORMATS = {"compacted": compacted_row, "indexed": indexed_row, "aligned": aligned_row}
every_format = pytest.mark.parametrize("row_format", FORMATS.values(), ids=FORMATS)


@pytest.mark.parametrize("vector", VECTORS["rows"], ids=label)
def test_rows_have_the_bytes_of_the_vectors(vector: dict) -> None:
    """A row is written byte for byte as the official client and the Java classes write it, and read back."""
    row_format = FORMATS[vector["format"]]
    types, values = types_of(vector), values_of(vector)
    assert row_format.encode_row(types, values).hex() == vector["hex"]
    assert row_format.decode_row(types, bytes.fromhex(vector["hex"])) == values


@every_format
@unhurried
@given(row=rows())
def test_rows_survive_a_round_trip(row_format, row) -> None:
    """Whatever the types, nested ones and NULLs included, what is written is read."""
    columns, values = row
    assert row_format.decode_row(columns, memoryview(row_format.encode_row(columns, values))) == values


@every_format
@unhurried
@given(columns=st.lists(types, min_size=1, max_size=5), garbage=st.binary(max_size=200))
def test_garbage_is_a_corrupt_record(row_format, columns, garbage) -> None:
    """Random bytes are either some row or CORRUPT_RECORD, never another exception."""
    with contextlib.suppress(CorruptError):
        row_format.decode_row(columns, garbage)


@every_format
@unhurried
@given(row=rows(), data=st.data())
def test_damaged_rows_are_rows_or_corrupt(row_format, row, data) -> None:
    """Flipping or cutting bytes of a good row gives a row or CORRUPT_RECORD."""
    columns, values = row
    raw = bytearray(row_format.encode_row(columns, values))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    with contextlib.suppress(CorruptError):
        row_format.decode_row(columns, bytes(raw[:cut]))


@every_format
@unhurried
@given(st.lists(st.none() | st.integers(-128, 127), max_size=100))
def test_arrays_of_any_length_survive(row_format, values) -> None:
    """The null bits of an array grow by words of 32 elements."""
    for element in (TINYINT(), INT(), BIGINT()):
        raw = row_format.encode_row([ARRAY(element)], (values,))
        assert row_format.decode_row([ARRAY(element)], raw) == (tuple(values),)


@pytest.mark.parametrize("row_format", [compacted_row, indexed_row], ids=["compacted", "indexed"])
def test_bytes_left_over_are_damage(row_format) -> None:
    """A row must end where its last field ends."""
    raw = row_format.encode_row([INT(), STRING()], (1, "x"))
    with pytest.raises(CorruptError, match="2 columns"):
        row_format.decode_row([INT(), STRING()], raw + b"\0")


def test_pointers_cannot_multiply_memory() -> None:
    """An array whose pointers all lead to one large blob is refused before it unfolds."""
    count, blob_bytes = 2000, 1 << 20
    head = count.to_bytes(4, "little") + bytes((count + 31) // 32 * 4)
    head += bytes(-len(head) % 8)
    at = len(head) + count * 8
    assert (4 + (count + 31) // 32 * 4) % 8 == 0
    pointer = blob_bytes.to_bytes(4, "little") + at.to_bytes(4, "little")
    array = head + pointer * count + bytes(blob_bytes)
    raw = bytearray(1)
    compacted_row._put_bytes(raw, array)
    with pytest.raises(CorruptError, match="pointers reach more bytes"):
        compacted_row.decode_row([ARRAY(STRING())], bytes(raw))


@every_format
@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (INT(), 2**31),
        (BIGINT(), -(2**63) - 1),
        (INT(), "1"),
        (STRING(), 5),
        (STRING(), "\ud800"),
        (DECIMAL(5, 2), DECIMAL),
        (TIMESTAMP(6), Timestamp(0, 1_000_000)),
        (MAP(STRING(), INT()), ((None, 1),)),
        (ARRAY(INT()), 7),
    ],
)
def test_unfit_values_are_named(row_format, type_, value) -> None:
    """A value its column cannot hold is refused with its place and the type."""
    with pytest.raises(InvalidError, match=r"Value 1 of the row.*does not fit"):
        row_format.encode_row([INT(), type_], (1, value))


def test_too_many_digits_are_refused() -> None:
    """A decimal is never rounded in silence."""
    from decimal import Decimal

    with pytest.raises(InvalidError, match="not exact"):
        compacted_row.encode_row([DECIMAL(5, 2)], (Decimal("1.234"),))
    with pytest.raises(InvalidError, match="not exact"):
        compacted_row.encode_row([DECIMAL(5, 2)], (Decimal("1E+999999"),))


def test_a_row_needs_all_its_values() -> None:
    """The number of values is the number of columns."""
    with pytest.raises(InvalidError, match="2 columns was given 1"):
        compacted_row.encode_row([INT(), INT()], (1,))


def test_char_is_padded_only_when_indexed() -> None:
    """An indexed CHAR(n) takes n bytes; longer text is refused, shorter comes back as it was."""
    assert indexed_row.encode_row([CHAR(5)], ("ab",)).hex() == "006162000000"
    assert indexed_row.decode_row([CHAR(5)], bytes.fromhex("006162000000")) == ("ab",)
    with pytest.raises(InvalidError, match="6 bytes are more than 5"):
        indexed_row.encode_row([CHAR(5)], ("abcdef",))


def test_maps_may_be_given_as_dicts() -> None:
    """Encoding takes a dict where decoding gives pairs."""
    type_ = ROW([("m", MAP(STRING(), INT()))])
    raw = compacted_row.encode_row([type_], (({"k": 1},),))
    assert compacted_row.decode_row([type_], raw) == (((("k", 1),),),)


@given(st.integers(-(2**127), 2**127 - 1))
def test_minimal_bytes_are_minimal(number: int) -> None:
    """One byte less would not hold the number."""
    raw = minimal_bytes(number)
    assert int.from_bytes(raw, "big", signed=True) == number
    assert len(raw) == 1 or int.from_bytes(raw[1:], "big", signed=True) != number
