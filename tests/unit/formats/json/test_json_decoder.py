"""Messages of JSON → rows: what is read as what, and what is said of the rest."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from lakeward.formats.door.registry import format_of
from lakeward.formats.port import Decoded
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type


def read(types: dict[str, str], *messages: bytes | None, **options: str) -> Decoded:
    """The rows of messages."""
    schema = Schema.of([(name, parse_type(text)) for name, text in types.items()])
    keys = {f"json.{name.replace('_', '-')}": value for name, value in options.items()}
    return format_of("json", schema, keys).decoder().decode(messages)


def one(type_: str, value: str) -> Any:
    """What a value is read as."""
    found = read({"c": type_}, f'{{"c":{value}}}'.encode())
    assert found.bad == []
    return found.rows["c"][0].as_py()


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("STRING", "12.50", "12.50"),
        ("STRING", "true", "true"),
        ("STRING", '{ "a" : [1, " x"] }', '{"a":[1," x"]}'),
        ("STRING", r'"\u00e9\ud83d\ude00\n"', "é😀\n"),
        ("BIGINT", "9007199254740993", 9007199254740993),
        ("BIGINT", '" -9223372036854775808 "', -(2**63)),
        ("INT", "1e3", 1000),
        ("INT", "7.0", 7),
        ("DECIMAL(20, 2)", "123456789012345678.125", Decimal("123456789012345678.13")),
        ("DECIMAL(20, 2)", '"-0.005"', Decimal("-0.01")),
        ("DOUBLE", '"-Infinity"', float("-inf")),
        ("BOOLEAN", '"TRUE"', True),
        ("BOOLEAN", "0", False),
        ("MAP<INT, STRING>", '{"1":"a","2":null,"1":"b"}', [(1, "b"), (2, None)]),
        ("ROW<a INT, b STRING>", '{"b":3,"z":{}}', {"a": None, "b": "3"}),
    ],
)
def test_a_value_is_read_as_what_its_column_says(type_: str, value: str, expected: object) -> None:
    """Numbers are their own text in a text column, texts are read as numbers, and nothing is rounded in between."""
    assert one(type_, value) == expected


@pytest.mark.parametrize(
    ("type_", "value", "shown"),
    [
        ("TINYINT", "128", "128"),
        ("BIGINT", "9223372036854775808", "9223372036854775808"),
        ("INT", "1.5", "1.5"),
        ("INT", '""', "''"),
        ("DOUBLE", "1e999", "1e999"),
        ("FLOAT", "1e39", "1e39"),
        ("DECIMAL(4, 2)", "99.995", "99.995"),
        ("BOOLEAN", '"yes"', "'yes'"),
        ("TIMESTAMP(3)", "1700000000000", "1700000000000"),
        ("BINARY(2)", '"AQID"', "'AQID'"),
        ("ARRAY<INT>", '{"a":1}', '{"a":1}'),
    ],
)
def test_a_value_that_does_not_fit_is_told_with_its_column(type_: str, value: str, shown: str) -> None:
    """The message is bad, and those beside it are not."""
    found = read({"c": type_}, b'{"c":null}', f'{{"c":{value}}}'.encode(), b"{}")
    assert [(b.index, b.reason) for b in found.bad] == [
        (1, f"column 'c' of type {parse_type(type_)} cannot hold {shown}")
    ]
    assert found.indexes.to_pylist() == [0, 2]
    assert found.rows["c"].to_pylist() == [None, None]


def test_what_is_inside_a_value_is_told_with_its_path() -> None:
    """Of rows in rows and of items in lists."""
    found = read({"r": "ROW<a ARRAY<INT>>"}, b'{"r":{"a":[1,"x"]}}')
    assert found.bad[0].reason == "column 'r.a[]' of type INT cannot hold 'x'"


def test_messages_that_are_no_rows_are_told_apart() -> None:
    """Empty, not JSON, not UTF-8, not an object; a message without a value is no row and not bad."""
    found = read({"c": "INT"}, None, b"", b'{"c":1', b'{"c":"\xff"}', b"17", b'{"c":1} {"c":2}', b'{"c":NaN}')
    reasons = {bad.index: bad.reason for bad in found.bad}
    assert reasons[1] == "it is empty"
    assert reasons[2].startswith("it is not JSON: Expecting ',' delimiter")
    assert reasons[3] == "it is not UTF-8: byte 6 is 0xff"
    assert reasons[4] == "it is not an object: '17'"
    assert reasons[5].startswith("it is not JSON: Extra data")
    assert set(reasons) == {1, 2, 3, 4, 5, 6}
    assert found.rows.num_rows == 0


def test_an_array_is_several_rows() -> None:
    """Each knows the message that it came from, also between others."""
    found = read({"c": "INT"}, b'{"c":1}', b'[{"c":2},{"c":3}]', b"[]", b'{"c":4}', b'[{"c":5},6]')
    assert found.rows["c"].to_pylist() == [1, 2, 3, 4]
    assert found.indexes.to_pylist() == [0, 1, 1, 3]
    assert [bad.index for bad in found.bad] == [4]


def test_a_column_that_is_not_null_needs_a_value() -> None:
    """Also inside of rows, where there is a row."""
    types = {"id": "INT NOT NULL", "r": "ROW<a INT NOT NULL>"}
    found = read(types, b'{"id":1}', b'{"id":null}', b'{"id":2,"r":{}}')
    assert [(b.index, b.reason) for b in found.bad] == [
        (1, "column 'id' is NOT NULL, and there is no value for it"),
        (2, "column 'r.a' is NOT NULL, and there is no value for it"),
    ]


def test_errors_can_be_ignored() -> None:
    """A value that does not fit is NULL; a message that is no row is told of still, for those who count."""
    found = read({"c": "INT", "s": "STRING"}, b'{"c":"x","s":"a"}', b"nothing", ignore_parse_errors="true")
    assert found.rows.to_pylist() == [{"c": None, "s": "a"}]
    assert [b.index for b in found.bad] == [1]


def test_a_field_that_is_missing_can_be_an_error() -> None:
    """NULL is not missing."""
    found = read({"c": "INT"}, b'{"c":null}', b"{}", fail_on_missing_field="true")
    assert [(b.index, b.reason) for b in found.bad] == [(1, "there is no field 'c'")]
