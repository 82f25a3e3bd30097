"""MySQL's binary form of JSON → the text that its server writes. (MariaDB keeps JSON as text.)

A document is a byte of type and a value. Objects and arrays are tables of places, with two bytes a place or four;
small values stand in the table itself.
"""

from __future__ import annotations

import base64
import json
import struct

from lakeward.capture.mysql.cells.packed_decimal import decimal_text

_SMALL_OBJECT, _LARGE_OBJECT, _LARGE_ARRAY, _LITERAL = 0, 1, 3, 4
_NUMBERS = {5: "<h", 6: "<H", 7: "<i", 8: "<I", 9: "<q", 10: "<Q"}
_LITERALS = ("null", "true", "false")
_DECIMAL, _DATE, _TIME, _MOMENTS = 246, 10, 11, {7, 12}
#: Types whose value stands in the table of places: always, and where places have four bytes.
_SHORT, _SHORT_IN_LARGE = {_LITERAL, 5, 6}, {_LITERAL, 5, 6, 7, 8}


def json_text(document: bytes) -> str:
    """The text of a document; an empty one is what an old server made of NULL."""
    return _value(document[0], document, 1) if document else "null"


def _value(kind: int, data: bytes, at: int) -> str:
    match kind:
        case 0 | 1 | 2 | 3:
            return _container(kind, data, at)
        case 4:
            return _LITERALS[data[at]]
        case number if number in _NUMBERS:
            return str(struct.unpack_from(_NUMBERS[number], data, at)[0])
        case 11:
            return _double(struct.unpack_from("<d", data, at)[0])
        case 12:
            length, at = _length(data, at)
            return json.dumps(data[at : at + length].decode(), ensure_ascii=False)
        case _:
            length, begin = _length(data, at + 1)
            return _opaque(data[at], data[begin : begin + length])


def _container(kind: int, data: bytes, at: int) -> str:
    large, is_object = kind in {_LARGE_OBJECT, _LARGE_ARRAY}, kind in {_SMALL_OBJECT, _LARGE_OBJECT}
    place, width = ("<I", 4) if large else ("<H", 2)
    count = struct.unpack_from(place, data, at)[0]
    keys_at = at + 2 * width
    values_at = keys_at + (count * (width + 2) if is_object else 0)
    values = []
    for index in range(count):
        entry = values_at + index * (width + 1)
        inline = data[entry] in (_SHORT_IN_LARGE if large else _SHORT)
        where = entry + 1 if inline else at + struct.unpack_from(place, data, entry + 1)[0]
        values.append(_value(data[entry], data, where))
    if not is_object:
        return f"[{', '.join(values)}]"
    pairs = []
    for index, value in enumerate(values):
        entry = keys_at + index * (width + 2)
        begin, length = at + struct.unpack_from(place, data, entry)[0], struct.unpack_from("<H", data, entry + width)[0]
        pairs.append(f"{json.dumps(data[begin : begin + length].decode(), ensure_ascii=False)}: {value}")
    return f"{{{', '.join(pairs)}}}"


def _length(data: bytes, at: int) -> tuple[int, int]:
    """A length of seven bits a byte, and where it ends."""
    length, shift = 0, 0
    while True:
        byte = data[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return length, at


def _double(value: float) -> str:
    text = repr(value)
    return text.replace("e+", "e") if "e" in text else text


def _opaque(kind: int, value: bytes) -> str:
    """Values that JSON has no words for: decimals, dates and times; other bytes in base 64, as the server does."""
    if kind == _DECIMAL:
        return decimal_text(value[2:], value[0] - value[1], value[1])
    if kind in {_DATE, _TIME} or kind in _MOMENTS:
        return f'"{_packed_time(kind, struct.unpack("<q", value)[0])}"'
    return f'"base64:type{kind}:{base64.b64encode(value).decode()}"'


def _packed_time(kind: int, packed: int) -> str:
    sign, packed = ("-", -packed) if packed < 0 else ("", packed)
    fraction, whole = packed & 0xFFFFFF, packed >> 24
    seconds = f"{whole & 63:02}.{fraction:06}"
    if kind == _TIME:
        return f"{sign}{whole >> 12 & 1023:02}:{whole >> 6 & 63:02}:{seconds}"
    months = whole >> 22
    date = f"{months // 13:04}-{months % 13:02}-{whole >> 17 & 31:02}"
    return date if kind == _DATE else f"{date} {whole >> 12 & 31:02}:{whole >> 6 & 63:02}:{seconds}"
