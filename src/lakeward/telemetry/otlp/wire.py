"""Fields of protocol buffers, as bytes; a message is its fields, joined."""

from __future__ import annotations

import struct
from collections.abc import Iterable

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _tag(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def whole(field: int, number: int) -> bytes:
    """A whole number that is not negative, a switch or a choice."""
    return _tag(field, _VARINT) + _varint(number)


def integer(field: int, number: int) -> bytes:
    """Eight bytes that are a whole number, such as a time."""
    return _tag(field, _FIXED64) + struct.pack("<Q", number)


def double(field: int, number: float) -> bytes:
    """Eight bytes that are a number with a fraction."""
    return _tag(field, _FIXED64) + struct.pack("<d", number)


def binary(field: int, data: bytes) -> bytes:
    """Bytes, or a message."""
    return _tag(field, _LENGTH) + _varint(len(data)) + data


def text(field: int, value: str) -> bytes:
    """A text."""
    return binary(field, value.encode())


def integer_list(field: int, numbers: Iterable[int]) -> bytes:
    """Whole numbers, packed."""
    return binary(field, b"".join(struct.pack("<Q", number) for number in numbers))


def double_list(field: int, numbers: Iterable[float]) -> bytes:
    """Numbers, packed."""
    return binary(field, b"".join(struct.pack("<d", number) for number in numbers))
