"""TableMap: what a TABLE_MAP event says of the rows after it: types of the wire, and with full metadata much more."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lakeward.capture.mysql.cells.cells import I64
from lakeward.capture.port import TableId
from lakeward.errors import ErrorCode

TINY, SHORT, LONG, FLOAT, DOUBLE, TIMESTAMP = 1, 2, 3, 4, 5, 7
LONGLONG, INT24, DATE, TIME, DATETIME, YEAR = range(8, 14)
VARCHAR, BIT, TIMESTAMP2, DATETIME2, TIME2, BLOB_PACKED, VARCHAR_PACKED = 15, 16, 17, 18, 19, 140, 141
JSON, DECIMAL, ENUM, SET, BLOB, VAR_STRING, STRING, GEOMETRY = 245, 246, 247, 248, 252, 253, 254, 255
_FIXED = {TINY: 1, SHORT: 2, LONG: 4, FLOAT: 4, DOUBLE: 8, LONGLONG: 8, INT24: 3, DATE: 3, YEAR: 1, 14: 3}
_META_BYTES = {
    **dict.fromkeys((FLOAT, DOUBLE, BLOB, JSON, GEOMETRY, BLOB_PACKED, TIMESTAMP2, DATETIME2, TIME2), 1),
    **dict.fromkeys((249, 250, 251), 1),
    **dict.fromkeys((VARCHAR, VARCHAR_PACKED, BIT, DECIMAL, STRING, ENUM, SET, VAR_STRING), 2),
}
_NUMERIC = {TINY, SHORT, LONG, FLOAT, DOUBLE, LONGLONG, INT24, DECIMAL, YEAR}
_TEXTUAL = {VARCHAR, VAR_STRING, STRING, BLOB, VARCHAR_PACKED, BLOB_PACKED, 249, 250, 251}
_FRACTION = {TIMESTAMP2: 4, DATETIME2: 5, TIME2: 3}
_WORD_MAX = 255


@dataclass(frozen=True, slots=True)
class WireColumn:
    """A column on the wire: `kind` is the server's number, `a` and `b` what it says beside it."""

    kind: int
    a: int = 0
    b: int = 0
    nullable: bool = True
    name: str | None = None
    is_unsigned: bool = False
    collation: int | None = None
    values: tuple[bytes, ...] = ()

    @property
    def fixed_bytes(self) -> int:
        """How long a value is; 0 where each says it itself."""
        if self.kind in _FIXED:
            return _FIXED[self.kind]
        if self.kind in _FRACTION:
            return _FRACTION[self.kind] + (self.a + 1) // 2
        if self.kind == BIT:
            return self.b + (1 if self.a else 0)
        if self.kind in {ENUM, SET}:
            return self.b
        if self.kind == DECIMAL:
            whole = self.a - self.b
            return _decimal_bytes(whole) + _decimal_bytes(self.b)
        return 0

    @property
    def length_bytes(self) -> int:
        """How many bytes hold the length of a value."""
        if self.fixed_bytes:
            return 0
        if self.kind in {VARCHAR, VAR_STRING, VARCHAR_PACKED, STRING}:
            return 1 if self.a <= _WORD_MAX else 2
        return self.a


@dataclass(frozen=True, slots=True)
class TableMap:
    """A table on the wire. `is_full`: the server tells names, signs, character sets and keys."""

    id: TableId
    columns: tuple[WireColumn, ...]
    key: tuple[int, ...] = ()
    is_full: bool = False

    def program(self) -> tuple[I64, I64]:
        """Widths, and widths of lengths: what kernels need to walk over rows."""
        fixed = np.array([column.fixed_bytes for column in self.columns], np.int64)
        return fixed, np.array([column.length_bytes for column in self.columns], np.int64)


def _decimal_bytes(digits: int) -> int:
    return digits // 9 * 4 + (digits % 9 + 1) // 2


def table_name(body: bytes) -> TableId:
    """Only the name of a TABLE_MAP event, whose head is left out."""
    database_bytes = body[8]
    at = 9 + database_bytes + 1
    return TableId(body[9 : 9 + database_bytes].decode(), body[at + 1 : at + 1 + body[at]].decode())


