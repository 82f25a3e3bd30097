"""StreamMeter: Spark's progress reports of one stream → rows, rows a second, lag, state."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakeward.runtime.clock import Clock
from lakeward.spark.scripts.jobs.job_record import StreamProgress

_WINDOW_S = 10.0
#: What a source that leaves messages out calls the figure in which it counts them.
SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class _Batch:
    rows: int
    begin_s: float
    end_s: float


class StreamMeter:
    """Takes reports in the order in which they were made, each once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._progress = StreamProgress()
        self._recent: deque[_Batch] = deque()
        self._last: tuple[int, str] = (-1, "")

    def is_new(self, report: Mapping[str, Any]) -> bool:
        """Whether this report comes after the last one that was taken."""
        return _key(report) > self._last

    def take(self, report: Mapping[str, Any]) -> None:
        """Count a report. An idle stream reports its last batch again, with no rows."""
        self._last = _key(report)
        took = report.get("durationMs") or {}
        skipped = _count_skipped(report)
        rows = max(0, int(report.get("numInputRows") or 0) - skipped)  # Spark counts those that are left out later
        operators = report.get("stateOperators") or []
        behind = [_behind(source) for source in report.get("sources") or []]
        self._progress = StreamProgress(
            rows=self._progress.rows + rows,
            lag_rows=_sum(behind, "rowsBehind"),
            lag_ms=max((int(one["lagMs"]) for one in behind if "lagMs" in one), default=None),
            state_rows=sum(int(one.get("numRowsTotal", 0)) for one in operators) if operators else None,
            skipped_rows=self._progress.skipped_rows + skipped,
            late_rows=self._progress.late_rows + sum(int(one.get("numRowsDroppedByWatermark", 0)) for one in operators),
            batches=self._progress.batches + ("addBatch" in took),
        )
        if rows:
            now_s = self._clock.monotonic()
            self._recent.append(_Batch(rows, now_s - float(took.get("triggerExecution", 0)) / 1000, now_s))

    @property
    def progress(self) -> StreamProgress:
        """The figures, as they are now."""
        now_s = self._clock.monotonic()
        while self._recent and now_s - self._recent[0].end_s > max(_WINDOW_S, _length(self._recent[0])):
            self._recent.popleft()
        if not self._recent:
            return self._progress
        span_s = max(now_s - min(batch.begin_s for batch in self._recent), 0.001)
        return replace(self._progress, rows_per_s=sum(batch.rows for batch in self._recent) / span_s)


def _behind(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a source says of its lag: as metrics, or, where it is in Python and has none, beside its latest offset."""
    latest = source.get("latestOffset")
    if isinstance(latest, str) and latest.startswith("{"):
        latest = json.loads(latest)
    return source.get("metrics") or (latest if isinstance(latest, dict) else {})


def _key(report: Mapping[str, Any]) -> tuple[int, str]:
    return int(report["batchId"]), str(report["timestamp"])


def _length(batch: _Batch) -> float:
    return batch.end_s - batch.begin_s


def _sum(found: list[Mapping[str, Any]], key: str) -> int | None:
    """The sum over sources; unknown if one of them cannot tell."""
    told = [int(one[key]) for one in found if key in one]
    return sum(told) if told and len(told) == len(found) else None


def _count_skipped(report: Mapping[str, Any]) -> int:
    """Messages that sources left out in this batch."""
    observed = report.get("observedMetrics") or {}
    return sum(int(row.get(SKIPPED) or 0) for name, row in observed.items() if name.startswith(f"{SKIPPED} "))
