"""WATERMARK FOR column AS column - INTERVAL …: the delay as Spark writes it."""

from __future__ import annotations

import re

from sqlglot import exp

from lakeward.language.grammar.text.reader import Reader
from lakeward.language.grammar.tree.trees import read_expression
from lakeward.language.statements.create_table import Watermark

_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")
_SMALL_UNITS = ("WEEK", *_UNITS, "MILLISECOND", "MICROSECOND")
_NUMBER = re.compile(r"\d+(\.\d+)?")


def read_watermark(reader: Reader, end: int) -> Watermark:
    """What follows WATERMARK FOR, up to the token with that number."""
    place = reader.place()
    column = str(reader.full_name("a column's name"))
    reader.expect("AS", " after the watermark's column")
    start = reader.place()
    expression = read_expression(reader, end)
    delay = _delay(expression, column)
    if delay is None:
        reader.refuse_at(
            start,
            f"expected {column} or {column} - INTERVAL '5' SECOND: a watermark is the column, or less an interval"
            " of days, hours, minutes or seconds.",
        )
    return Watermark(column, expression, delay, place)


def _delay(expression: exp.Expression, column: str) -> str | None:
    """The delay as an interval of Spark; None if the expression is none of the two forms."""
    if isinstance(expression, exp.Column):
        return "0 seconds" if _is_column(expression, column) else None
    if not isinstance(expression, exp.Sub) or not _is_column(expression.this, column):
        return None
    interval = expression.expression
    return interval_text(interval) if isinstance(interval, exp.Interval) else None


def _is_column(tree: exp.Expr, column: str) -> bool:
    return isinstance(tree, exp.Column) and ".".join(part.name for part in tree.parts).lower() == column.lower()


def interval_text(interval: exp.Interval) -> str | None:
    """An interval of fixed length as Spark's text, such as `1 hours 30 minutes`; None if it is none."""
    text, unit = interval.this.name.strip() if interval.this else "", interval.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return _span_text(text, _unit_name(unit.this), _unit_name(unit.expression))
    name = _unit_name(unit)
    if name not in _SMALL_UNITS or not _NUMBER.fullmatch(text):
        return None
    return f"{text} {name.lower()}s"


def _unit_name(unit: exp.Expr | None) -> str:
    """The unit in the singular; SECOND(3) is SECOND."""
    name = unit.name.upper() if unit is not None else ""
    return name.removesuffix("S")


def _span_text(text: str, first: str, last: str) -> str | None:
    if first not in _UNITS or last not in _UNITS:
        return None
    units = _UNITS[_UNITS.index(first) : _UNITS.index(last) + 1]
    numbers = re.split("[ :]", text)
    if len(numbers) != len(units) or not all(_NUMBER.fullmatch(number) for number in numbers):
        return None
    return " ".join(f"{number.lstrip('0') or '0'} {unit.lower()}s" for number, unit in zip(numbers, units, strict=True))
