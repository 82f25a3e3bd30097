"""Which tables there are to choose from, for pages that are about one."""

from __future__ import annotations

from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import LakewardError

#: More are not listed; a table can be named all the same.
_TABLES_MAX = 500


async def table_names(connection: AsyncConnection) -> list[str]:
    """The tables that may be seen, as `db.table`."""
    found: list[str] = []
    for database in await connection.databases():
        try:
            found += [f"{database}.{table}" for table in await connection.tables(database)]
        except LakewardError:
            continue  # dropped meanwhile, or not for this user: there is nothing to choose in it
        if len(found) >= _TABLES_MAX:
            break
    return found[:_TABLES_MAX]
