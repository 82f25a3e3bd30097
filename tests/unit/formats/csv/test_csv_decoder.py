"""Lines of CSV → rows."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from lakeward.errors import LakewardError
from lakeward.formats.door.registry import format_of
from lakeward.formats.port import Decoded
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type


def schema(*types: str) -> Schema:
    """Columns a, b, c … of these types."""
    return Schema.of([(name, parse_type(text)) for name, text in zip("abcdef", types, strict=False)])


def read(types: list[str], *lines: bytes | None, **options: str) -> Decoded:
    """The rows of lines."""
    keys = {f"csv.{name.replace('_', '-')}": value for name, value in options.items()}
    return format_of("csv", schema(*types), keys).decoder().decode(lines)


def values(found: Decoded) -> list[tuple[Any, ...]]:
    """The rows as tuples; nothing was bad."""
    assert found.bad == []
    return [tuple(row.values()) for row in found.rows.to_pylist()]


def test_fields_are_columns_in_order() -> None:
    """Quotes, doubled quotes, ends of lines, numbers with blanks around them; nothing at all is NULL."""
    types = ["INT", "STRING", "DECIMAL(6, 2)", "TIMESTAMP(3)", "ARRAY<INT>"]
    found = read(types, b'1,"a ""b"", c",2.50,2026-11-01 10:00:00.5,1;2\r\n', b' 2 ,"",,,\n')
    moment = dt.datetime(2026, 11, 1, 10, 0, 0, 500_000)
    assert values(found) == [(1, 'a "b", c', Decimal("2.50"), moment, [1, 2]), (2, "", None, None, None)]


def test_lines_that_do_not_fit_are_told() -> None:
    """Each for itself."""
    found = read(["INT", "STRING"], b"1,a", b"x,b", b"1", b"1,2,3", b'1,"a', b'1,"a"b', b"", b"2,c\xff", b"3,c")
    assert found.rows["a"].to_pylist() == [1, 3]
    assert [(b.index, b.reason) for b in found.bad] == [
        (1, "column 'a' of type INT cannot hold 'x'"),
        (2, "it has 1 fields, and the table 2 columns"),
        (3, "it has 3 fields, and the table 2 columns"),
        (4, "a quote is not closed"),
        (5, "there is something between a closing quote and the next field"),
        (6, "it is empty"),
        (7, "it is not UTF-8: byte 3 is 0xff"),
    ]


def test_what_separates_can_be_chosen() -> None:
    """Delimiter, quote, escape, NULL, elements, comments."""
    options = {
        "field_delimiter": "\\t",
        "quote_character": "'",
        "escape_character": "\\\\",
        "null_literal": "n/a",
        "array_element_delimiter": "|",
        "allow_comments": "true",
    }
    found = read(["STRING", "STRING", "ARRAY<STRING>"], b"# a line", b"'a\tb'\tn/a\tx|y", b"a\\\tb\t\tz", **options)
    assert values(found) == [("a\tb", None, ["x", "y"]), ("a\tb", "", ["z"])]
    assert found.indexes.to_pylist() == [1, 2]


def test_errors_can_be_ignored() -> None:
    """A field that does not fit is NULL, a line that is none is told of still."""
    found = read(["INT", "STRING"], b"x,a", b"1", ignore_parse_errors="true")
    assert [tuple(row.values()) for row in found.rows.to_pylist()] == [(None, "a")]
    assert [b.index for b in found.bad] == [1]


def test_what_no_field_can_hold_is_refused() -> None:
    """Maps and rows; and a delimiter of two characters."""
    with pytest.raises(LakewardError, match=r"Column 'a' is of type MAP.*take 'json'"):
        read(["MAP<STRING, INT>"])
    with pytest.raises(LakewardError, match="not one character"):
        read(["INT"], field_delimiter="||")
