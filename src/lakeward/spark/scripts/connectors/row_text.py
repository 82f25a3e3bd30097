"""A row as a line of text: `+I[1, a]`, values as Java's `toString` has them, as readers of other printers know it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time
from decimal import Decimal
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

MARKS = {"insert": "+I", "update_before": "-U", "update_after": "+U", "delete": "-D"}
#: Powers of ten between which Java writes a fraction without an exponent.
_PLAIN_EXPONENTS = range(-3, 7)
_BYTE_MAX = 127


def row_text(values: Iterable[Any], types: Iterable[DataType], change: str = "insert") -> str:
    """A row, as Spark collects it, with the mark of its change."""
    return f"{MARKS[change]}[{', '.join(map(_text, values, types))}]"


def _text(value: Any, type_: Any) -> str:
    if value is None:
        return "null"
    match type_.typeName():
        case "boolean":
            return "true" if value else "false"
        case "float":
            return _fraction_text(value, _shortest_single(value))
        case "double":
            return _fraction_text(value, repr(value))
        case "timestamp":
            return _moment_text(value.astimezone(UTC))  # without a zone it is this machine's time
        case "timestamp_ntz":
            return _moment_text(value)
        case "binary":
            return f"[{', '.join(str(byte - 256 if byte > _BYTE_MAX else byte) for byte in value)}]"
        case "array":
            return f"[{', '.join(_text(inner, type_.elementType) for inner in value)}]"
        case "map":
            pairs = (f"{_text(key, type_.keyType)}={_text(inner, type_.valueType)}" for key, inner in value.items())
            return f"{{{', '.join(pairs)}}}"
        case "struct":
            return row_text(value, [field.dataType for field in type_.fields])
        case _:
            return _plain_text(value)


def _plain_text(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    return _time_text(value) if isinstance(value, time) else str(value)


def _shortest_single(value: float) -> str:
    from numpy import float32, format_float_scientific

    return format_float_scientific(float32(value), unique=True)


def _fraction_text(value: float, shortest: str) -> str:
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    digits = Decimal(shortest)
    exponent = digits.adjusted()
    if value == 0 or exponent in _PLAIN_EXPONENTS:
        plain = f"{digits:f}".removesuffix(".")
        return plain if "." in plain else f"{plain}.0"
    sign, figures, _ = digits.normalize().as_tuple()
    rest = "".join(map(str, figures[1:])) or "0"
    return f"{'-' if sign else ''}{figures[0]}.{rest}E{exponent}"


def _moment_text(value: datetime) -> str:
    text = f"{value.date().isoformat()}T{_time_text(value.time())}"
    if value.tzinfo is None:
        return text
    return f"{text}Z" if value.second or value.microsecond else f"{text}:00Z"


def _time_text(value: time) -> str:
    """Without seconds where there are none, and with three digits or six of a second where it takes them."""
    text = f"{value.hour:02}:{value.minute:02}"
    if value.second or value.microsecond:
        text += f":{value.second:02}"
    if value.microsecond % 1000:
        return f"{text}.{value.microsecond:06}"
    return f"{text}.{value.microsecond // 1000:03}" if value.microsecond else text
