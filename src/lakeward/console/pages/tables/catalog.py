"""What there is: databases with their tables, filtered and in pages."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from lakeward.client.tables.connection import AsyncConnection
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.tables.pieces import piece_of
from lakeward.errors import DeniedError, LakewardError

_TABLES_SHOWN = 50
_DATABASES_SHOWN = 100
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class TableRow:
    """A table in a list; what could not be learned is None."""

    database: str
    table: str
    kind: str = ""
    columns: int | None = None
    buckets: int | None = None
    partition_keys: tuple[str, ...] = ()
    comment: str = ""
    trouble: str = ""


async def show_databases(visit: Visit) -> Response:
    """Databases; with a filter, the tables of all of them whose names hold it."""
    connection = await visit.connection()
    names = await connection.databases()
    wanted = visit.query("q")
    if wanted.strip():
        paths = [f"{name}.{table}" for name in names for table in await _tables(connection, name)]
        piece = piece_of(paths, wanted, visit.query("page"), _TABLES_SHOWN)
        rows = await _rows(connection, [path.partition(".")[::2] for path in piece.rows])
        return visit.show("tables/found.html", piece=piece, rows=rows)
    piece = piece_of(names, "", visit.query("page"), _DATABASES_SHOWN)
    counts = await asyncio.gather(*(_tables(connection, name) for name in piece.rows))
    databases = [(name, len(tables)) for name, tables in zip(piece.rows, counts, strict=True)]
    return visit.show("tables/databases.html", piece=piece, databases=databases)


async def show_database(visit: Visit) -> Response:
    """The tables of one database."""
    connection = await visit.connection()
    name = visit.path_value("database")
    database = await connection.database(name)
    piece = piece_of(await connection.tables(name), visit.query("q"), visit.query("page"), _TABLES_SHOWN)
    rows = await _rows(connection, [(name, table) for table in piece.rows])
    visit.title = name
    return visit.show("tables/database.html", database=database, piece=piece, rows=rows)


async def _tables(connection: AsyncConnection, database: str) -> list[str]:
    try:
        return await connection.tables(database)
    except DeniedError:
        return []


async def _rows(connection: AsyncConnection, names: list[tuple[str, str]]) -> list[TableRow]:
    turns = asyncio.Semaphore(_AT_ONCE)

    async def look(database: str, table: str) -> TableRow:
        async with turns:
            return await _row(connection, database, table)

    return list(await asyncio.gather(*(look(*name) for name in names)))


async def _row(connection: AsyncConnection, database: str, name: str) -> TableRow:
    try:
        table = await connection.table(f"{database}.{name}")
    except LakewardError as wrong:  # dropped meanwhile, or not ours to see
        return TableRow(database, name, trouble=wrong.message)
    made = table.info.descriptor
    return TableRow(
        database,
        name,
        kind="primary key" if made.has_primary_key else "log",
        columns=len(made.schema.columns),
        buckets=made.bucket_count,
        partition_keys=made.partition_keys,
        comment=made.comment or "",
    )


PAGES = (
    Page("/tables", "Tables", show_databases, nav="Tables", position=10),
    Page("/databases/{database}", "Database", show_database),
)
