"""TableTiering: how one lake table does, as commands and the console tell it."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.options.table import LAKE_ENABLED, LAKE_FORMAT, LAKE_FRESHNESS
from lakeward.options.tiering import PAUSED
from lakeward.tiering.watch.lag import Lag, lag_of
from lakeward.tiering.watch.status_table import RUNNING, TableStatus

NEW, PAUSED_STATE = "new", "paused"


@dataclass(frozen=True, slots=True)
class TableTiering:
    """What the service wrote down of a table, and how far the lake is behind it."""

    table: str
    state: str
    is_paused: bool
    format: str | None
    freshness_ms: int
    lag: Lag
    #: None: no service ever had it.
    status: TableStatus | None


def tiered_tables(conn: Connection) -> list[Table]:
    """Every table that is to be in the lake, by name."""
    found = [conn.table(f"{db}.{name}") for db in conn.databases() for name in conn.tables(db)]
    return [table for table in found if LAKE_ENABLED.read(table.info.descriptor.properties)]


def tiering_of(conn: Connection, table: Table, status: TableStatus | None, now_ms: int) -> TableTiering:
    """How a table does; `status` is what is written down under its name, perhaps of an earlier table."""
    if status is not None and status.table_id != table.info.table_id:
        status = None
    descriptor = table.info.descriptor
    is_paused = bool(PAUSED.read(descriptor.custom_properties))
    state = NEW if status is None else status.state
    return TableTiering(
        table=str(table.path),
        state=PAUSED_STATE if is_paused and state != RUNNING else state,
        is_paused=is_paused,
        format=LAKE_FORMAT.read(descriptor.properties),
        freshness_ms=LAKE_FRESHNESS.read(descriptor.properties),
        lag=lag_of(conn, table, now_ms),
        status=status,
    )
