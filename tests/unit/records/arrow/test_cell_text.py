"""Values as text."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from lakeward.records.arrow.cell_text import cell_writer, hex_text, is_number, is_text, json_writer, values_of

_CASES = [
    (pa.array([True]), "true", "true"),
    (pa.array([0.1], pa.float32()), "0.1", "0.1"),
    (pa.array([float("inf")]), "Infinity", '"Infinity"'),
    (pa.array([float("nan")]), "NaN", '"NaN"'),
    (pa.array([Decimal("0.0000000001")], pa.decimal128(20, 10)), "0.0000000001", "0.0000000001"),
    (pa.array([0], pa.date32()), "1970-01-01", '"1970-01-01"'),
    (pa.array([1], pa.time32("ms")), "00:00:00.001", '"00:00:00.001"'),
    (pa.array([1], pa.timestamp("ns")), "1970-01-01 00:00:00.000000001", '"1970-01-01T00:00:00.000000001"'),
    (pa.array([-1], pa.timestamp("ms", "UTC")), "1969-12-31 23:59:59.999Z", '"1969-12-31T23:59:59.999Z"'),
    (pa.array([-62_135_596_800], pa.timestamp("s")), "0001-01-01 00:00:00", '"0001-01-01T00:00:00"'),
    (pa.array([b"hi"]), "aGk=", '"aGk="'),
    (pa.array(["ä\n"]), "ä\n", '"ä\\n"'),
    (pa.array([[1, None]]), "[1, null]", "[1, null]"),
    (pa.array([{"a": 1, "b": "x"}]), '{"a": 1, "b": "x"}', '{"a": 1, "b": "x"}'),
    (pa.array([[(1, 0)]], pa.map_(pa.int32(), pa.date32())), '{"1": "1970-01-01"}', '{"1": "1970-01-01"}'),
]


@pytest.mark.parametrize(("column", "cell", "as_json"), _CASES, ids=lambda x: str(getattr(x, "type", "")))
def test_a_value_has_one_text(column: pa.Array, cell: str, as_json: str) -> None:
    """Cells and JSON show a value of each type in one exact way."""
    (value,) = values_of(column)
    assert cell_writer(column.type)(value) == cell
    assert json_writer(column.type)(value) == as_json


def test_a_time_outside_the_calendar_is_still_shown() -> None:
    """A date that Python cannot hold is no reason to stop."""
    column = pa.array([10_000_000], pa.date32())
    assert cell_writer(column.type)(values_of(column)[0]) == "864000000000/1 s"


def test_numbers_and_texts_are_told_apart() -> None:
    """Numbers stand right, texts may be cut, times are neither."""
    assert is_number(pa.int8())
    assert is_number(pa.decimal128(5, 2))
    assert is_text(pa.string())
    assert is_text(pa.list_(pa.int8()))
    assert not is_text(pa.timestamp("ms"))
    assert not is_number(pa.timestamp("ms"))


def test_bytes_can_be_had_in_hexadecimal_digits_inside_of_nested_values_too() -> None:
    """Who looks at bytes sees their digits; the text of files stays base64."""
    assert cell_writer(pa.binary(), hex_text)(b"\x00\xff") == "0x00ff"
    nested = pa.list_(pa.map_(pa.string(), pa.binary()))
    assert cell_writer(nested, hex_text)([[("a", b"\x01")]]) == '[{"a": "0x01"}]'
    assert cell_writer(nested)([[("a", b"\x01")]]) == '[{"a": "AQ=="}]'
