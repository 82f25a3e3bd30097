"""Lookup: a row of a table with a primary key, or the rows whose keys begin alike."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from lakeward.client.tables.table import AsyncTable
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.lookup.lookup_form import LookupForm, lookup_form, prefix_names
from lakeward.console.pages.table_choice import table_names
from lakeward.console.rows.shown_rows import shown_rows
from lakeward.errors import ErrorCode, InvalidError, LakewardError, NotFoundError

_ROWS_MAX = 1000


async def show_lookup(visit: Visit) -> Response:
    """The page: which table, its key, and what was found."""
    connection = await visit.connection()
    asked = visit.query("table")
    values: dict[str, Any] = {"tables": await table_names(connection), "table": asked, "form": None, "prefix": ()}
    if not asked:
        return visit.show("lookup.html", **values, errors={})
    try:
        table = await connection.table(asked)
    except (NotFoundError, InvalidError) as wrong:
        return visit.show("lookup.html", 400, **values, errors={"table": wrong.message})
    values["table"] = str(table.path)
    if not table.info.descriptor.has_primary_key:
        told = f"{table.path} has no primary key, so its rows are not found by key; see them by a live tail, or by SQL."
        return visit.show("lookup.html", 400, **values, errors={"table": told})
    by_prefix = visit.query("by") == "prefix" and bool(prefix_names(table.info))
    form = lookup_form(table.info, visit.request.query_params, by_prefix=by_prefix)
    values |= {"form": form, "prefix": prefix_names(table.info), "by_prefix": by_prefix}
    found = await _find(table, form, by_prefix)
    return visit.show("lookup.html", 400 if form.has_errors else 200, **values, errors={}, found=found)


async def _find(table: AsyncTable, form: LookupForm, by_prefix: bool) -> dict[str, Any] | None:
    """The rows as the page shows them; None where no key was given."""
    if form.key is None:
        return None
    try:
        if by_prefix:
            rows = await table.lookup_prefix(form.key)
        else:
            rows = await table.lookup(form.key, missing="drop")
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS:
            raise
        return {"rows": None, "count": 0, "is_cut": False}
    shown = shown_rows(rows.slice(0, _ROWS_MAX), table.info.schema)
    return {"rows": shown, "count": rows.num_rows, "is_cut": rows.num_rows > _ROWS_MAX}


PAGES = (Page("/lookup", "Lookup", show_lookup, nav="Lookup", position=35),)
