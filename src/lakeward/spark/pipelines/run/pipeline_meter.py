"""PipelineMeter: what batches and Spark's reports say → rows, rows a second, lag and phase, by table."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeward.capture.port import TableId
from lakeward.capture.progress import Progress
from lakeward.pipelines.plan import TablePlan
from lakeward.pipelines.status import TableStatus
from lakeward.runtime.clock import Clock
from lakeward.spark.pipelines.write.report import Report

_WINDOW_S = 10.0
_NOTES_MAX = 20


@dataclass(slots=True)
class _Table:
    target: str
    rows: int = 0
    recent: deque[tuple[float, int]] = field(default_factory=deque)
    committed_ms: int | None = None


class PipelineMeter:
    """Figures of one run of a pipeline; taken from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tables: dict[str, _Table] = {}
        self._progress = Progress()
        self._began_s = clock.monotonic()
        self.successes = 0
        """Grows whenever something went well."""
        self.lag_ms: int | None = None
        self.held_bytes: int | None = None
        self.notes: deque[str] = deque(maxlen=_NOTES_MAX)

    @property
    def phase(self) -> str:
        """What the pipeline does, in words."""
        return self._progress.phase if self._progress.has_begun else "starting"

    def expect(self, plans: Sequence[TablePlan]) -> None:
        """These tables will come."""
        with self._lock:
            for plan in plans:
                self._tables.setdefault(str(plan.source.id), _Table(plan.target))

    def take(self, report: Report) -> None:
        """Count a batch that is done."""
        now_s = self._clock.monotonic()
        with self._lock:
            for name, rows in report.rows.items():
                table = self._tables.setdefault(name, _Table(name))
                table.rows += rows
                table.recent.append((now_s, rows))
                table.committed_ms = report.committed_ms.get(name, table.committed_ms)
            self.notes.extend(report.notes)
            self.successes += 1

    def look(self, report: Mapping[str, Any]) -> None:
        """Take a progress report of Spark, which makes none of a trigger that failed."""
        with self._lock:
            self.successes += 1
        source = next(iter(report.get("sources") or []), None) or {}
        end, latest = _form(source.get("endOffset")), _form(source.get("latestOffset"))
        if end:
            self._progress = Progress.of_json(end)
        self.lag_ms = latest.get("lagMs", self.lag_ms)
        self.held_bytes = latest.get("heldBytes", self.held_bytes)

    def tables(self) -> tuple[TableStatus, ...]:
        """How each table is now."""
        with self._lock:
            return tuple(self._status(name, table) for name, table in sorted(self._tables.items()))

    def _status(self, name: str, table: _Table) -> TableStatus:
        now_s = self._clock.monotonic()
        while table.recent and now_s - table.recent[0][0] > _WINDOW_S:
            table.recent.popleft()
        span_s = max(min(_WINDOW_S, now_s - self._began_s), 1.0)
        phase = self._phase_of(name)
        return TableStatus(
            source=name,
            target=table.target,
            phase=phase,
            rows=table.rows,
            rows_per_s=sum(rows for _, rows in table.recent) / span_s,
            lag_ms=self.lag_ms if phase == "streaming" else None,
        )

    def _phase_of(self, name: str) -> str:
        space, _, table = name.partition(".")
        id_ = TableId(space, table)
        if not self._progress.has_begun or id_ in self._progress.waiting:
            return "waiting"
        for copy in self._progress.copying:
            if copy.id == id_ and copy.left:
                return f"snapshot {100 * (copy.total - len(copy.left)) // copy.total} %"
        return "streaming" if any(known.id == id_ for known in self._progress.known) else "not followed"


def _form(offset: Any) -> dict[str, Any]:
    """An offset as Spark reports it: JSON, or a text that is."""
    found = json.loads(offset) if isinstance(offset, str) and offset else offset
    return found if isinstance(found, dict) else {}
