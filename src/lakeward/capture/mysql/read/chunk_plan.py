"""Ranges of keys of about so many rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lakeward.capture.mysql.cells.charsets import Query
from lakeward.capture.mysql.cells.native_type import ORDERED, parse_native_type
from lakeward.capture.mysql.read.literals import jsonable, key_natives, key_sides, within
from lakeward.capture.mysql.schema.tables import quote_name
from lakeward.capture.port import Chunk, SourceTable

#: Numbers with gaps up to so many times the rows are cut by arithmetic; sparser ones by looking.
_GAPS_MAX = 4


def chunk_columns(table: SourceTable) -> tuple[str, ...]:
    """The first columns of the key, as far as the server orders them as it orders literals."""
    names: list[str] = []
    for name in table.schema.primary_key:
        native = parse_native_type(table.native_types[name])
        if native.name not in ORDERED or native.is_compressed:
            break
        names.append(name)
    return tuple(names)


def plan_chunks(query: Query, table: SourceTable, rows: int) -> list[Chunk]:
    """Ranges that cover every key; the first and the last are open."""
    names = chunk_columns(table)
    if not names:
        return [Chunk(0)]
    natives = key_natives(table, names)
    source = quote_name(table.id.space, table.id.name)
    if len(table.schema.primary_key) == 1 and natives[0].integer_bytes:
        bounds = _numeric_bounds(query, source, quote_name(names[0]), rows)
        if bounds is not None:
            return _chunks([(bound,) for bound in bounds])
    sides = key_sides(names)
    found: list[tuple[Any, ...]] = []
    while True:
        low = Chunk(0, found[-1] if found else None)
        answer = query(
            f"SELECT {', '.join(sides)} FROM {source} WHERE {within(sides, natives, low)}"  # noqa: S608 - names are quoted
            f" ORDER BY {', '.join(sides)} LIMIT 1 OFFSET {rows}"
        )
        bound = tuple(jsonable(value) for value in answer[0]) if answer else None
        if bound is None or (found and bound == found[-1]):
            return _chunks(found)
        found.append(bound)


def _numeric_bounds(query: Query, source: str, column: str, rows: int) -> list[int] | None:
    """Numbers at even distances, if the keys are dense enough for that."""
    low, high, count = query(f"SELECT MIN({column}), MAX({column}), COUNT(*) FROM {source}")[0]  # noqa: S608
    if not count or count <= rows:
        return []
    if high - low + 1 > _GAPS_MAX * count:
        return None
    step = max((high - low + 1) * rows // count, 1)
    return list(range(low + step, high + 1, step))


def _chunks(bounds: Sequence[tuple[Any, ...]]) -> list[Chunk]:
    ends: list[tuple[Any, ...] | None] = [None, *bounds, None]
    return [Chunk(index, ends[index], ends[index + 1]) for index in range(len(ends) - 1)]
