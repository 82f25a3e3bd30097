"""Protocol Buffers, as much of them as Flight SQL needs: fields of numbers and of bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_URL = "type.googleapis.com/arrow.flight.protocol.sql."


class BadMessageError(Exception):
    """Bytes that are no message."""


def fields_of(data: bytes) -> dict[int, list[int | bytes]]:
    """The fields of a message by their numbers, each as often as it is there."""
    found: dict[int, list[int | bytes]] = defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            found[key >> 3].append(value)
            continue
        size, at = _varint(data, at) if kind == _BYTES else ({_FIXED64: 8, _FIXED32: 4}.get(kind, -1), at)
        if size < 0 or at + size > len(data):
            raise BadMessageError
        found[key >> 3].append(data[at : at + size])
        at += size
    return found


def text_of(fields: dict[int, list[int | bytes]], number: int) -> str | None:
    """The last text of a field; None if it is not there."""
    value = fields[number][-1] if fields.get(number) else None
    if value is None:
        return None
    try:
        return bytes_of(fields, number).decode()
    except UnicodeDecodeError:
        raise BadMessageError from None


def bytes_of(fields: dict[int, list[int | bytes]], number: int) -> bytes:
    """The last bytes of a field; none if it is not there."""
    value = fields[number][-1] if fields.get(number) else b""
    if not isinstance(value, bytes):
        raise BadMessageError
    return value


def numbers_of(fields: dict[int, list[int | bytes]], number: int) -> list[int]:
    """The numbers of a repeated field, packed or not."""
    found: list[int] = []
    for value in fields.get(number, ()):
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = _varint(value, at)
            found.append(one)
    return found


def message(fields: Iterable[tuple[int, bytes]]) -> bytes:
    """A message of fields of bytes."""
    return b"".join(_number(number << 3 | _BYTES) + _number(len(value)) + value for number, value in fields)


def enum_message(number: int, value: int) -> bytes:
    """A message of one field, a number."""
    return _number(number << 3) + _number(value)


def pack(name: str, body: bytes) -> bytes:
    """A message of Flight SQL inside an Any."""
    return message([(1, (_URL + name).encode()), (2, body)])


def unpack(data: bytes) -> tuple[str, bytes]:
    """The name and the body of what is inside an Any."""
    fields = fields_of(data)
    url = text_of(fields, 1) or ""
    if not url.startswith(_URL):
        raise BadMessageError
    return url.removeprefix(_URL), bytes_of(fields, 2)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise BadMessageError


def _number(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
