"""Forms for what is to be: a database, a table, a partition. What is refused is said beside its field."""

from __future__ import annotations

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.tables.table_form import FIELDS, read_table_form
from lakeward.console.pages.tables.table_page import path_in, show_table_with
from lakeward.errors import AlreadyExistsError, ErrorCode, LakewardError
from lakeward.model import names
from lakeward.options.secrets import without_passwords
from lakeward.options.table import TABLE_OPTIONS

#: What the form as a whole is told.
WHOLE = ""


async def show_new_database(visit: Visit) -> Response:
    """The form of a database."""
    return visit.show("tables/new_database.html", typed={}, errors={})


async def create_database(visit: Visit) -> Response:
    """Create it, or say why not."""
    typed = {name: visit.field(name) for name in ("name", "comment")}
    name = typed["name"].strip()
    try:
        names.check_database(name)
        await (await visit.connection()).create_database(name, comment=typed["comment"].strip() or None)
    except LakewardError as wrong:
        errors = refusal(wrong, "name")
        return visit.show("tables/new_database.html", 400, typed=typed, errors=errors)
    return visit.go(f"/databases/{name}", "created")


async def show_new_table(visit: Visit) -> Response:
    """The form of a table."""
    return _table_form(visit, {}, {})


async def create_table(visit: Visit) -> Response:
    """Create it, or say of each field what is wrong with it; what was typed stays."""
    database = visit.path_value("database")
    typed = {name: visit.field(name) for name in FIELDS}
    form = read_table_form(typed)
    if form.errors:
        return _table_form(visit, typed, form.errors)
    try:
        await (await visit.connection()).create_table(f"{database}.{form.name}", **form.arguments)
    except LakewardError as wrong:
        return _table_form(visit, typed, refusal(wrong, "name" if isinstance(wrong, AlreadyExistsError) else WHOLE))
    return visit.go(f"/tables/{database}/{form.name}", "created")


def _table_form(visit: Visit, typed: dict[str, str], errors: dict[str, str]) -> Response:
    database = visit.path_value("database")
    status = 400 if errors else 200
    keys = sorted(option.key for option in TABLE_OPTIONS if not option.inert)
    return visit.show("tables/new_table.html", status, database=database, typed=typed, errors=errors, keys=keys)


async def create_partition(visit: Visit) -> Response:
    """Create a partition from the values of its columns."""
    table = await (await visit.connection()).table(path_in(visit))
    keys = table.info.descriptor.partition_keys
    typed = {f"value-{key}": visit.field(f"value-{key}") for key in keys}
    empty = {name: "Type a value." for name, value in typed.items() if not value.strip()}
    if empty:
        return await show_table_with(visit, typed, empty)
    try:
        await table.create_partition({key: typed[f"value-{key}"].strip() for key in keys})
    except LakewardError as wrong:
        return await show_table_with(visit, typed, refusal(wrong, f"value-{keys[0]}" if keys else WHOLE))
    return visit.go(f"/tables/{visit.path_value('database')}/{visit.path_value('table')}", "created")


def refusal(wrong: LakewardError, blamed: str) -> dict[str, str]:
    """An error beside the field that it is about; a cluster that does not answer is no field's fault."""
    if wrong.code in (ErrorCode.NETWORK, ErrorCode.REQUEST_TIME_OUT, ErrorCode.AUTHENTICATE):
        raise wrong
    is_denied = wrong.code is ErrorCode.AUTHORIZATION
    return {WHOLE if is_denied else blamed: without_passwords(wrong.message)}


PAGES = (
    Page("/new-database", "New database", show_new_database),
    Page("/new-database", "New database", create_database, method="POST"),
    Page("/databases/{database}/new-table", "New table", show_new_table),
    Page("/databases/{database}/new-table", "New table", create_table, method="POST"),
    Page("/tables/{database}/{table}/new-partition", "New partition", create_partition, method="POST"),
)
