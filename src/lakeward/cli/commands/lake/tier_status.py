"""How lake tables do: what the service wrote down, and how far the lake is behind the log."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import moment, say, show_listing
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.forms.results import BucketId
    from lakeward.tiering.watch.orders import AskedRound
    from lakeward.tiering.watch.table_tiering import TableTiering

_WAIT_S = 0.2


def show_status(connection: Connection, tables: Sequence[str], output: str) -> None:
    """Print a line for each table that is tiered, or one JSON document."""
    from lakeward.tiering.watch.status_table import read_statuses
    from lakeward.tiering.watch.table_tiering import tiered_tables, tiering_of

    statuses = read_statuses(connection)
    found = [connection.table(name) for name in tables] if tables else tiered_tables(connection)
    now_ms = SystemClock().now_ms()
    rows = [_row(tiering_of(connection, table, statuses.get(str(table.path)), now_ms)) for table in found]
    columns = ["table", "state", "lag_rows", "lag_seconds", "last_round", "rows", "files", "bytes", "seconds"]
    shown = rows if output == "json" else [_for_people(row) for row in rows]
    show_listing(shown, columns, output, "No table is tiered: set 'table.datalake.enabled'.", numbers=columns[2:4])
    if output == "table":
        for row in rows:
            if row["reason"] and row["state"] == "failed":
                again = "" if row["retry"] is None else f" Tried again at {row['retry']}."
                say(f"{row['table']} failed at {row['failed']}: {row['reason']}{again}")
        if any(row["state"] == "new" and row["lag_rows"] for row in rows):
            say("New: no service has begun a round yet. After one that was killed this takes up to two minutes.")


def _row(found: TableTiering) -> dict[str, Any]:
    row: dict[str, Any] = {
        "table": found.table,
        "state": found.state,
        "format": found.format,
        "freshness_seconds": found.freshness_ms / 1000,
        "lag_rows": found.lag.rows,
        "lag_seconds": found.lag.seconds,
        "snapshot_id": found.lag.snapshot_id,
    }
    told: dict[str, Any] = {
        "rounds": 0,
        "last_round": None,
        "rows": None,
        "bytes": None,
        "files": None,
        "seconds": None,
    }
    failure: dict[str, Any] = {"failures": 0, "reason": None, "failed": None, "retry": None}
    status = found.status
    if status is not None:
        told = {
            "rounds": status.rounds,
            "last_round": moment(status.last_round_ms or 0),
            "rows": status.last_rows,
            "bytes": status.last_bytes,
            "files": status.last_files,
            "seconds": status.last_seconds,
        }
        failure = {
            "failures": status.failures,
            "reason": status.reason,
            "failed": moment(status.failed_ms or 0),
            "retry": moment(status.retry_ms or 0),
        }
    return {**row, **told, **failure}


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    lag, took = row["lag_seconds"], row["seconds"]
    return {
        **row,
        "lag_rows": f"{row['lag_rows']:,}",
        "lag_seconds": "?" if lag is None else f"{lag:.1f}",
        "rows": None if row["rows"] is None else f"{row['rows']:,}",
        "bytes": None if row["bytes"] is None else f"{row['bytes']:,}",
        "seconds": None if took is None else f"{took:.1f}",
    }


def wait_for_lake(connection: Connection, table: Table, asked: AskedRound, timeout_s: float | None) -> None:
    """Wait until what the log held when a round was asked for is in the lake. A failure meanwhile is reported."""
    from lakeward.tiering.watch.status_table import read_statuses

    clock = SystemClock()
    end_s = None if timeout_s is None else clock.monotonic() + timeout_s
    while not _has_all(connection, table, asked.ends):
        status = read_statuses(connection).get(str(table.path))
        if status is not None and status.state == "failed" and (status.failed_ms or 0) >= asked.asked_ms:
            raise Failure(f"The round of {table.path} failed: {status.reason}")
        if end_s is not None and clock.monotonic() > end_s:
            raise Failure(
                f"{table.path} is not yet in the lake. Is a tiering service running? See `lakeward tier status`."
            )
        time.sleep(_WAIT_S)


def _has_all(connection: Connection, table: Table, ends: Mapping[BucketId, int]) -> bool:
    told = connection.lake.snapshot(table.path)
    offsets = {} if told is None else told.offsets
    ids: dict[str | None, int | None] = {None: None}
    if table.info.descriptor.is_partitioned:
        ids |= {p.name: p.id for p in table.partitions()}
    in_lake = {(b.partition_id, b.bucket): end for b, end in offsets.items()}
    return all(
        in_lake.get((ids[id_.partition], id_.bucket), 0) >= end for id_, end in ends.items() if id_.partition in ids
    )
