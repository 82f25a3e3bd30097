"""Layouts: offsets, sizes and documentation computed from one table of fields."""

from __future__ import annotations

import pytest

from lakeward.records.batch.layout import I8, I16, I32, I64, U32, Field, Layout

POINT = Layout.of(Field("kind", I8, "what"), Field("x", I32, "across"), Field("y", I64, "up"))


def test_fields_follow_each_other_without_padding() -> None:
    """A field starts where the one before it ends, whatever their widths."""
    assert [POINT.offset(name) for name in ("kind", "x", "y")] == [0, 1, 5]
    assert POINT.size == 13


def test_an_unknown_field_has_no_offset() -> None:
    """Asking for a field that is not there is our own mistake, and says so."""
    with pytest.raises(KeyError):
        POINT.offset("z")


def test_a_field_can_be_put_in_the_middle() -> None:
    """A later version of a layout is the earlier one with one more field; the rest moves behind it."""
    wider = POINT.extend(Field("z", I16, "deep"), after="x")
    assert [f.name for f in wider.fields] == ["kind", "x", "z", "y"]
    assert wider.offset("y") == POINT.offset("y") + 2
    assert POINT.size == 13


def test_numbers_are_little_endian_and_read_by_name() -> None:
    """Bytes are read from any position, least significant byte first."""
    data = b"\xff" + bytes([7, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
    assert POINT.unpack(data, 1) == {"kind": 7, "x": 1, "y": 2}


def test_unsigned_and_signed_numbers_differ() -> None:
    """A checksum is unsigned; everything else may be negative."""
    both = Layout.of(Field("crc", U32, "sum"), Field("id", I32, "number"))
    assert both.unpack(b"\xff" * 8) == {"crc": 2**32 - 1, "id": -1}


def test_the_documentation_is_printed_from_the_fields() -> None:
    """The byte table of the documentation has one row per field with its computed offset."""
    assert POINT.markdown().splitlines()[2:] == [
        "| 0 | kind | i8 | what |",
        "| 1 | x | i32 | across |",
        "| 5 | y | i64 | up |",
    ]
