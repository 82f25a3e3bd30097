"""The pages of the lake: every table, one table with its rounds and snapshots, its files; tier now, pause, resume."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import quote

from starlette.responses import Response

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.console.cluster.beside import beside
from lakeward.console.frame.page import Handler, Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.lake.contents import LakeFiles, read_contents, read_files, rounds_of
from lakeward.console.pages.lake.lake_row import LakeRow, read_rows, row_of
from lakeward.console.pages.lake.timeline import ALL, HEIGHT, SPANS, WIDTH, timeline
from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.options.secrets import without_passwords
from lakeward.options.table import LAKE_ENABLED
from lakeward.tiering.watch.orders import ask_for_round, pause, resume
from lakeward.tiering.watch.round_history import PastRound, read_history
from lakeward.tiering.watch.status_table import read_statuses
from lakeward.tiering.watch.table_tiering import tiering_of

_ROUNDS_MAX = 25
#: The lake is elsewhere, and may not answer at all.
_LAKE_PATIENCE_S = 15.0
_ID_DIGITS_MAX = 20


@dataclass(frozen=True, slots=True)
class _Seen:
    """One table, as the cluster tells of it; `row` is None when it is not to be in the lake."""

    table: str
    row: LakeRow | None
    rounds: tuple[PastRound, ...] = ()


async def show_lake(visit: Visit) -> Response:
    """Every lake table."""
    now_ms = visit.house.clock.now_ms()
    found = await beside(await visit.connection(), lambda conn: read_rows(conn, now_ms))
    return visit.show("lake/lake.html", tables=found)


async def show_table(visit: Visit) -> Response:
    """One table: how it does, its rounds, its snapshots; a page that refreshes itself leaves the lake alone."""
    name, now_ms = visit.query("name"), visit.house.clock.now_ms()
    inner = await visit.connection()
    seen = await beside(inner, lambda conn: _see(conn, name, now_ms))
    contents, trouble = None, ""
    is_refresh = "x-refresh" in visit.request.headers
    if seen.row is not None and not is_refresh:
        try:
            contents = await beside(inner, lambda conn: read_contents(conn, conn.table(name)), _LAKE_PATIENCE_S)
        except LakewardError as wrong:
            trouble = without_passwords(wrong.message)
    rounds = list(seen.rounds)
    if not rounds and contents is not None:
        rounds = rounds_of(contents.snapshots)
    visit.title = f"{seen.table} in the lake"
    return visit.show(
        "lake/table.html",
        table=seen.table,
        row=seen.row,
        rounds=rounds[: -_ROUNDS_MAX - 1 : -1],
        rounds_in_all=len(rounds),
        timeline=timeline(rounds, now_ms, visit.query("span")),
        is_told_by_lake=not seen.rounds,
        spans=(*SPANS, ALL),
        drawing={"width": WIDTH, "height": HEIGHT},
        contents=contents,
        trouble=trouble,
        is_refresh=is_refresh,
    )


async def show_files(visit: Visit) -> Response:
    """The files of a snapshot."""
    name, text = visit.query("name"), visit.query("snapshot")
    if text and not (text.removeprefix("-").isdecimal() and len(text) <= _ID_DIGITS_MAX):
        raise ErrorCode.INVALID_CONFIG.error("The address names no snapshot: its number is one.")
    wanted = int(text) if text else None
    inner = await visit.connection()
    await inner.table(name)  # one that is not there is no trouble of the lake
    files: LakeFiles | None = None
    trouble = ""
    try:
        files = await beside(inner, lambda conn: read_files(conn, conn.table(name), wanted), _LAKE_PATIENCE_S)
    except NotFoundError:
        raise
    except LakewardError as wrong:
        trouble = without_passwords(wrong.message)
    visit.title = f"Files of {name}"
    return visit.show("lake/files.html", table=name, files=files, trouble=trouble)


def _see(conn: Connection, name: str, now_ms: int) -> _Seen:
    table = conn.table(name)
    path = str(table.path)
    if not LAKE_ENABLED.read(table.info.descriptor.properties):
        return _Seen(path, None)
    status = read_statuses(conn).get(path)
    found = tiering_of(conn, table, status, now_ms)
    # What was written down under this name may be of an earlier table.
    rounds = read_history(conn).get(path, []) if found.status is not None else []
    shown = tuple(replace(one, reason=one.reason and without_passwords(one.reason)) for one in rounds)
    return _Seen(path, row_of(found), shown)


def _order(tell: Callable[[Connection, Table, int], object], note: str) -> Handler:
    async def answer(visit: Visit) -> Response:
        name, now_ms = visit.field("table"), visit.house.clock.now_ms()
        await beside(await visit.connection(), lambda conn: tell(conn, conn.table(name), now_ms))
        return visit.go(f"/lake/table?name={quote(name, safe='')}", note)

    return answer


PAGES = (
    Page("/lake", "Lake", show_lake, nav="Lake", position=40),
    Page("/lake/table", "Lake table", show_table),
    Page("/lake/files", "Files", show_files),
    Page("/lake/now", "Tier now", _order(ask_for_round, "round"), method="POST"),
    Page("/lake/pause", "Pause", _order(lambda conn, table, _: pause(conn, table), "paused"), method="POST"),
    Page("/lake/resume", "Resume", _order(lambda conn, table, _: resume(conn, table), "resumed"), method="POST"),
)
