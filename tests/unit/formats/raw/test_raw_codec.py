"""Messages as they are."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.errors import LakewardError
from lakeward.formats.door.registry import format_of
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type


@pytest.mark.parametrize(
    ("type_", "values", "messages"),
    [
        ("STRING", ["é", "", None], [b"\xc3\xa9", b"", None]),
        ("BYTES", [b"\xff"], [b"\xff"]),
        ("BIGINT", [1, None, -1], [bytes(7) + b"\x01", None, b"\xff" * 8]),
        ("DOUBLE", [1.5], [b"\x3f\xf8" + bytes(6)]),
        ("BOOLEAN", [True, False, None], [b"\x01", b"\x00", None]),
    ],
)
def test_a_message_is_a_value(type_: str, values: list[object], messages: list[bytes | None]) -> None:
    """Numbers begin with their highest byte."""
    schema = Schema.of([("c", parse_type(type_))])
    made = format_of("raw", schema, {})
    found = made.decoder().decode(messages)
    assert found.rows["c"].to_pylist() == values
    assert found.bad == []
    assert made.encoder().encode(found.rows) == messages


def test_the_order_of_bytes_can_be_chosen() -> None:
    """For those that write the lowest first."""
    schema = Schema.of([("c", parse_type("INT"))])
    made = format_of("raw", schema, {"raw.endianness": "little-endian"})
    assert made.encoder().encode(pa.record_batch({"c": pa.array([258], pa.int32())})) == [b"\x02\x01\x00\x00"]
    assert made.decoder().decode([b"\x02\x01\x00\x00"]).rows["c"].to_pylist() == [258]


def test_what_is_no_value_is_told() -> None:
    """Too many bytes, no UTF-8, none at all; tables of two columns are refused."""
    found = (
        format_of("raw", Schema.of([("c", parse_type("INT NOT NULL"))]), {}).decoder().decode([b"abc", None, bytes(4)])
    )
    assert [b.reason for b in found.bad] == [
        "column 'c' of type INT NOT NULL takes 4 bytes, and it has 3",
        "column 'c' is NOT NULL, and the message has no value",
    ]
    assert found.indexes.to_pylist() == [2]
    with pytest.raises(LakewardError, match="has one column"):
        format_of("raw", Schema.of([("a", parse_type("INT")), ("b", parse_type("INT"))]), {}).decoder()
