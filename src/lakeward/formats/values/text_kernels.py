"""Texts gathered from where they lie: escapes undone, blanks between parts left out, base64 read. It loads numba."""

from __future__ import annotations

import numpy as np

from lakeward.formats.values.values import (
    ABSENT,
    ARRAY,
    ESCAPED,
    FITS,
    I64,
    NULL,
    OBJECT,
    STRING,
    U8,
    UNFIT,
)
from lakeward.records.kernels.kernel import kernel, kernel_part
from lakeward.records.kernels.memory_kernels import address, copy_bytes, get_u8, put_8

_QUOTE, _BACKSLASH, _BLANK = 34, 92, 32
#: Of a character of base64; for what is none, 64 and above.
_SIX_BITS = np.full(256, 64, np.uint8)
for _value, _character in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"):
    _SIX_BITS[_character] = _value


@kernel_part
def hex_value(at: int) -> int:
    """The number of four hexadecimal digits, or -1."""
    value = 0
    for i in range(4):
        c = get_u8(at + i)
        if 48 <= c <= 57:
            digit = c - 48
        elif 97 <= c <= 102:
            digit = c - 87
        elif 65 <= c <= 70:
            digit = c - 55
        else:
            return -1
        value = value * 16 + digit
    return value


@kernel_part
def put_code(code: int, to: int) -> int:
    """Write a character as UTF-8; where the next one goes."""
    if code < 0x80:
        put_8(to, code)
        return to + 1
    if code < 0x800:
        put_8(to, 0xC0 | code >> 6)
        put_8(to + 1, 0x80 | code & 0x3F)
        return to + 2
    if code < 0x10000:
        put_8(to, 0xE0 | code >> 12)
        put_8(to + 1, 0x80 | code >> 6 & 0x3F)
        put_8(to + 2, 0x80 | code & 0x3F)
        return to + 3
    put_8(to, 0xF0 | code >> 18)
    put_8(to + 1, 0x80 | code >> 12 & 0x3F)
    put_8(to + 2, 0x80 | code >> 6 & 0x3F)
    put_8(to + 3, 0x80 | code & 0x3F)
    return to + 4


@kernel_part
def unescape(at: int, end: int, to: int) -> int:
    """Copy a text without its escapes, which are known to be right; where the copy ends. It is never longer."""
    while at < end:
        c = get_u8(at)
        if c != _BACKSLASH:
            put_8(to, c)
            at += 1
            to += 1
            continue
        c = get_u8(at + 1)
        at += 2
        if c == 117:  # u
            code = hex_value(at)
            at += 4
            if 0xD800 <= code < 0xDC00:
                code = 0x10000 + ((code - 0xD800) << 10) + (hex_value(at + 2) - 0xDC00)
                at += 6
            to = put_code(code, to)
            continue
        if c == 98:
            c = 8
        elif c == 102:
            c = 12
        elif c == 110:
            c = 10
        elif c == 114:
            c = 13
        elif c == 116:
            c = 9
        put_8(to, c)
        to += 1
    return to


@kernel_part
def _put_compact(at: int, end: int, to: int) -> int:
    """Copy JSON without the blanks between its parts."""
    inside = False
    while at < end:
        c = get_u8(at)
        at += 1
        if not inside and (c == _BLANK or c == 10 or c == 13 or c == 9):
            continue
        put_8(to, c)
        to += 1
        if c == _QUOTE:
            inside = not inside
        elif c == _BACKSLASH and inside:
            put_8(to, get_u8(at))
            at += 1
            to += 1
    return to


@kernel
def gather_texts(starts: I64, ends: I64, kinds: U8, offsets: I64, out: U8) -> None:
    """The texts one after another, and where each begins; numbers and containers as they are written."""
    begin = address(out)
    to = begin
    for i in range(len(starts)):
        offsets[i] = to - begin
        kind = kinds[i]
        if kind <= NULL:
            continue
        if kind == ESCAPED:
            to = unescape(starts[i], ends[i], to)
        elif kind in (OBJECT, ARRAY):
            to = _put_compact(starts[i], ends[i], to)
        else:
            size = ends[i] - starts[i]
            copy_bytes(to, starts[i], size)
            to += size
    offsets[len(starts)] = to - begin


@kernel
def gather_base64(
    starts: I64, ends: I64, kinds: U8, length: int, six_bits: U8, offsets: I64, out: U8, status: U8
) -> None:
    """The bytes that base64 stands for; with a length, only those that have it."""
    begin = address(out)
    to = begin
    for i in range(len(starts)):
        offsets[i] = to - begin
        if kinds[i] <= NULL:
            status[i] = ABSENT
            continue
        status[i] = UNFIT
        at, end = starts[i], ends[i]
        size = end - at
        if kinds[i] != STRING or size % 4 != 0:
            continue
        padding = 0
        while padding < 2 and padding < size and get_u8(end - 1 - padding) == 61:
            padding += 1
        mark, bits, held, is_right = to, 0, 0, True
        for _ in range(size - padding):
            six = six_bits[get_u8(at)]
            at += 1
            if six >= 64:
                is_right = False
                break
            bits = bits << 6 | six
            held += 6
            if held >= 8:
                held -= 8
                put_8(to, bits >> held & 0xFF)
                to += 1
                bits &= (1 << held) - 1
        if not is_right or (length >= 0 and to - mark != length):
            to = mark
            continue
        status[i] = FITS
    offsets[len(starts)] = to - begin


def texts_of(starts: I64, ends: I64, kinds: U8) -> tuple[I64, U8]:
    """Offsets and bytes of the texts."""
    offsets = np.empty(len(starts) + 1, np.int64)
    out = np.empty(int(np.where(kinds > NULL, ends - starts, 0).sum()), np.uint8)
    gather_texts(starts, ends, kinds, offsets, out)
    return offsets, out[: offsets[-1]]


def bytes_of(starts: I64, ends: I64, kinds: U8, length: int | None) -> tuple[I64, U8, U8]:
    """Offsets and bytes of what is written in base64, and what became of each."""
    offsets, status = np.empty(len(starts) + 1, np.int64), np.empty(len(starts), np.uint8)
    out = np.empty(int(np.where(kinds > NULL, ends - starts, 0).sum()), np.uint8)
    gather_base64(starts, ends, kinds, -1 if length is None else length, _SIX_BITS, offsets, out, status)
    return offsets, out[: offsets[-1]], status
