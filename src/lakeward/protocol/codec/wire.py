"""Varints and tags: the primitives of the protobuf wire format."""

from __future__ import annotations

from lakeward.errors import ErrorCode

Buffer = bytes | bytearray | memoryview

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_MASK64 = (1 << 64) - 1


def write_varint(value: int) -> bytes:
    """A value of up to 64 bits, low seven bits first; negatives as 64-bit two's complement."""
    if 0 <= value < 0x80:
        return _SMALL[value]
    value &= _MASK64
    out = bytearray()
    while value > 0x7F:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_SMALL = [bytes([i]) for i in range(0x80)]


def read_varint(data: Buffer, position: int, end: int) -> tuple[int, int]:
    """The unsigned value at a position, and the position after it."""
    if position >= end:
        raise corrupt("a number is cut off")
    byte = data[position]
    position += 1
    if byte < 0x80:
        return byte, position
    value = byte & 0x7F
    shift = 7
    while True:
        if position >= end:
            raise corrupt("a number is cut off")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK64, position
        shift += 7
        if shift > 63:
            raise corrupt("a number is longer than ten bytes")


def read_length(data: Buffer, position: int, end: int) -> tuple[int, int]:
    """Start and end of a length-delimited value."""
    size, start = read_varint(data, position, end)
    if size > end - start:
        raise corrupt(f"a value claims {size} bytes where {end - start} are left")
    return start, start + size


def skip(data: Buffer, position: int, end: int, wire_type: int) -> int:
    """The position after a value we do not know."""
    if wire_type == VARINT:
        return read_varint(data, position, end)[1]
    if wire_type == LENGTH:
        return read_length(data, position, end)[1]
    width = {FIXED64: 8, FIXED32: 4}.get(wire_type)
    if width is None or end - position < width:
        raise corrupt(f"wire type {wire_type} cannot be skipped")
    return position + width


def corrupt(what: str) -> Exception:
    """The error for bytes that are not a message."""
    return ErrorCode.CORRUPT_MESSAGE.error(f"The message could not be read: {what}.")
