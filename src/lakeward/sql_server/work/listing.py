"""What tables there are, as one connection may know them."""

from __future__ import annotations

import asyncio
import fnmatch
from collections.abc import Callable

from lakeward.client.blocking.sync import Connection
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import LakewardError
from lakeward.model.table import TableInfo

_AT_ONCE = 16


def list_tables(conn: Connection, wanted: Callable[[str, str], bool], database: str | None = None) -> list[TableInfo]:
    """The tables that the connection may know of, by database and name; those that go meanwhile are left out.

    Who may read a table need not be told of its database: one that is asked for by name is looked into as well.
    """
    return conn.loop.run(_list(conn.inner, wanted, database))


def matches(pattern: str | None, name: str) -> bool:
    """Whether a name is like a pattern of SQL, `%` and `_`; any is, where there is none."""
    if pattern is None:
        return True
    glob = pattern.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]").replace("%", "*").replace("_", "?")
    return fnmatch.fnmatchcase(name, glob.replace("\\?", "_"))


async def _list(conn: AsyncConnection, wanted: Callable[[str, str], bool], named: str | None) -> list[TableInfo]:
    places = asyncio.Semaphore(_AT_ONCE)

    async def look(path: str) -> TableInfo | None:
        async with places:
            try:
                return (await conn.table(path)).info
            except LakewardError:
                return None

    databases = dict.fromkeys([*await conn.databases(), *([named] if named else [])])
    names = [(database, await _tables_of(conn, database)) for database in databases]
    paths = [f"{database}.{table}" for database, tables in names for table in tables if wanted(database, table)]
    return [info for info in await asyncio.gather(*map(look, paths)) if info is not None]


async def _tables_of(conn: AsyncConnection, database: str) -> list[str]:
    try:
        return await conn.tables(database)
    except LakewardError:
        return []
