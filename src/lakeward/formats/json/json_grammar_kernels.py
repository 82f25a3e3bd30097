"""The grammar of JSON: where things end that begin at an address. It loads numba.

Positions are addresses; FAIL and TOO_DEEP stand for one where there is none. Blanks are those of JSON; control
characters may stand in texts, as other systems have it; a lone half of a surrogate pair may not.
"""

from __future__ import annotations

from lakeward.formats.values.text_kernels import hex_value
from lakeward.formats.values.values import (
    ARRAY,
    ESCAPED,
    FALSE,
    MISSING,
    NULL,
    OBJECT,
    REAL,
    STRING,
    TRUE,
    WHOLE,
)
from lakeward.records.kernels.kernel import kernel_part
from lakeward.records.kernels.memory_kernels import get_i32, get_i64, get_u8, put_8

FAIL, TOO_DEEP = -1, -2
DEPTH_MAX = 1000

_QUOTE, _COMMA, _COLON, _BACKSLASH = 34, 44, 58, 92
_LEFT_BRACKET, _LEFT_BRACE = 91, 123
_MINUS, _PLUS, _POINT, _ZERO, _NINE = 45, 43, 46, 48, 57
_NULL_WORD, _TRUE_WORD, _ALSE_WORD = (int.from_bytes(word, "little") for word in (b"null", b"true", b"alse"))
_QUOTES, _BACKSLASHES, _ONES = 0x2222222222222222, 0x5C5C5C5C5C5C5C5C, 0x0101010101010101
_HIGH_BITS = -0x7F7F7F7F7F7F7F80


@kernel_part
def skip_blanks(at: int, end: int) -> int:
    """Where the next thing begins."""
    while at < end:
        c = get_u8(at)
        if c > 32 or not (c == 32 or c == 10 or c == 13 or c == 9):
            break
        at += 1
    return at


@kernel_part
def _escape_end(at: int, end: int) -> int:
    """Where the escape that begins here ends, or FAIL."""
    if at + 1 >= end:
        return FAIL
    c = get_u8(at + 1)
    if c in (_QUOTE, _BACKSLASH) or c == 47 or c == 98 or c == 102 or c == 110 or c == 114 or c == 116:
        return at + 2
    if c != 117 or at + 6 > end:
        return FAIL
    code = hex_value(at + 2)
    if code < 0 or 0xDC00 <= code < 0xE000:
        return FAIL
    if code >= 0xD800:
        if code >= 0xE000:
            return at + 6
        if at + 12 > end or get_u8(at + 6) != _BACKSLASH or get_u8(at + 7) != 117:
            return FAIL
        low = hex_value(at + 8)
        return at + 12 if 0xDC00 <= low < 0xE000 else FAIL
    return at + 6


@kernel_part
def string_end(at: int, end: int) -> tuple[int, int]:
    """Where the closing quote of the text that begins here is, or FAIL, and whether it is ESCAPED."""
    kind = STRING
    while at < end:
        while at + 8 <= end:
            word = get_i64(at)
            quotes, slashes = word ^ _QUOTES, word ^ _BACKSLASHES
            if ((quotes - _ONES) & ~quotes | (slashes - _ONES) & ~slashes) & _HIGH_BITS:
                break
            at += 8
        c = get_u8(at)
        while at < end and c != _QUOTE and c != _BACKSLASH:
            at += 1
            if at < end:
                c = get_u8(at)
        if at >= end:
            return FAIL, kind
        if c == _QUOTE:
            return at, kind
        kind = ESCAPED
        at = _escape_end(at, end)
        if at == FAIL:
            return FAIL, kind
    return FAIL, kind


