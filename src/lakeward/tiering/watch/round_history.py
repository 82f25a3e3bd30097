"""The rounds of the past, read from the changelog of the status table.

The service keeps one row for each table; every change of it is in the table's changelog, for as long as logs live.
Nothing else has to be kept, and it is there on Apache Fluss, after restarts and on every machine. Of rounds that follow
each other within a second only the last is a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.client.blocking.sync import Connection
from lakeward.tiering.watch.status_table import STATUS_TABLE

#: Changes of all tables together that are looked at.
CHANGES_MAX = 4000
_AFTER = {"+I", "+U"}
_COLUMNS = (
    "table_name", "table_id", "last_round_ms", "last_rows", "last_bytes", "last_files", "last_seconds",
    "last_snapshot_id", "reason", "failed_ms",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PastRound:
    """A round that is over: what it moved, or why it failed."""

    ended_ms: int
    reason: str | None = None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    seconds: float | None = None
    snapshot_id: int | None = None

    @property
    def is_failure(self) -> bool:
        """Whether it failed, or stopped before its end."""
        return self.reason is not None


def read_history(conn: Connection, changes_max: int = CHANGES_MAX) -> dict[str, list[PastRound]]:
    """The rounds of each table, oldest first; empty where no service ever ran."""
    if not conn.has_table(STATUS_TABLE):
        return {}
    table = conn.table(STATUS_TABLE)
    starts, ends = table.offsets("earliest"), table.offsets("latest")
    from_ = {bucket: max(starts.get(bucket, 0), end - changes_max) for bucket, end in ends.items()}
    changes = table.changelog(_COLUMNS, start=from_, end=ends).to_arrow().to_pylist()
    return history_of(changes)


def history_of(changes: Iterable[Mapping[str, Any]]) -> dict[str, list[PastRound]]:
    """Rounds out of the changes of status rows, in their order; those of an earlier table of a name are left out."""
    ids: dict[str, int] = {}
    found: dict[str, dict[tuple[int, bool], PastRound]] = {}
    for row in changes:
        if row["_change_type"] not in _AFTER:
            continue
        name, table_id = row["table_name"], row["table_id"]
        if ids.get(name) != table_id:
            ids[name], found[name] = table_id, {}
        rounds = found[name]
        if row["last_round_ms"] is not None:
            rounds[row["last_round_ms"], False] = _success(row)
        if row["failed_ms"] is not None:
            rounds[row["failed_ms"], True] = PastRound(row["failed_ms"], reason=row["reason"] or "no reason was told")
    return {name: sorted(rounds.values(), key=lambda one: one.ended_ms) for name, rounds in found.items()}


def _success(row: Mapping[str, Any]) -> PastRound:
    return PastRound(
        row["last_round_ms"],
        None,
        row["last_rows"],
        row["last_bytes"],
        row["last_files"],
        row["last_seconds"],
        row["last_snapshot_id"],
    )
