"""MySQL's form of JSON, by hand after its description."""

from __future__ import annotations

import struct

import pytest

from lakeward.capture.mysql.cells.json_binary import json_text

#: {"a": 1, "b": [true, null, "x"], "c": 1.5}, small form.
KEYS = b"abc"


def _string(text: str) -> bytes:
    return bytes([len(text.encode())]) + text.encode()


def _small_array() -> bytes:
    body = _string("x")
    head = struct.pack("<HH", 3, 4 + 9 + len(body))
    literals = b"\x04" + struct.pack("<H", 1) + b"\x04" + struct.pack("<H", 0)
    return head + literals + b"\x0c" + struct.pack("<H", 13) + body


def _small_object() -> bytes:
    array, double = _small_array(), struct.pack("<d", 1.5)
    keys_at = 4 + 3 * 4 + 3 * 3
    values_at = keys_at + 3
    keys = b"".join(struct.pack("<HH", keys_at + i, 1) for i in range(3))
    values = b"\x05" + struct.pack("<h", -1)
    values += b"\x02" + struct.pack("<H", values_at) + b"\x0b" + struct.pack("<H", values_at + len(array))
    size = values_at + len(array) + len(double)
    return struct.pack("<HH", 3, size) + keys + values + KEYS + array + double


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (b"\x00" + _small_object(), '{"a": -1, "b": [true, null, "x"], "c": 1.5}'),
        (b"\x02" + _small_array(), '[true, null, "x"]'),
        (b"\x04\x02", "false"),
        (b"\x0a" + b"\xff" * 8, str(2**64 - 1)),
        (b"\x09" + struct.pack("<q", -(2**63)), str(-(2**63))),
        (b"\x0c" + _string('é "q"'), '"é \\"q\\""'),
        (b"\x0f\xf6\x05\x05\x02\x80\x01\x19", "1.25"),
        (b"\x0f\x0a\x08" + struct.pack("<q", ((2024 * 13 + 2) << 5 | 29) << 17 << 24), '"2024-02-29"'),
        (b"", "null"),
    ],
)
def test_a_document_is_written_as_the_server_writes_it(document: bytes, text: str) -> None:
    """Objects, arrays, literals, numbers, texts, decimals and dates."""
    assert json_text(document) == text
