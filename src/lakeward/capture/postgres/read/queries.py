"""SQL over ranges and keys of a table, and COPY as the way its rows come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lakeward.capture.port import Chunk, SourceTable
from lakeward.capture.postgres.decode.cells import Cells, copy_cells
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.failures import check_answer, map_failures

_BULK_BYTES = 8 << 20


def name(text: str) -> str:
    """A name in SQL."""
    return '"' + text.replace('"', '""') + '"'


def literal(value: str | Sequence[str]) -> str:
    """A text in SQL, or a list of them."""
    if isinstance(value, str):
        escaped = value.replace("'", "''").replace("\\", "\\\\")
        return f" E'{escaped}'"
    return f"ARRAY[{', '.join(literal(text) for text in value)}]"


def names_now(table: SourceTable, numbers: Mapping[int, str]) -> list[str]:
    """The names that the columns have by now, by their numbers; empty where a column is gone."""
    there = set(numbers.values())
    return [numbers.get(c.id, c.name if c.name in there else "") for c in table.schema.columns]


def select_list(names: Sequence[str], prefix: str = "") -> str:
    """Columns under these names; NULL where there is none."""
    return ", ".join(prefix + name(found) if found else "NULL::text" for found in names)


def range_condition(table: SourceTable, chunk: Chunk, columns: Sequence[str] | None = None) -> str:
    """Whether a row is in a chunk; the columns of the key, or expressions in their place, are compared as a row."""
    keys = list(table.schema.primary_key)
    left = ", ".join(columns or [name(key) for key in keys])
    parts = []
    for values, sign in ((chunk.low, ">="), (chunk.high, "<")):
        if values is not None:
            right = ", ".join(
                f"{literal(str(value))}::{table.native_types[key]}" for key, value in zip(keys, values, strict=True)
            )
            parts.append(f"({left}) {sign} ({right})")
    return " AND ".join(parts) or "true"


def copy_out(connection: Any, session: Session, query: str) -> Iterator[bytes]:
    """Lines of COPY, many at a time; a line is a message, so that the loop below is the one that costs."""
    pgconn = connection.pgconn
    with map_failures(session.settings, hang_up=session.close):
        check_answer(pgconn.exec_(f"COPY ({query}) TO STDOUT".encode()), session.settings)
        parts: list[memoryview] = []
        total, take = 0, pgconn.get_copy_data
        while True:
            size, data = take(0)
            if size <= 0:
                break
            parts.append(data)
            total += size
            if total >= _BULK_BYTES:
                yield b"".join(parts)
                parts, total = [], 0
        if parts:
            yield b"".join(parts)
        while (answer := pgconn.get_result()) is not None:
            check_answer(answer, session.settings)


def read_copy_of(session: Session, query: str, columns: int) -> Cells:
    """All that a query answers, as cells."""
    with session.connection() as connection:
        return copy_cells(b"".join(copy_out(connection, session, query)), columns)
