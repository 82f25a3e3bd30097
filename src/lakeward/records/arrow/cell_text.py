"""Arrow values as text: for cells of a table, CSV fields and JSON.

Times and dates are ISO 8601 (with a blank instead of the T outside JSON), TIMESTAMP_LTZ in UTC with a Z; decimals keep
every digit; nested values are JSON. Bytes are base64, and what is written so is what `lakeward append` reads back; for
people to look at they can be had in hexadecimal digits instead.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

Writer = Callable[[Any], str]
BytesText = Callable[[bytes], str]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_MIN = int((datetime.min.replace(tzinfo=UTC) - _EPOCH).total_seconds())
_SECONDS_MAX = int((datetime.max.replace(tzinfo=UTC) - _EPOCH).total_seconds())


def is_number(type_: pa.DataType) -> bool:
    """Whether values of the type stand to the right in a table."""
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def is_text(type_: pa.DataType) -> bool:
    """Whether values of the type vary in length and can be cut in a table and still tell something."""
    types = pa.types
    return not (is_number(type_) or types.is_temporal(type_) or types.is_boolean(type_))


def usual_width(type_: pa.DataType) -> int:
    """How many places most values of a type need."""
    types = pa.types
    if types.is_integer(type_) or types.is_boolean(type_):
        return 6
    if types.is_floating(type_) or types.is_decimal(type_):
        return 9
    return 12 if is_text(type_) else 0


def values_of(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """The values as Python holds them, but times and dates as whole numbers: Python's own stop at microseconds."""
    whole = in_whole_numbers(column.type)
    values: list[Any] = (column if whole == column.type else column.cast(whole)).to_pylist()
    return values


def in_whole_numbers(type_: pa.DataType) -> pa.DataType:
    """The type with whole numbers, since the epoch or midnight, in place of times and dates."""
    types = pa.types
    if types.is_timestamp(type_) or types.is_time64(type_):
        return pa.int64()
    if types.is_time32(type_) or types.is_date32(type_):
        return pa.int32()
    if types.is_map(type_):
        return pa.map_(type_.key_field.with_type(in_whole_numbers(type_.key_type)), _whole_field(type_.item_field))
    if types.is_struct(type_):
        return pa.struct([_whole_field(field) for field in type_])
    if types.is_list(type_):
        return pa.list_(_whole_field(type_.value_field))
    return type_


def base64_text(value: bytes) -> str:
    """Bytes as files have them."""
    return b64encode(value).decode()


def hex_text(value: bytes) -> str:
    """Bytes as people look at them."""
    return f"0x{value.hex()}"


def cell_writer(type_: pa.DataType, bytes_text: BytesText = base64_text) -> Writer:
    """Values of `values_of` → text for a cell or a CSV field; never called with None."""
    return json_writer(type_, bytes_text) if pa.types.is_nested(type_) else _leaf_writer(type_, " ", bytes_text)


def json_writer(type_: pa.DataType, bytes_text: BytesText = base64_text) -> Writer:
    """Values of `values_of` → JSON text; None is null."""
    write = _json_writer(type_, bytes_text)
    return lambda value: "null" if value is None else write(value)


def _json_writer(type_: pa.DataType, bytes_text: BytesText) -> Writer:
    types = pa.types
    if types.is_map(type_):
        return _json_map(type_, bytes_text)
    if types.is_struct(type_):
        parts = [(f.name, f"{_quote(f.name)}: ", json_writer(f.type, bytes_text)) for f in type_]
        return lambda row: "{" + ", ".join(head + write(row[name]) for name, head, write in parts) + "}"
    if _is_list(type_):
        element = json_writer(type_.value_type, bytes_text)
        return lambda values: "[" + ", ".join(map(element, values)) + "]"
    leaf = _leaf_writer(type_, "T", bytes_text)
    if types.is_floating(type_):
        return lambda value: leaf(value) if math.isfinite(value) else f'"{leaf(value)}"'
    if types.is_boolean(type_) or is_number(type_):
        return leaf
    return lambda value: _quote(leaf(value))


def _json_map(type_: pa.MapType, bytes_text: BytesText) -> Writer:
    key_text, write = cell_writer(type_.key_type, bytes_text), json_writer(type_.item_type, bytes_text)

    def entries(pairs: list[tuple[Any, Any]]) -> str:
        return "{" + ", ".join(f"{_quote(key_text(key))}: {write(value)}" for key, value in pairs) + "}"

    return entries


def _leaf_writer(type_: pa.DataType, day_and_time: str, bytes_text: BytesText) -> Writer:
    types = pa.types
    if types.is_boolean(type_):
        return lambda value: "true" if value else "false"
    if types.is_floating(type_):
        return _double_text if types.is_float64(type_) else _float_text
    if types.is_decimal(type_):
        return lambda value: format(value, "f")
    if types.is_date(type_):
        return lambda days: _moment_text(days * 86_400, 1, 0).partition("T")[0]
    if types.is_time(type_):
        per_second, digits = _PER_SECOND[type_.unit], _DIGITS[type_.unit]
        return lambda ticks: _moment_text(ticks, per_second, digits).partition("T")[2]
    if types.is_timestamp(type_):
        per_second, digits = _PER_SECOND[type_.unit], _DIGITS[type_.unit]
        zone = "" if type_.tz is None else "Z"
        return lambda ticks: _moment_text(ticks, per_second, digits).replace("T", day_and_time) + zone
    if _is_bytes(type_):
        return bytes_text
    return str


def _float_text(value: float) -> str:
    # Python holds a FLOAT as a double; the shortest text that means this FLOAT has fewer digits.
    return str(np.float32(value)) if math.isfinite(value) else _double_text(value)


def _double_text(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")


def _moment_text(ticks: int, per_second: int, digits: int) -> str:
    seconds, fraction = divmod(ticks, per_second)
    if not _SECONDS_MIN <= seconds <= _SECONDS_MAX:
        return f"{ticks}/{per_second} s"  # outside the years 1 to 9999 there is no ISO text
    text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return f"{text}.{fraction:0{digits}d}" if digits else text


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _whole_field(field: pa.Field) -> pa.Field:
    return field.with_type(in_whole_numbers(field.type))


def _is_list(type_: pa.DataType) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_) or pa.types.is_fixed_size_list(type_))


def _is_bytes(type_: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_))
