"""LakeRow: how one lake table does, as the pages show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords
from lakeward.tiering.watch.status_table import FAILED, RUNNING, WAITING, TableStatus, read_statuses
from lakeward.tiering.watch.table_tiering import NEW, PAUSED_STATE, TableTiering, tiered_tables, tiering_of

TABLES_MAX = 100
#: A lake that is so many times its freshness behind is worth a look.
_LATE = 3
_SLACK_MS = 30_000
_LEVELS = {WAITING: "good", RUNNING: "", PAUSED_STATE: "warn", FAILED: "bad", NEW: "warn"}
_MEANINGS = {
    WAITING: "Between two rounds.",
    RUNNING: "A round is under way.",
    PAUSED_STATE: "No round begins by the clock until somebody resumes it.",
    FAILED: "The last round failed, and is tried again.",
    NEW: "No tiering service has told of a round yet. Start one with `lakeward tier`, if none runs.",
}


@dataclass(frozen=True, slots=True)
class LakeRow:
    """One table. `trouble` says why nothing is known of it."""

    table: str
    state: str = "unknown"
    level: str = "bad"
    meaning: str = ""
    is_paused: bool = False
    format: str | None = None
    freshness_s: float = 0.0
    lag_rows: int | None = None
    lag_s: float | None = None
    is_late: bool = False
    status: TableStatus | None = None
    reason: str | None = None
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LakeTables:
    """The tables that are shown, and how many there are."""

    rows: Sequence[LakeRow]
    in_all: int


def read_rows(conn: Connection, now_ms: int) -> LakeTables:
    """Every lake table, up to a bound; one that cannot be asked about says why."""
    statuses = read_statuses(conn)
    tables = tiered_tables(conn)
    rows = [_read_row(conn, table, statuses.get(str(table.path)), now_ms) for table in tables[:TABLES_MAX]]
    return LakeTables(rows, len(tables))


def _read_row(conn: Connection, table: Table, status: TableStatus | None, now_ms: int) -> LakeRow:
    try:
        return row_of(tiering_of(conn, table, status, now_ms))
    except LakewardError as wrong:
        return LakeRow(str(table.path), trouble=without_passwords(wrong.message))


def row_of(found: TableTiering) -> LakeRow:
    """What is shown of a table."""
    status, lag = found.status, found.lag
    is_late = lag.seconds is not None and lag.seconds * 1000 > max(_LATE * found.freshness_ms, _SLACK_MS)
    return LakeRow(
        table=found.table,
        state=found.state,
        level=_LEVELS.get(found.state, "warn"),
        meaning=_MEANINGS.get(found.state, ""),
        is_paused=found.is_paused,
        format=found.format,
        freshness_s=found.freshness_ms / 1000,
        lag_rows=lag.rows,
        lag_s=lag.seconds,
        is_late=is_late and not found.is_paused,
        status=status,
        reason=without_passwords(status.reason) if status is not None and status.reason else None,
    )