def read_table_map(body: bytes) -> TableMap:
    """All that a TABLE_MAP event says."""
    id_ = table_name(body)
    at = 9 + body[8] + 1
    at += body[at] + 2
    count, at = read_length(body, at)
    kinds = body[at : at + count]
    meta_bytes, at = read_length(body, at + count)
    meta, at = body[at : at + meta_bytes], at + meta_bytes
    nulls, at = body[at : at + (count + 7) // 8], at + (count + 7) // 8
    columns, meta_at = [], 0
    for index, kind in enumerate(kinds):
        width = _META_BYTES.get(kind, 0)
        kind, a, b = _meaning(id_, kind, meta[meta_at : meta_at + width])
        meta_at += width
        columns.append(WireColumn(kind, a, b, bool(nulls[index >> 3] >> (index & 7) & 1)))
    return _with_metadata(id_, columns, body[at:])


def _meaning(id_: TableId, kind: int, meta: bytes) -> tuple[int, int, int]:
    """The real kind, and two numbers: enums and sets travel as strings, and long strings hide bits in their kind."""
    if kind in {STRING, ENUM, SET}:
        real, low = meta
        if real in {ENUM, SET}:
            return real, 0, low
        if real & 0x30 != 0x30:
            return STRING, low | (((real & 0x30) ^ 0x30) << 4), 0
        return STRING, low, 0
    if kind in {VARCHAR, VAR_STRING, VARCHAR_PACKED}:
        return kind, struct.unpack("<H", meta)[0], 0
    if kind in {249, 250, 251}:
        return BLOB, meta[0], 0
    if kind in {TIMESTAMP, TIME, DATETIME}:
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {id_} keeps times in the form of MySQL 5.5. Rebuild it: ALTER TABLE {id_} FORCE;"
        )
    return kind, meta[0] if meta else 0, meta[1] if len(meta) > 1 else 0


def _with_metadata(id_: TableId, columns: list[WireColumn], rest: bytes) -> TableMap:
    fields: dict[int, bytes] = {}
    at = 0
    while at < len(rest):
        kind = rest[at]
        size, at = read_length(rest, at + 1)
        fields[kind], at = rest[at : at + size], at + size
    names = _texts(fields.get(4, b""))
    if len(names) != len(columns):
        return TableMap(id_, tuple(columns))
    signs = _bits(fields.get(1, b""))
    of_numbers = [i for i, column in enumerate(columns) if column.kind in _NUMERIC]
    unsigned = {index for index, sign in zip(of_numbers, signs, strict=False) if sign}
    collations = _collations(columns, fields.get(2), fields.get(3), lambda kind: kind in _TEXTUAL)
    collations |= _collations(columns, fields.get(10), fields.get(11), lambda kind: kind in {ENUM, SET})
    words = {SET: _word_lists(fields.get(5, b"")), ENUM: _word_lists(fields.get(6, b""))}
    full = []
    for index, column in enumerate(columns):
        values = words[column.kind].pop(0) if words.get(column.kind) else ()
        full.append(
            replace(
                column,
                name=names[index].decode(),
                is_unsigned=index in unsigned,
                collation=collations.get(index),
                values=values,
            )
        )
    key = _numbers(fields[8]) if 8 in fields else _numbers(fields.get(9, b""))[::2]
    return TableMap(id_, tuple(full), tuple(key), is_full=True)


def _collations(
    columns: list[WireColumn], default: bytes | None, each: bytes | None, is_of: Callable[[int], bool]
) -> dict[int, int]:
    """Collations by column: a default and its exceptions, or one for each."""
    of_texts = [index for index, column in enumerate(columns) if is_of(column.kind)]
    if each is not None:
        return dict(zip(of_texts, _numbers(each), strict=False))
    if default is None:
        return {}
    usual, *rest = _numbers(default)
    exceptions = dict(zip(rest[::2], rest[1::2], strict=False))
    return {column: exceptions.get(nth, usual) for nth, column in enumerate(of_texts)}


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """A number in as many bytes as it takes, and where it ends."""
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + width], "little"), at + 1 + width


def _numbers(data: bytes) -> list[int]:
    out, at = [], 0
    while at < len(data):
        number, at = read_length(data, at)
        out.append(number)
    return out


def _texts(data: bytes) -> list[bytes]:
    out, at = [], 0
    while at < len(data):
        size, at = read_length(data, at)
        out.append(data[at : at + size])
        at += size
    return out


def _word_lists(data: bytes) -> list[tuple[bytes, ...]]:
    """The words of each enum or set."""
    out, at = [], 0
    while at < len(data):
        count, at = read_length(data, at)
        words = []
        for _ in range(count):
            size, at = read_length(data, at)
            words.append(data[at : at + size])
            at += size
        out.append(tuple(words))
    return out


def _bits(data: bytes) -> list[bool]:
    """Bits from the highest of each byte."""
    return [bool(byte >> (7 - bit) & 1) for byte in data for bit in range(8)]
