"""A table cut into ranges of its key: evenly where keys are numbers without great gaps, by a sample otherwise."""

from __future__ import annotations

from itertools import pairwise

from lakeward.capture.port import Chunk, SourceTable
from lakeward.capture.postgres.read.queries import name
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.slot import quote_table
from lakeward.model.data_types import TypeRoot

_INTEGERS = {TypeRoot.SMALLINT, TypeRoot.INTEGER, TypeRoot.BIGINT}
#: Numbers with more room than this between them are cut by a sample.
_SPARSE = 4
_SAMPLES_PER_CHUNK = 50
_SMALL = 100_000


def cut_table(session: Session, table: SourceTable, rows: int) -> list[Chunk]:
    """Ranges of about so many rows; the first and the last are open."""
    key = table.schema.primary_key
    if not key:
        return [Chunk(0)]
    total = _row_count(session, table)
    pieces = -(-total // max(1, rows))
    if pieces <= 1:
        return [Chunk(0)]
    cuts = _even_cuts(session, table, total, pieces) or _sampled_cuts(session, table, total, pieces)
    ends = [None, *cuts, None]
    return [Chunk(n, low, high) for n, (low, high) in enumerate(pairwise(ends))]


def _row_count(session: Session, table: SourceTable) -> int:
    """About how many rows there are: counted where the server has no idea, or an idea that they are few."""
    query = "SELECT sum(greatest(reltuples, -1))::bigint FROM pg_class WHERE oid = %s::regclass"
    estimate = int(session.row(query, [quote_table(table.id)])[0])
    return estimate if estimate > _SMALL else int(session.row(f"SELECT count(*) FROM {quote_table(table.id)}")[0])


def _even_cuts(session: Session, table: SourceTable, total: int, pieces: int) -> list[tuple[str, ...]]:
    key = table.schema.primary_key
    if len(key) != 1 or table.schema.column(key[0]).type.root not in _INTEGERS:
        return []
    low, high = session.row(f"SELECT min({name(key[0])}), max({name(key[0])}) FROM {quote_table(table.id)}")
    if low is None or high - low + 1 > _SPARSE * total:
        return []
    step = max(1, -(-(high - low + 1) // pieces))
    return [(str(cut),) for cut in range(low + step, high + 1, step)]


def _sampled_cuts(session: Session, table: SourceTable, total: int, pieces: int) -> list[tuple[str, ...]]:
    """Keys at even distances in a sorted sample; the server sorts, by the rules of the column."""
    key = [name(column) for column in table.schema.primary_key]
    percent = min(100.0, 100.0 * pieces * _SAMPLES_PER_CHUNK / total)
    sample = f"TABLESAMPLE SYSTEM ({percent:.6f})" if total > _SMALL else ""
    texts = ", ".join(f"{column}::text" for column in key)
    ordered = ", ".join(key)
    query = (
        f"SELECT {texts} FROM (SELECT {ordered}, row_number() OVER (ORDER BY {ordered}) AS place, count(*) OVER () AS n"
        f" FROM {quote_table(table.id)} {sample}) s"
        f" WHERE place > 1 AND (place - 1) * {pieces} / n <> (place - 2) * {pieces} / n ORDER BY place"
    )
    return [tuple(row) for row in session.rows(query)]
