"""What people tell the tiering service about one table: a round now, no more rounds, rounds again.

It is told by properties of the table, which every cluster keeps; the service may be on any machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode
from lakeward.options.table import LAKE_ENABLED
from lakeward.options.tiering import PAUSED, REQUESTED_MS
from lakeward.tiering.watch.lag import lag_of


@dataclass(frozen=True, slots=True)
class AskedRound:
    """A round that somebody asked for, and what the log had that the lake lacked just before."""

    asked_ms: int
    rows: int
    ends: Mapping[BucketId, int]


def ask_for_round(conn: Connection, table: Table, now_ms: int, more: Mapping[str, str] | None = None) -> AskedRound:
    """Have a round of a table begin at once; a paused table is tiered once."""
    _check_tiered(table)
    asked = AskedRound(now_ms, lag_of(conn, table, now_ms).rows, table.offsets("latest"))
    conn.alter_table(str(table.path), set={REQUESTED_MS.key: str(now_ms), **(more or {})})
    return asked


def pause(conn: Connection, table: Table) -> None:
    """Begin no more rounds of a table; one under way ends as usual."""
    _check_tiered(table)
    conn.alter_table(str(table.path), set={PAUSED.key: "true"})


def resume(conn: Connection, table: Table) -> None:
    """Let the rounds of a table go on."""
    _check_tiered(table)
    if PAUSED.key in table.info.descriptor.custom_properties:
        conn.alter_table(str(table.path), reset=[PAUSED.key])


def _check_tiered(table: Table) -> None:
    if not LAKE_ENABLED.read(table.info.descriptor.properties):
        raise ErrorCode.INVALID_CONFIG.error(
            f"{table.path} is not tiered: turn it on with `lakeward tables alter {table.path} "
            f"--set {LAKE_ENABLED.key}=true`."
        )
