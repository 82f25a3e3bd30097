"""The pages of consumer groups: all of them, one with its lag, a reset that is shown before it happens, a delete."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from urllib.parse import quote

from starlette.responses import Response

from lakeward.client.blocking.groups import ConsumerGroups
from lakeward.client.blocking.sync import Connection
from lakeward.console.cluster.beside import beside
from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.groups.group_view import BUCKETS_MAX, Move, moves_of, read_groups, tables_of
from lakeward.console.pages.groups.reset_form import TARGETS, Reset, ResetForm, reset_of
from lakeward.errors import InvalidError, NotFoundError
from lakeward.options.secrets import without_passwords

_REFUSED = 400


async def show_groups(visit: Visit) -> Response:
    """All groups."""
    return visit.show("groups/groups.html", groups=await beside(await visit.connection(), read_groups))


async def show_group(visit: Visit) -> Response:
    """One group, bucket by bucket."""
    return await _show_group(visit, visit.query("name"))


async def _show_group(
    visit: Visit, name: str, typed: dict[str, str] | None = None, errors: dict[str, str] | None = None
) -> Response:
    found = await beside(await visit.connection(), lambda conn: ConsumerGroups(conn).describe(name))
    visit.title = f"Group {name}"
    return visit.show(
        "groups/group.html",
        _REFUSED if errors else 200,
        group=name,
        tables=tables_of(found),
        targets=TARGETS,
        typed=typed or {},
        errors=errors or {},
    )


async def check_reset(visit: Visit) -> Response:
    """What a reset would do, before it does it."""
    form = _form(visit)
    reset = reset_of(form, visit.house.clock.now_ms())
    moves: list[Move] = []
    if not reset.errors:
        try:
            moves = await beside(await visit.connection(), lambda conn: _moves(conn, form, reset))
        except (InvalidError, NotFoundError) as wrong:
            reset.errors["table"] = without_passwords(wrong.message)
    if reset.errors:
        typed = {"table": form.table, "to": form.to, "value": form.value, "partition": form.partition}
        return await _show_group(visit, form.group, typed | {"buckets": form.buckets}, reset.errors)
    if isinstance(reset.to, datetime):
        form = replace(form, value=reset.to.isoformat())  # what is shown is what is done, a minute later, too
    visit.title = f"Reset group {form.group}"
    return visit.show(
        "groups/reset.html",
        form=form,
        where=form.value if form.to in {"timestamp", "offset"} else TARGETS[form.to],
        moves=moves[:BUCKETS_MAX],
        moves_in_all=len(moves),
        again=-sum(min(move.change or 0, 0) for move in moves),
        passed=sum(max(move.change or 0, 0) for move in moves),
    )


async def reset_group(visit: Visit) -> Response:
    """Move a group."""
    form = _form(visit)
    reset = reset_of(form, visit.house.clock.now_ms())
    if reset.errors:
        return await _show_group(visit, form.group, {}, reset.errors)
    await beside(
        await visit.connection(),
        lambda conn: ConsumerGroups(conn, visit.house.clock).reset(
            form.group, form.table, reset.to, partitions=reset.partitions, buckets=reset.buckets
        ),
    )
    return visit.go(_address(form.group), "reset")


async def ask_to_delete(visit: Visit) -> Response:
    """Is a group really to be forgotten?"""
    name = visit.query("name")
    found = await beside(await visit.connection(), lambda conn: ConsumerGroups(conn).describe(name))
    visit.title = f"Delete group {name}"
    return visit.show("groups/delete.html", group=name, tables=tables_of(found))


async def delete_group(visit: Visit) -> Response:
    """Forget a group."""
    name = visit.field("group")
    await beside(await visit.connection(), lambda conn: ConsumerGroups(conn).delete(name))
    return visit.go("/groups", "forgotten")


def _form(visit: Visit) -> ResetForm:
    return ResetForm(*(visit.field(name) for name in ("group", "table", "to", "value", "partition", "buckets")))


def _moves(conn: Connection, form: ResetForm, reset: Reset) -> list[Move]:
    groups = ConsumerGroups(conn)
    places = groups.places(form.table, reset.to, partitions=reset.partitions, buckets=reset.buckets)
    return moves_of(groups.committed(form.group, form.table), places)


def _address(group: str) -> str:
    return f"/groups/group?name={quote(group, safe='')}"


PAGES = (
    Page("/groups", "Groups", show_groups, nav="Groups", position=60),
    Page("/groups/group", "Group", show_group),
    Page("/groups/check", "Reset a group", check_reset, method="POST", changes=False),
    Page("/groups/reset", "Reset a group", reset_group, method="POST"),
    Page("/groups/delete", "Delete a group", ask_to_delete),
    Page("/groups/delete", "Delete a group", delete_group, method="POST"),
)
