"""Live tail: choose a table, columns and a condition, and see rows as they come."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response

from lakeward.client.tables.table import AsyncTable
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.live.position import offsets_of_text
from lakeward.console.pages.live.tail import After, Tail, filter_schema
from lakeward.console.pages.live.tail_form import STARTS, TailForm, tail_form
from lakeward.console.pages.table_choice import table_names
from lakeward.errors import ErrorCode, InvalidError, LakewardError, NotFoundError
from lakeward.query.duckdb.question.batch_filter import batch_filter

#: A browser keeps six connections to one console, and the others of its pages need some.
_TAILS_PER_VISITOR = 4
_DIGITS_MAX = 15
_tails: Counter[str] = Counter()


async def show_tail(visit: Visit) -> Response:
    """The page: the form, and below it the rows, once a table is chosen."""
    connection = await visit.connection()
    names, asked = await table_names(connection), visit.query("table")
    empty: dict[str, Any] = {"tables": names, "table": asked, "starts": STARTS, "info": None, "form": TailForm(())}
    if not asked:
        return visit.show("tail.html", **empty, errors={})
    try:
        table = await connection.table(asked)
    except (NotFoundError, InvalidError) as wrong:
        return visit.show("tail.html", 400, **empty, errors={"table": wrong.message})
    form = _form(visit, table)
    errors = dict(form.errors) | await _condition_error(table, form)
    values = empty | {"table": str(table.path), "info": table.info, "form": form}
    return visit.show("tail.html", 400 if errors else 200, **values, errors=errors)


async def send_rows(visit: Visit) -> Response:
    """The rows, as events."""
    table = await (await visit.connection()).table(visit.query("table"))
    form = _form(visit, table)
    if form.errors:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(" ".join(form.errors.values()))
    return visit.stream(_count_open(visit.visitor, Tail(table, form, visit.house.clock, _after(visit))))


def _after(visit: Visit) -> After:
    """Where a page goes on that was paused, or had lost its connection."""
    text, time_ms = visit.query("after"), visit.query("since")
    if text:
        return offsets_of_text(text)
    return int(time_ms) if time_ms.isascii() and time_ms.isdecimal() and len(time_ms) <= _DIGITS_MAX else None


async def _count_open(visitor: str, tail: Tail) -> AsyncIterator[dict[str, Any]]:
    if _tails[visitor] >= _TAILS_PER_VISITOR:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(
            f"{_TAILS_PER_VISITOR} live tails are open in this browser, which is as many as there may be; close one."
        )
    _tails[visitor] += 1
    try:
        documents = tail.documents()
        try:
            async for document in documents:
                yield document
        finally:
            await documents.aclose()  # type: ignore[attr-defined]
    finally:
        _tails[visitor] -= 1
        if not _tails[visitor]:
            del _tails[visitor]


def _form(visit: Visit, table: AsyncTable) -> TailForm:
    return tail_form(
        table.info,
        visit.request.query_params.getlist("column"),
        visit.query("where"),
        visit.query("from", "last"),
        visit.query("origin") == "yes",
    )


async def _condition_error(table: AsyncTable, form: TailForm) -> dict[str, str]:
    """What is wrong with the condition, before any row is read."""
    if not form.where or "where" in form.errors:
        return {}

    def attempt() -> None:
        with batch_filter(form.where, filter_schema(table)):
            pass

    try:
        await asyncio.to_thread(attempt)
    except LakewardError as wrong:
        return {"where": wrong.message}
    return {}


PAGES = (
    Page("/live", "Live tail", show_tail, nav="Live tail", position=30),
    Page("/live/events", "Live tail", send_rows),
)
