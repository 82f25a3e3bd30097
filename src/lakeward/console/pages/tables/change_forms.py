"""Forms that change what is there: properties, columns, and dropping, which asks for the name to be typed."""

from __future__ import annotations

from starlette.responses import Response

from lakeward.client.forms.schema_forms import columns_of
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.tables.create_forms import WHOLE, refusal
from lakeward.console.pages.tables.table_form import check_property
from lakeward.console.pages.tables.table_page import path_in, show_table_with
from lakeward.errors import InvalidError, LakewardError


async def alter_property(visit: Visit) -> Response:
    """Give a property a value, or its default again when the value is left empty."""
    typed = {"key": visit.field("key"), "value": visit.field("value")}
    key, value = typed["key"].strip(), typed["value"].strip()
    if not key:
        return await show_table_with(visit, typed, {"key": "Choose a property."})
    connection = await visit.connection()
    try:
        if value:
            check_property(key, value)
            await connection.alter_table(path_in(visit), set={key: value})
        else:
            await connection.alter_table(path_in(visit), reset=[key])
    except LakewardError as wrong:
        blamed = "value" if isinstance(wrong, InvalidError) and "alue" in wrong.message[:20] else "key"
        return await show_table_with(visit, typed, refusal(wrong, blamed))
    return _to_table(visit, "altered")


async def add_column(visit: Visit) -> Response:
    """Add columns at the end, given as in SQL."""
    typed = {"column": visit.field("column")}
    try:
        if not typed["column"].strip() or not columns_of(typed["column"]):
            return await show_table_with(visit, typed, {"column": "Type a name and a type, such as: coupon STRING"})
        await (await visit.connection()).alter_table(path_in(visit), add_columns=typed["column"])
    except LakewardError as wrong:
        return await show_table_with(visit, typed, refusal(wrong, "column"))
    return _to_table(visit, "altered")


async def show_drop(visit: Visit) -> Response:
    """Ask before a table, a partition or a database is dropped."""
    return await _ask(visit, {}, {})


async def drop(visit: Visit) -> Response:
    """Drop it, if its name was typed."""
    wanted = _what(visit)
    typed = {"confirm": visit.field("confirm"), "cascade": visit.field("cascade")}
    if typed["confirm"].strip() != wanted:
        return await _ask(visit, typed, {"confirm": f"Type {wanted} to drop it."})
    connection = await visit.connection()
    database, table = visit.path_value("database"), visit.request.path_params.get("table")
    try:
        if table is None:
            await connection.drop_database(database, cascade=bool(typed["cascade"]))
            return visit.go("/tables", "dropped")
        if visit.query("partition"):
            opened = await connection.table(path_in(visit))
            spec = next((p.spec for p in await opened.partitions() if p.name == visit.query("partition")), None)
            if spec is not None:
                await opened.drop_partition(spec)
            return _to_table(visit, "dropped")
        await connection.drop_table(path_in(visit))
    except LakewardError as wrong:
        return await _ask(visit, typed, refusal(wrong, WHOLE))
    return visit.go(f"/databases/{database}", "dropped")


def _what(visit: Visit) -> str:
    """The name that is to be typed."""
    if "table" not in visit.request.path_params:
        return visit.path_value("database")
    return visit.query("partition") or path_in(visit)


async def _ask(visit: Visit, typed: dict[str, str], errors: dict[str, str]) -> Response:
    connection = await visit.connection()
    database = visit.path_value("database")
    is_database = "table" not in visit.request.path_params
    tables = len(await connection.tables(database)) if is_database else 0
    if not is_database:
        await connection.table(path_in(visit))  # says so if it is not there
    partition = "" if is_database else visit.query("partition")
    return visit.show(
        "tables/drop.html",
        400 if errors else 200,
        kind="database" if is_database else "partition" if partition else "table",
        name=_what(visit),
        of=path_in(visit) if partition else "",
        back=f"/databases/{database}" if is_database else f"/tables/{database}/{visit.path_value('table')}",
        partition=partition,
        tables=tables,
        typed=typed,
        errors=errors,
    )


def _to_table(visit: Visit, note: str) -> Response:
    return visit.go(f"/tables/{visit.path_value('database')}/{visit.path_value('table')}", note)


PAGES = (
    Page("/tables/{database}/{table}/property", "Property", alter_property, method="POST"),
    Page("/tables/{database}/{table}/column", "Column", add_column, method="POST"),
    Page("/tables/{database}/{table}/drop", "Drop", show_drop),
    Page("/tables/{database}/{table}/drop", "Drop", drop, method="POST"),
    Page("/databases/{database}/drop", "Drop", show_drop),
    Page("/databases/{database}/drop", "Drop", drop, method="POST"),
)
