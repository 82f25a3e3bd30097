"""Units of time: what EXTRACT, FLOOR … TO, CEIL … TO, TIMESTAMPADD and TIMESTAMPDIFF do for each."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.shape.form import by_type, form
from lakeward.language.functions.shape.function import Call

#: A unit by its length in another, which is a unit of Spark's intervals.
_SPANS: Final = {
    "MILLISECOND": ("0.001", "SECOND"),
    "MICROSECOND": ("0.000001", "SECOND"),
    "SECOND": ("1", "SECOND"),
    "MINUTE": ("1", "MINUTE"),
    "HOUR": ("1", "HOUR"),
    "DAY": ("1", "DAY"),
    "WEEK": ("7", "DAY"),
    "MONTH": ("1", "MONTH"),
    "QUARTER": ("3", "MONTH"),
    "YEAR": ("1", "YEAR"),
}
_OF_MONTHS: Final = {"MONTH", "QUARTER", "YEAR"}
#: How many of hour, minute and second stay.
_PARTS_OF_DAY: Final = {"HOUR": 1, "MINUTE": 2, "SECOND": 3}
_FRACTION: Final = "extract(SECOND FROM {0})"
_EPOCH: Final = by_type(
    "{0}",
    {("timestamp_ntz", "date"): "(({0} - TIMESTAMP_NTZ '1970-01-01 00:00:00') DIV INTERVAL '1' SECOND)"},
    "unix_seconds(CAST({0} AS TIMESTAMP))",
)
#: What EXTRACT gives; a name of the unit alone is Spark's own.
_PARTS: Final = {
    "YEAR": "",
    "QUARTER": "",
    "MONTH": "",
    "WEEK": "",
    "DAY": "",
    "DOY": "",
    "DOW": "dayofweek({0})",
    "ISODOW": "(weekday({0}) + 1)",
    "ISOYEAR": "extract(YEAROFWEEK FROM {0})",
    "HOUR": "",
    "MINUTE": "",
    "SECOND": f"CAST(floor({_FRACTION}) AS INT)",
    "MILLISECOND": f"CAST(floor({_FRACTION} * 1000) % 1000 AS INT)",
    "MICROSECOND": f"CAST(floor({_FRACTION} * 1000000) % 1000000 AS INT)",
    "EPOCH": _EPOCH,
    "DECADE": "CAST(floor(year({0}) / 10) AS INT)",
    "CENTURY": "CAST(floor((year({0}) + 99) / 100) AS INT)",
    "MILLENNIUM": "CAST(floor((year({0}) + 999) / 1000) AS INT)",
}
_SHORT: Final = {"SQL_TSI_": "", "FRAC_SECOND": "MICROSECOND"}


def unit_of(call: Call, node: exp.Expression, known: dict[str, object] | None = None) -> str:
    """The unit that a word of a call names, in the singular."""
    name = node.name.upper()
    for long, short in _SHORT.items():
        name = name.replace(long, short)
    choices = known if known is not None else _SPANS
    for candidate in (name, name.removesuffix("S")):
        if candidate in choices:
            return candidate
    raise call.refuse(f"{node.name} is no unit of {call.name}: {', '.join(choices)} are.")


def interval(unit: str, count: int = 1) -> str:
    """The text of an interval of Spark's: `INTERVAL '7' DAY` for a week."""
    length, base = _SPANS[unit]
    number = f"{float(length) * count:.6f}".rstrip("0").rstrip(".") if "." in length else str(int(length) * count)
    return f"INTERVAL '{number}' {base}"


def rewrite_extract(call: Call) -> exp.Expression:
    """EXTRACT(unit FROM time)."""
    unit = unit_of(call, call.arguments[0], dict(_PARTS))
    return form(_PARTS[unit] or f"extract({unit} FROM {{0}})", call.arguments[1:])


def rewrite_difference(call: Call) -> exp.Expression:
    """TIMESTAMPDIFF(unit, start, end): days and what is shorter by the interval, which no time zone changes."""
    unit = unit_of(call, call.arguments[0])
    if unit in _OF_MONTHS:
        return form(f"timestampdiff({unit}, {{0}}, {{1}})", call.arguments[1:])
    return form(f"(({{1}} - {{0}}) DIV {interval(unit)})", call.arguments[1:])


def rewrite_addition(call: Call) -> exp.Expression:
    """TIMESTAMPADD(unit, count, time): a date stays a date where days or longer units are added."""
    unit = unit_of(call, call.arguments[0])
    count = call.arguments[1]
    literal = count.this if isinstance(count, exp.Neg) else count
    if isinstance(literal, exp.Literal) and not literal.is_string:
        number = int(literal.name) * (-1 if isinstance(count, exp.Neg) else 1)
        return form(f"({{0}} + {interval(unit, number)})", call.arguments[2:])
    added = f"({{1}} + {{0}} * {interval(unit)})"
    if unit in {"DAY", "WEEK"}:
        days = f"date_add(CAST({{1}} AS DATE), CAST({{0}} * {_SPANS[unit][0]} AS INT))"
        added = by_type("{1}", {("date",): days}, added)
    return form(added, call.arguments[1:])


def rewrite_floor(call: Call) -> exp.Expression:
    """FLOOR(time TO unit)."""
    time, word = call.arguments
    unit = unit_of(call, word)
    return form(_by_kind(_cut_local(unit), _cut(unit)), [time])


def rewrite_ceil(call: Call) -> exp.Expression:
    """CEIL(time TO unit)."""
    time, word = call.arguments
    unit = unit_of(call, word)
    local, instant = (f"if({cut} = {{0}}, {cut}, {cut} + {interval(unit)})" for cut in (_cut_local(unit), _cut(unit)))
    return form(_by_kind(local, instant), [time])


def _cut(unit: str) -> str:
    """In the session's time zone. A week begins with Sunday in the guide's SQL, with Monday in Spark's."""
    if unit == "WEEK":
        return "(date_trunc('WEEK', {0} + INTERVAL '1' DAY) - INTERVAL '1' DAY)"
    return f"date_trunc('{unit}', {{0}})"


def _cut_local(unit: str) -> str:
    """Without any zone: in one with summer time date_trunc would move the hour that is skipped."""
    if unit in _PARTS_OF_DAY:
        parts = ", ".join(f"{part}({{0}})" for part in ("hour", "minute", "second")[: _PARTS_OF_DAY[unit]])
        return f"(CAST(CAST({{0}} AS DATE) AS TIMESTAMP_NTZ) + make_dt_interval(0, {parts}))"
    if unit in {"MILLISECOND", "MICROSECOND"}:
        return f"CAST(date_trunc('{unit}', {{0}}) AS TIMESTAMP_NTZ)"
    day = "CAST({0} AS DATE)"
    day = f"date_sub({day}, dayofweek({{0}}) - 1)" if unit == "WEEK" else f"trunc({day}, '{unit}')"
    return f"CAST({'CAST({0} AS DATE)' if unit == 'DAY' else day} AS TIMESTAMP_NTZ)"


def _by_kind(local: str, instant: str) -> str:
    """A TIMESTAMP and a date have no zone."""
    cases: dict[tuple[str, ...], str] = {("timestamp_ntz",): local, ("date",): f"CAST({local} AS DATE)"}
    return by_type("{0}", cases, instant)
