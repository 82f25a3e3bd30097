"""What happened to each table's tiering, kept in a table of the cluster itself: `lakeward.tiering_status`.

So `lakeward tier status` works wherever the service runs, and on Apache Fluss too. It is written from a thread of its
own, the newest row of each table only: a cluster that cannot take it never holds up a round.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from lakeward.client.admin.lake import TieringRound
from lakeward.client.blocking.sync import Connection
from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock
from lakeward.tiering.round.round import RoundReport

logger = logging.getLogger(__name__)

DATABASE = "lakeward"
STATUS_TABLE = f"{DATABASE}.tiering_status"
_SCHEMA = (
    "table_name STRING NOT NULL, table_id BIGINT, state STRING, state_since_ms BIGINT, rounds BIGINT, "
    "last_round_ms BIGINT, last_rows BIGINT, last_bytes BIGINT, last_files INT, last_seconds DOUBLE, "
    "last_snapshot_id BIGINT, failures INT, reason STRING, failed_ms BIGINT, retry_ms BIGINT"
)
RUNNING, WAITING, FAILED = "tiering", "waiting", "failed"
#: A round without news begins and ends within this time, and is not worth a row.
_GATHER_S = 1.0


@dataclass(frozen=True, slots=True)
class TableStatus:
    """One table: what it does now, its last round that moved rows, and the reason of its last failure."""

    table_name: str
    table_id: int
    state: str = WAITING
    state_since_ms: int | None = None
    rounds: int = 0
    last_round_ms: int | None = None
    last_rows: int | None = None
    last_bytes: int | None = None
    last_files: int | None = None
    last_seconds: float | None = None
    last_snapshot_id: int | None = None
    failures: int = 0
    reason: str | None = None
    failed_ms: int | None = None
    retry_ms: int | None = None


def read_statuses(conn: Connection) -> dict[str, TableStatus]:
    """What was written, by the table's name; empty where no service ever ran."""
    if not conn.has_table(STATUS_TABLE):
        return {}
    known = [f.name for f in fields(TableStatus)]
    rows = conn.table(STATUS_TABLE).snapshot().to_pylist()
    return {row["table_name"]: TableStatus(**{k: row[k] for k in known}) for row in rows}


class StatusTable:
    """A watcher that keeps the table up to date. `close` writes what is left."""

    def __init__(self, conn: Connection, clock: Clock) -> None:
        self._conn = conn
        self._clock = clock
        self._known: dict[str, TableStatus] = {}
        self._written: dict[str, TableStatus] = {}
        self._unwritten: set[str] = set()
        self._is_open = True
        self._news = threading.Condition()
        self._writer = threading.Thread(target=self._write_all, name="tiering-status", daemon=True)
        self._writer.start()

    def close(self) -> None:
        """Write what is left and end."""
        with self._news:
            self._is_open = False
            self._news.notify()
        self._writer.join()

    # -- what is watched ----------------------------------------------------------------------------------------------

    def on_begin(self, held: TieringRound) -> None:
        """It runs."""
        self._change(held, lambda old, now_ms: replace(old, state=RUNNING, state_since_ms=now_ms))

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """It rests; a round that moved rows is remembered."""
        self._change(held, lambda old, now_ms: _after(old, report, now_ms))

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:  # noqa: ARG002 - no failure
        """It rests: another service did the work, or will."""
        self._change(held, lambda old, now_ms: replace(old, state=WAITING, state_since_ms=now_ms))

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:
        """Why, and when it is tried again."""
        self._change(
            held,
            lambda old, now_ms: replace(
                old,
                state=FAILED,
                state_since_ms=now_ms,
                failures=old.failures + 1,
                reason=why.message,
                failed_ms=now_ms,
                retry_ms=now_ms + int(pause_s * 1000),
            ),
        )

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Another round has begun, which tells for itself."""

    def on_silence(self, why: LakewardError) -> None:
        """Nothing can be written then."""

    # -- how it is written --------------------------------------------------------------------------------------------

    def _change(self, held: TieringRound, change: Callable[[TableStatus, int], TableStatus]) -> None:
        name = str(held.path)
        with self._news:
            old = self._known.get(name)
            if old is None or old.table_id != held.table_id:
                old = TableStatus(name, held.table_id)
            self._known[name] = change(old, self._clock.now_ms())
            self._unwritten.add(name)
            self._news.notify()

    def _write_all(self) -> None:
        table: Any = None
        while self._has_news():
            try:
                if table is None:
                    table = self._open_table()
                rows = self._changed_rows()
                if rows:
                    table.upsert([asdict(row) for row in rows.values()])
                    self._written |= rows
            except LakewardError as wrong:
                table = None
                self._changed_rows()  # tried again with the next news, which tell all of a table
                logger.warning("The status of tiering cannot be written to %s: %s", STATUS_TABLE, wrong.message)

    def _has_news(self) -> bool:
        """Wait for news, and a moment longer in which there may be more; False at the end."""
        with self._news:
            self._news.wait_for(lambda: self._unwritten or not self._is_open)
            self._news.wait_for(lambda: not self._is_open, timeout=_GATHER_S)
            return bool(self._unwritten)

    def _changed_rows(self) -> dict[str, TableStatus]:
        with self._news:
            rows, self._unwritten = {name: self._known[name] for name in self._unwritten}, set()
        return {name: row for name, row in rows.items() if not _says_the_same(row, self._written.get(name))}

    def _open_table(self) -> Any:
        self._conn.create_database(DATABASE, exist_ok=True)
        table = self._conn.create_table(STATUS_TABLE, _SCHEMA, primary_key=["table_name"], buckets=1, exist_ok=True)
        with self._news:  # what an earlier life of the service remembered; what this one knows already is newer
            for name, old in read_statuses(self._conn).items():
                mine = self._known.get(name)
                if mine is None:
                    self._known[name] = old
                elif mine.table_id == old.table_id and mine.last_round_ms is None:
                    self._known[name] = _with_past(mine, old)
        return table


def _after(old: TableStatus, report: RoundReport, now_ms: int) -> TableStatus:
    new = replace(old, state=WAITING, state_since_ms=now_ms, failures=0, retry_ms=None)
    if report.stopped:
        new = replace(new, state=FAILED, reason=" ".join(report.stopped), failed_ms=now_ms)
    if report.snapshot_id is None:
        return new
    return replace(
        new,
        rounds=old.rounds + 1,
        last_round_ms=now_ms,
        last_rows=report.rows,
        last_bytes=report.file_bytes,
        last_files=report.files,
        last_seconds=report.seconds,
        last_snapshot_id=report.snapshot_id,
    )


def _says_the_same(one: TableStatus, other: TableStatus | None) -> bool:
    return other is not None and replace(one, state_since_ms=None) == replace(other, state_since_ms=None)


def _with_past(mine: TableStatus, old: TableStatus) -> TableStatus:
    now = ("state", "state_since_ms", "failures", "reason", "failed_ms", "retry_ms")
    return replace(old, **{name: getattr(mine, name) for name in now})
