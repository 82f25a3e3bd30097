"""Which tables are meant: names, patterns with * and ?, whole databases, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath


async def chosen_tables(source: AsyncConnection, asked: Sequence[str]) -> list[TablePath]:
    """The tables of the source that are asked for, all of them when none are; a name that fits nothing is an error."""
    there = [
        TablePath(database, table) for database in await source.databases() for table in await source.tables(database)
    ]
    if not asked:
        return there
    found: dict[TablePath, None] = {}
    for text in asked:
        pattern = _full_name(text)
        fitting = [path for path in there if fnmatchcase(str(path), pattern)]
        if not fitting:
            names = [str(path) for path in there]
            near = get_close_matches(pattern, names, n=5)
            known = ", ".join(near or names[:5]) + (" …" if len(near or names[:5]) < len(names) else "")
            raise ErrorCode.TABLE_NOT_EXIST.error(
                f"The source at {source.bootstrap} has no table {text}" + (f"; it has {known}." if there else ".")
            )
        found.update(dict.fromkeys(fitting))
    return list(found)


def _full_name(text: str) -> str:
    """`db.*` for a database written as `db.`, `fluss.table` for a table alone."""
    database, dot, table = text.partition(".")
    return f"{database}.{table or '*'}" if dot else f"fluss.{text}"
