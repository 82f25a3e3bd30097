"""The bounds of some columns of a data file, as Python values."""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lakeward.lake.port import Bounds
from lakeward.model.values import decimal_of

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DECIMAL = re.compile(r"decimal\(\d+,\s*(\d+)\)")
_DIGITS_MAX = 38


class ColumnBounds:
    """Reads the bounds of these columns; nothing is known of a column that the lake does not have."""

    def __init__(self, columns: Mapping[str, tuple[int, str]], names: Iterable[str]) -> None:
        """`columns` are ids and types in Iceberg's words, by name."""
        self._fields = [(name, *columns[name]) for name in sorted(set(names)) if name in columns]

    def __bool__(self) -> bool:
        return bool(self._fields)

    def of(self, statistics: Mapping[str, Any]) -> dict[str, Bounds]:
        """The bounds of a file, by what a manifest says of it."""
        lows, highs, nulls, values = (
            statistics.get(name) or {} for name in ("lower_bounds", "upper_bounds", "null_value_counts", "value_counts")
        )
        return {
            name: Bounds(_value(type_, lows.get(id_)), _value(type_, highs.get(id_)), nulls.get(id_), values.get(id_))
            for name, id_, type_ in self._fields
        }


def _value(type_: str, data: bytes | None) -> Any:
    if data is None:
        return None
    decimal = _DECIMAL.fullmatch(type_)
    make = _MADE.get(type_)
    try:
        if decimal is not None:
            return decimal_of(int.from_bytes(data, "big", signed=True), _DIGITS_MAX, int(decimal[1]))
        return None if make is None else make(data)
    except (OverflowError, ValueError, struct.error):  # a moment beyond Python's, a text cut amid a letter: not known
        return None


def _number(data: bytes) -> int:
    # A column may have been widened since the file was written, so the length is what the data has.
    return int.from_bytes(data, "little", signed=True)


def _fraction(data: bytes) -> float | None:
    found: float = struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    return found if found == found else None  # NaN, of an old writer


def _moment(data: bytes) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=_number(data))


_MADE: dict[str, Callable[[bytes], Any]] = {
    "boolean": lambda data: data != b"\x00",
    "int": _number,
    "long": _number,
    "float": _fraction,
    "double": _fraction,
    "string": bytes.decode,
    "binary": bytes,
    "date": lambda data: _EPOCH.date() + dt.timedelta(days=_number(data)),
    "timestamp": lambda data: _moment(data).replace(tzinfo=None),
    "timestamptz": _moment,
    "time": lambda data: _moment(data).time(),
}