@kernel_part
def _number_end(at: int, end: int) -> tuple[int, int]:
    """Where the number that begins here ends, or FAIL, and whether it is WHOLE or REAL."""
    kind = WHOLE
    if get_u8(at) == _MINUS:
        at += 1
    if at >= end:
        return FAIL, kind
    c = get_u8(at)
    if c < _ZERO or c > _NINE:
        return FAIL, kind
    at += 1
    if c != _ZERO:
        while at < end and _ZERO <= get_u8(at) <= _NINE:
            at += 1
    if at < end and get_u8(at) == _POINT:
        kind = REAL
        at += 1
        mark = at
        while at < end and _ZERO <= get_u8(at) <= _NINE:
            at += 1
        if at == mark:
            return FAIL, kind
    if at < end and (get_u8(at) | 32) == 101:
        kind = REAL
        at += 1
        if at < end and (get_u8(at) == _PLUS or get_u8(at) == _MINUS):
            at += 1
        mark = at
        while at < end and _ZERO <= get_u8(at) <= _NINE:
            at += 1
        if at == mark:
            return FAIL, kind
    return at, kind


@kernel_part
def _scalar_end(at: int, end: int) -> tuple[int, int]:
    """Where a text, a number or a word that begins here ends, or FAIL, and what it is; of a text, its closing quote."""
    c = get_u8(at)
    if c == _QUOTE:
        return string_end(at + 1, end)
    if c == _MINUS or _ZERO <= c <= _NINE:
        return _number_end(at, end)
    if end - at >= 4:
        word = get_i32(at)
        if word == _NULL_WORD:
            return at + 4, NULL
        if word == _TRUE_WORD:
            return at + 4, TRUE
        if c == 102 and end - at >= 5 and get_i32(at + 1) == _ALSE_WORD:
            return at + 5, FALSE
    return FAIL, MISSING


@kernel_part
def _key_end(at: int, end: int) -> int:
    """Where what a key stands for begins, or FAIL; blanks before the key are skipped."""
    at = skip_blanks(at, end)
    if at >= end or get_u8(at) != _QUOTE:
        return FAIL
    at, _ = string_end(at + 1, end)
    if at == FAIL:
        return FAIL
    at = skip_blanks(at + 1, end)
    return at + 1 if at < end and get_u8(at) == _COLON else FAIL


@kernel_part
def _container_end(at: int, end: int, stack: int) -> int:
    """Where the object or array that begins here ends, or FAIL, or TOO_DEEP."""
    depth = 0
    while True:
        at = skip_blanks(at, end)
        if at >= end:
            return FAIL
        c = get_u8(at)
        if c in (_LEFT_BRACE, _LEFT_BRACKET):
            if depth == DEPTH_MAX:
                return TOO_DEEP
            put_8(stack + depth, c)
            depth += 1
            inner = skip_blanks(at + 1, end)
            if inner >= end:
                return FAIL
            if get_u8(inner) == c + 2:  # the bracket that closes it
                depth -= 1
                at = inner + 1
            else:
                at = _key_end(inner, end) if c == _LEFT_BRACE else inner
                if at == FAIL:
                    return FAIL
                continue
        else:
            at, kind = _scalar_end(at, end)
            if at == FAIL:
                return FAIL
            if kind in (STRING, ESCAPED):
                at += 1
        while depth:
            at = skip_blanks(at, end)
            if at >= end:
                return FAIL
            c, opened = get_u8(at), get_u8(stack + depth - 1)
            at += 1
            if c == opened + 2:
                depth -= 1
                continue
            if c != _COMMA:
                return FAIL
            if opened == _LEFT_BRACE:
                at = _key_end(at, end)
                if at == FAIL:
                    return FAIL
            break
        if depth == 0:
            return at


@kernel_part
def cut_value(at: int, end: int, stack: int) -> tuple[int, int, int, int]:
    """The value that begins here: what comes after it (or FAIL, TOO_DEEP), where it lies, and what it is."""
    at = skip_blanks(at, end)
    if at >= end:
        return FAIL, at, at, MISSING
    c = get_u8(at)
    if c in (_LEFT_BRACE, _LEFT_BRACKET):
        after = _container_end(at, end, stack)
        return after, at, after, OBJECT if c == _LEFT_BRACE else ARRAY
    after, kind = _scalar_end(at, end)
    if kind in (STRING, ESCAPED):
        return (after if after == FAIL else after + 1), at + 1, after, kind
    return after, at, after, kind
