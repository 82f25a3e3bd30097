"""What an option's text can mean: sizes, durations, numbers, switches, choices, lists and maps.

A kind turns text into a value and back. Text it cannot read raises ValueError, which says what was expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

_NUMBER_WITH_UNIT = re.compile(r"(-?\d{1,19})\s*([^\d\s].*)?", re.ASCII)
_SIZE_UNITS = {"b": 1, "bytes": 1}
for _power, (_short, _long) in enumerate((("k", "kibi"), ("m", "mebi"), ("g", "gibi"), ("t", "tebi")), start=1):
    _SIZE_UNITS |= dict.fromkeys((_short, f"{_short}b", f"{_long}bytes"), 1024**_power)

_MS_PER_UNIT = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}
_DURATION_UNITS = {
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000_000),
    **dict.fromkeys(("min", "m", "minute", "minutes"), 60_000_000_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000_000),
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("µs", "micro", "micros", "microsecond", "microseconds"), 1000),
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), 1),
}


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """How the text of an option is read, and how its value is written."""

    name: str
    parse: Callable[[str], T]
    show: Callable[[T], str] = str


def _number_and_unit(text: str, units: Mapping[str, int], default_unit: str | None, example: str) -> int:
    match = _NUMBER_WITH_UNIT.fullmatch(text.strip())
    unit = None if match is None else (match[2] or default_unit)
    if match is None or unit is None:
        raise ValueError(f"'{text}' is not a number with a unit, such as {example}")
    unit = unit.strip().lower()
    if unit not in units:
        raise ValueError(f"'{unit}' is not a unit; the units are {', '.join(units)}")
    return int(match[1]) * units[unit]


def _parse_size(text: str) -> int:
    size = _number_and_unit(text, _SIZE_UNITS, "b", "'10mb'")
    if not 0 <= size <= INT64_MAX:
        raise ValueError(f"a size of {size} bytes is out of range")
    return size


def _show_size(size: int) -> str:
    for unit, factor in (("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return f"{size}b"


def _parse_duration(text: str) -> int:
    duration_ms = _number_and_unit(text, _DURATION_UNITS, None, "'7 d' or '3min'") // 1_000_000
    if not 0 <= duration_ms <= INT64_MAX // 1_000_000:
        raise ValueError(f"'{text}' is out of range")
    return duration_ms


def _show_duration(duration_ms: int) -> str:
    for unit, factor in _MS_PER_UNIT.items():
        if duration_ms and duration_ms % factor == 0:
            return f"{duration_ms // factor} {unit}"
    return f"{duration_ms} ms"


def _parse_bool(text: str) -> bool:
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError(f"'{text}' is neither true nor false")


def integer(low: int = -INT32_MAX - 1, high: int = INT32_MAX) -> Kind[int]:
    """A whole number between two bounds."""

    def parse(text: str) -> int:
        digits = text.strip()
        if not re.fullmatch(r"[+-]?\d{1,20}", digits, re.ASCII):
            raise ValueError(f"'{text}' is not a whole number")
        value = int(digits)
        if not low <= value <= high:
            raise ValueError(f"{value} is not between {low} and {high}")
        return value

    return Kind("int", parse)


def _parse_ratio(text: str) -> float:
    value = float(text)
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{value} is not between 0 and 1")
    return value


def choice(*values: str) -> Kind[str]:
    """One of a few words, whatever their case; the value is the word as listed here."""
    by_lower = {v.lower(): v for v in values}

    def parse(text: str) -> str:
        word = text.strip()
        if word.lower() not in by_lower:
            raise ValueError(f"'{text}' is not one of {', '.join(values)}")
        return by_lower[word.lower()]

    return Kind(f"one of {', '.join(values)}", parse)


def _parse_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in re.split(r"[,;]", text) if part.strip())


def _parse_map(text: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for pair in filter(None, (p.strip() for p in text.split(","))):
        key, colon, value = pair.partition(":")
        if not colon or not key.strip():
            raise ValueError(f"'{key}' has no value; write key:value,key:value")
        if key.strip() in out:
            raise ValueError(f"'{key.strip()}' is given twice")
        out[key.strip()] = value.strip()
    return out


def _show_map(pairs: Mapping[str, str]) -> str:
    return ",".join(f"{k}:{v}" for k, v in pairs.items())


SIZE = Kind("memory size", _parse_size, _show_size)
DURATION = Kind("duration", _parse_duration, _show_duration)
BOOL = Kind("bool", _parse_bool, lambda value: str(value).lower())
INT = integer()
COUNT = integer(low=1)
LONG = integer(low=-INT64_MAX - 1, high=INT64_MAX)
RATIO = Kind("ratio", _parse_ratio)
TEXT: Kind[str] = Kind("text", str)
LIST = Kind("list", _parse_list, ",".join)
MAP = Kind("map", _parse_map, _show_map)
