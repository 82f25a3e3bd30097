"""JSON: what is written is read again; whatever is done to messages, the fast decoder and a plain one agree."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
from arrow_strategies import TYPES, columns
from hypothesis import example, given
from hypothesis import strategies as st
from json_reference import BadMessageError, rows_of

from lakeward.formats.door.registry import format_of
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type

SCHEMA = Schema.of(
    [
        (name, parse_type(text))
        for name, text in {
            "id": "BIGINT",
            "n": "TINYINT NOT NULL",
            "s": "STRING",
            "d": "DECIMAL(10, 2)",
            "x": "DOUBLE",
            "ok": "BOOLEAN",
            "t": "TIMESTAMP(3)",
            "b": "BYTES",
            "a": "ARRAY<INT>",
            "m": "MAP<STRING, BIGINT>",
            "r": "ROW<id INT, s STRING, r ROW<d DECIMAL(38, 18)>>",
            "é": "STRING",
        }.items()
    ]
)

_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([0, 1, -1, 127, 128, -128, 2**53 + 1, 2**63 - 1, -(2**63), 2**63])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["1", " 2 ", "-3.5", "+4", "1e3", "NaN", "-Infinity", "true", "FALSE", "2026-11-01 12:34:56.7891"]
    )
    | st.sampled_from(
        ["2024-02-29T00:00:00", "2023-02-29 00:00:00", "2026-11-01", "AQID", "AQI=", "AQI", "\ud83d\ude00"]
    )
    | st.sampled_from(["99999999.99", "99999999.995", "0.005", "-0.015", "1e-30", "123456789012345678901.5"])
)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abidsr"), inner, max_size=3)
)
_objects = st.dictionaries(st.sampled_from([*SCHEMA.names, "other", "I", ""]), _values, max_size=8)


def _good(draw: Any) -> dict[str, Any]:
    return draw(_objects) | {"n": draw(st.integers(-128, 127))}


@st.composite
def _messages(draw: Any) -> bytes:
    """A message: right, damaged, or nothing like one."""
    row = _good(draw)
    root = draw(st.sampled_from([row, row, row, row, [row, _good(draw)], [], 1, [1, row]]))
    blank = draw(st.sampled_from([None, None, 1]))
    message = json.dumps(root, ensure_ascii=draw(st.booleans()), indent=blank).encode("utf-8", "replace")
    match draw(st.sampled_from(["right", "right", "cut", "byte", "twice", "more", "random", "two"])):
        case "cut":
            return message[: draw(st.integers(0, len(message)))]
        case "byte":
            at = draw(st.integers(0, len(message) - 1))
            return message[:at] + bytes([draw(st.integers(0, 255))]) + message[at + 1 :]
        case "twice":
            return b'{"n":5,"n":' + draw(st.sampled_from([b"6", b'"7"', b"null", b"300", b"1.0"])) + b"}"
        case "more":
            return message + draw(st.sampled_from([b" ", b"\n", b"x", b"}", b"\x00"]))
        case "random":
            return draw(st.binary(max_size=12))
        case "two":
            return message + message
        case _:
            return message


def _plain(value: Any) -> Any:
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


@given(st.lists(_messages(), max_size=6))
@example([b'{"n":1,"s":{"a" : [1, 2.50, "\\u00e9 x"]}}'])
@example([b'{"n":1,"\\u0069d":7}'])
@example([b'{"n":1,"s":"\\ud800"}', b'{"n":2}'])
@example([b"[" * 1200 + b"]" * 1200, b'{"n":3,"a":' + b"[" * 1200 + b"]" * 1200 + b"}", b'{"n":4}'])
def test_the_fast_decoder_agrees_with_a_plain_one(messages: list[bytes]) -> None:
    """Row for row and bad for bad; a bad message never takes its neighbours along."""
    found = format_of("json", SCHEMA, {}).decoder().decode(messages)
    expected, owners, bad = [], [], []
    for index, message in enumerate(messages):
        try:
            rows = rows_of(message, SCHEMA)
        except BadMessageError:
            bad.append(index)
        else:
            expected += rows
            owners += [index] * len(rows)
    assert [b.index for b in found.bad] == bad
    assert found.indexes.to_pylist() == owners
    found.rows.validate(full=True)
    read = [list(row.values()) for row in found.rows.to_pylist()]
    assert [[_plain(v) for v in row] for row in read] == [
        [_plain(_same_text(v, r, name)) for name, v, r in zip(SCHEMA.names, row, other, strict=True)]
        for row, other in zip(expected, read, strict=True)
    ]


def _same_text(expected: Any, found: Any, name: str) -> Any:
    """Texts of containers keep the numbers as they were written, and so need only mean the same."""
    if name in {"s", "é"} and isinstance(expected, str) and expected[:1] in {"{", "["} and expected != found:
        try:
            return found if _means(expected) == _means(found) else expected
        except ValueError:
            return expected
    if name == "r" and expected and found:
        return expected | {"s": _same_text(expected["s"], found["s"], "s")}
    return expected


def _means(text: str) -> Any:
    def as_text(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: as_text(inner) for key, inner in value.items()}
        return [as_text(inner) for inner in value] if isinstance(value, list) else value

    return as_text(json.loads(text, parse_int=str, parse_float=str))


@given(columns(TYPES), st.sampled_from(["SQL", "ISO-8601"]), st.booleans())
def test_what_is_written_is_read_again(made: tuple[Schema, pa.Table], standard: str, without_nulls: bool) -> None:
    """Of every type, however deep, to the last digit."""
    schema, table = made
    options = {
        "json.timestamp-format.standard": standard,
        "json.encode.ignore-null-fields": str(without_nulls).lower(),
    }
    rows = table.combine_chunks().to_batches()[0]
    found = format_of("json", schema, options)
    messages = found.encoder().encode(rows)
    for message in messages:
        json.loads(message or b"")
    read = found.decoder().decode(messages)
    assert read.bad == []
    assert read.rows.equals(rows), f"{messages}: {read.rows.to_pylist()}"
