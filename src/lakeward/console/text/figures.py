"""Figures for people: 1.2 M rows, 34 MB, 120/s, 3.4 s."""

from __future__ import annotations

_COUNT_STEPS = ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k"))
_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_KILO = 1000
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400


def count_text(number: float) -> str:
    """A count: exact up to ten thousand, in three digits above."""
    for step, word in _COUNT_STEPS:
        if abs(number) >= step:
            divisor = _KILO if word == " k" else step
            return f"{_three_digits(number / divisor)}{word}"
    return f"{number:,.0f}"


def bytes_text(size: float) -> str:
    """A size, by powers of a thousand, as disks are sold."""
    at = 0
    while abs(size) >= _KILO and at < len(_BYTE_UNITS) - 1:
        size /= _KILO
        at += 1
    return f"{size:.0f} B" if at == 0 else f"{_three_digits(size)} {_BYTE_UNITS[at]}"


def duration_text(seconds: float) -> str:
    """How long something takes: 12 ms, 3.4 s, 5 min, 2 h, 3 d."""
    if seconds < 1:
        return f"{seconds * _KILO:.0f} ms"
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    for length, word in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if seconds >= length:
            return f"{seconds / length:.0f} {word}"
    return ""


def _three_digits(number: float) -> str:
    digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    text = f"{number:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
