"""Keys as SQL: literals that compare as the column does, and the predicates of ranges."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from typing import Any

from lakeward.capture.mysql.cells.native_type import NativeType, parse_native_type
from lakeward.capture.mysql.schema.tables import quote, quote_name
from lakeward.capture.port import Chunk, SourceTable


def literal(native: NativeType, value: Any) -> str:
    """A value of a key, as JSON or as Arrow gives it, in the column's own type and collation."""
    match value:
        case int():
            return str(value)
        case decimal.Decimal():
            return format(value, "f")
        case bytes():
            return f"X'{value.hex()}'"
        case dt.datetime():
            value = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
            return quote(value.isoformat(" ", "microseconds"))
        case dt.date():
            return quote(value.isoformat())
    if native.name in {"binary", "varbinary"}:
        return f"X'{value}'"
    if native.collation is None:
        return quote(str(value))
    return f"CONVERT({quote(str(value))} USING {native.charset}) COLLATE {native.collation}"


def jsonable(value: Any) -> Any:
    """A value of a key as JSON: numbers stay, bytes become hexadecimal digits, the rest text."""
    match value:
        case bytes():
            return value.hex()
        case int():
            return value
        case dt.datetime():
            return value.isoformat(" ")
        case _:
            return str(value)


def within(sides: Sequence[str], natives: Sequence[NativeType], chunk: Chunk) -> str:
    """The condition that a key, given as SQL, is in a range; `TRUE` for a range without ends."""
    parts = []
    if chunk.low is not None:
        parts.append(_compare(sides, natives, chunk.low, at_least=True))
    if chunk.high is not None:
        parts.append(_compare(sides, natives, chunk.high, at_least=False))
    return " AND ".join(parts) or "TRUE"


def _compare(sides: Sequence[str], natives: Sequence[NativeType], bound: Sequence[Any], *, at_least: bool) -> str:
    """`(a, b) >= (x, y)` or `<`, spelt out so that the server uses its index."""
    strict = ">" if at_least else "<"
    ways = []
    for last in range(len(bound)):
        same = [f"{sides[i]} = {literal(natives[i], bound[i])}" for i in range(last)]
        sign = f"{strict}=" if at_least and last == len(bound) - 1 else strict
        ways.append(" AND ".join([*same, f"{sides[last]} {sign} {literal(natives[last], bound[last])}"]))
    lead = ""
    if len(bound) > 1:  # the index is used by its first column, which the server does not see in an OR
        lead = f"{sides[0]} {strict}= {literal(natives[0], bound[0])} AND "
    return lead + "(" + " OR ".join(f"({way})" for way in ways) + ")"


def key_natives(table: SourceTable, names: Sequence[str]) -> list[NativeType]:
    """The types of key columns."""
    return [parse_native_type(table.native_types[name]) for name in names]


def key_sides(names: Sequence[str]) -> list[str]:
    """Key columns as SQL."""
    return [quote_name(name) for name in names]
