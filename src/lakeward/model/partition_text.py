"""The values of a partition's name as values of its columns: `partition.value_text` read backwards."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.java_text import day_of
from lakeward.model.partition import value_text
from lakeward.model.values import Timestamp

_DATE = r"(-\d{3,}|\d{4,})-(\d\d)-(\d\d)"
_DATE_TEXT = re.compile(_DATE)
_TIME_TEXT = re.compile(r"(\d\d)-(\d\d)-(\d\d)_(\d{3})")
_TIMESTAMP_TEXT = re.compile(_DATE + r"-(\d\d)-(\d\d)-(\d\d)_(\d{0,9})")
_NANOS_PER_SECOND = 1_000_000_000
_MS_PER_DAY = 86_400_000
_FLOAT = struct.Struct("<f")


def value_of_text(type_: DataType, text: str) -> Any:
    """The value, one of `model.values`, that a partition has in a column, told in Java's way or in pyfluss'."""
    try:
        value = _VALUES[type_.root](text)
        if text not in {value_text(type_, value), value_text(type_, value, follow_pyfluss=True)}:
            raise ValueError(text)
        return value
    except (ValueError, KeyError) as wrong:
        raise ErrorCode.PARTITION_SPEC_INVALID.error(
            f"The partition value '{text}' is no value of a column of type {type_}."
        ) from wrong


def _groups(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return match.groups()


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text]


def _date(text: str) -> int:
    year, month, day = _groups(_DATE_TEXT, text)
    return day_of(int(year), int(month), int(day))


def _time(text: str) -> int:
    hour, minute, second, ms = (int(part) for part in _groups(_TIME_TEXT, text))
    ms_of_day = ((hour * 60 + minute) * 60 + second) * 1000 + ms
    if ms_of_day >= _MS_PER_DAY:
        raise ValueError(text)
    return ms_of_day


def _timestamp(text: str) -> Timestamp:
    *parts, fraction = _groups(_TIMESTAMP_TEXT, text)
    year, month, day, hour, minute, second = (int(part) for part in parts)
    seconds = ((day_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
    return Timestamp.of_nanos(seconds * _NANOS_PER_SECOND + int(fraction.ljust(9, "0")))


def _integer(bits: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        found, limit = int(text), 1 << (bits - 1)
        if not -limit <= found < limit:
            raise ValueError(text)
        return found

    return number


def _number(text: str) -> float:
    return float(text.replace("_", "."))


def _float(text: str) -> float:
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(_number(text)))[0])
    except OverflowError as wrong:
        raise ValueError(text) from wrong


_VALUES: dict[TypeRoot, Callable[[str], Any]] = {
    TypeRoot.BOOLEAN: _boolean,
    TypeRoot.TINYINT: _integer(8),
    TypeRoot.SMALLINT: _integer(16),
    TypeRoot.INTEGER: _integer(32),
    TypeRoot.BIGINT: _integer(64),
    TypeRoot.FLOAT: _float,
    TypeRoot.DOUBLE: _number,
    TypeRoot.CHAR: str,
    TypeRoot.STRING: str,
    TypeRoot.BINARY: bytes.fromhex,
    TypeRoot.BYTES: bytes.fromhex,
    TypeRoot.DATE: _date,
    TypeRoot.TIME: _time,
    TypeRoot.TIMESTAMP: _timestamp,
    TypeRoot.TIMESTAMP_LTZ: _timestamp,
}
