"""One table: schema, properties, partitions, buckets, sizes, a few rows."""

from __future__ import annotations

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.tables.property_rows import changeable_keys
from lakeward.console.pages.tables.table_look import look_at
from lakeward.console.pages.tables.table_view import view_of


async def show_table(visit: Visit) -> Response:
    """The page."""
    return await show_table_with(visit, {}, {})


async def show_table_with(visit: Visit, typed: dict[str, str], errors: dict[str, str]) -> Response:
    """The page, with what was typed into one of its forms and why that was refused."""
    path = path_in(visit)
    look = await look_at(visit, path)
    visit.title = path
    return visit.show(
        "tables/table.html",
        400 if errors else 200,
        view=view_of(look),
        look=look,
        info=look.info,
        made=look.info.descriptor,
        keys=changeable_keys(),
        typed=typed,
        errors=errors,
    )


def path_in(visit: Visit) -> str:
    """The table that the address names."""
    return f"{visit.path_value('database')}.{visit.path_value('table')}"


PAGES = (Page("/tables/{database}/{table}", "Table", show_table),)
