"""Values of a column as Postgres writes them in text."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as arrow

from lakeward.sql_server.postgres.codec.pg_types import JSON, oid_of

_QUOTED = set('{},"\\ \t\n\r\v\f')


def text_values(column: pa.Array) -> pa.Array:
    """Each value as its text, NULL where there is none; as large binary."""
    column = plain(column)
    kind = column.type
    for is_kind, make in _MAKERS:
        if is_kind(kind):
            return make(column).cast(pa.large_binary())
    if arrow.is_struct(kind) and len({field.name for field in kind}) < kind.num_fields:  # ROW(1, 2) has no names
        names = [f"f{n + 1}" for n in range(kind.num_fields)]
        column = pa.StructArray.from_arrays(column.flatten(), names, mask=column.is_null())
        kind = column.type
    return pa.array([None if v is None else _cell(kind, v).encode() for v in column.to_pylist()], pa.large_binary())


def plain(column: pa.Array) -> pa.Array:
    """Without dictionaries and extensions."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    return column.dictionary_decode() if arrow.is_dictionary(column.type) else column


def _floats(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    if pc.all(pc.is_finite(column)).as_py() is not False:
        return texts
    texts = pc.if_else(pc.is_nan(column), "NaN", texts)
    texts = pc.if_else(pc.equal(column, math.inf), "Infinity", texts)
    return pc.if_else(pc.equal(column, -math.inf), "-Infinity", texts)


def _decimals(column: pa.Array) -> pa.Array:
    """All their digits: Arrow writes small ones, and 0.0000000, with an exponent."""
    texts = column.cast(pa.string())
    short = pc.fill_null(pc.match_substring(texts, "E"), fill_value=False)
    if not pc.any(short).as_py():
        return texts
    digits = [format(value, "f") for value in column.filter(short).to_pylist()]
    return pc.replace_with_mask(texts, short, pa.array(digits, pa.string()))


def _moments(column: pa.Array) -> pa.Array:
    """Fractions of a second without zeros at their end."""
    zone = column.type.tz
    naive = column.cast(pa.timestamp("us"), safe=False)
    local = naive if zone in {None, "UTC"} else pc.local_timestamp(column.cast(pa.timestamp("us", zone), safe=False))
    texts = local.cast(pa.string())
    texts = pc.replace_substring_regex(texts, r"\.?0{1,6}$", "") if _has_fraction(texts) else texts
    return texts if zone is None else pc.binary_join_element_wise(texts, _offsets(local, naive), "")


def _offsets(local: pa.Array, naive: pa.Array) -> pa.Array:
    """How far the clocks of a zone are from those of UTC: +01, -03:30; there are few such values."""
    found = pc.dictionary_encode(pc.seconds_between(naive, local))
    return pc.take(pa.array(map(_offset, found.dictionary.to_pylist()), pa.string()), found.indices)


def _offset(seconds: int) -> str:
    parts = [abs(seconds) // 3600, abs(seconds) // 60 % 60, abs(seconds) % 60]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return ("-" if seconds < 0 else "+") + ":".join(f"{part:02}" for part in parts)


def _has_fraction(texts: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring(texts, ".")).as_py())


def _times(column: pa.Array) -> pa.Array:
    texts = column.cast(pa.string())
    return pc.replace_substring_regex(texts, r"\.?0{1,9}$", "") if _has_fraction(texts) else texts


def _hex(column: pa.Array) -> pa.Array:
    return pa.array([None if v is None else "\\x" + v.hex() for v in column.to_pylist()], pa.string())


def _cell(kind: pa.DataType, value: Any) -> str:
    """One value of a nested type, or an interval."""
    if arrow.is_interval(kind):
        return interval_text(value)
    if oid_of(kind) == JSON:
        return json.dumps(_json(kind, value), ensure_ascii=False)
    if arrow.is_list(kind) or arrow.is_large_list(kind) or arrow.is_fixed_size_list(kind):
        return "{" + ",".join(_element(kind.value_type, one) for one in value) + "}"
    return _scalar(kind, value)


def _element(kind: pa.DataType, value: Any) -> str:
    if value is None:
        return "NULL"
    if arrow.is_nested(kind) and oid_of(kind) != JSON:
        return _cell(kind, value)
    text = _cell(kind, value)
    if text and not _QUOTED & set(text) and text.upper() != "NULL":
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _scalar(kind: pa.DataType, value: Any) -> str:
    one = text_values(pa.array([value], kind))
    return bytes(one[0].as_py()).decode()


def interval_text(value: Any) -> str:
    """Months, days and nanoseconds as Postgres shows them."""
    years, months = divmod(abs(value.months), 12)
    sign = "-" if value.months < 0 else ""
    micros = abs(value.nanoseconds) // 1000
    seconds, fraction = divmod(micros, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    clock += f".{fraction:06}".rstrip("0") if fraction else ""
    parts = [
        f"{sign}{years} year{'s' * (years != 1)}" if years else "",
        f"{sign}{months} mon{'s' * (months != 1)}" if months else "",
        f"{value.days} day{'s' * (abs(value.days) != 1)}" if value.days else "",
        ("-" if value.nanoseconds < 0 else "") + clock if micros else "",
    ]
    return " ".join(part for part in parts if part) or "00:00:00"


def _json(kind: pa.DataType, value: Any) -> Any:
    """A value as JSON has it: rows and maps are objects."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if arrow.is_struct(kind):
        return {field.name: _json(field.type, value[field.name]) for field in kind}
    if arrow.is_map(kind):
        return {_key(kind.key_type, key): _json(kind.item_type, one) for key, one in value}
    if isinstance(value, list):
        return [_json(kind.value_type, one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 2**53 else format(value, "f")
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return _scalar(kind, value)


def _key(kind: pa.DataType, key: Any) -> str:
    return key if isinstance(key, str) else _scalar(kind, key)


_MAKERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array]], ...] = (
    (lambda k: arrow.is_string(k) or arrow.is_large_string(k) or arrow.is_string_view(k), lambda c: c),
    (arrow.is_integer, lambda c: c.cast(pa.string())),
    (arrow.is_boolean, lambda c: pc.if_else(c, "t", "f")),
    (arrow.is_floating, _floats),
    (arrow.is_decimal, _decimals),
    (arrow.is_date, lambda c: c.cast(pa.string())),
    (arrow.is_timestamp, _moments),
    (arrow.is_time, _times),
    (lambda k: arrow.is_binary(k) or arrow.is_large_binary(k) or arrow.is_fixed_size_binary(k), _hex),
    (arrow.is_null, lambda c: c.cast(pa.string())),
)
