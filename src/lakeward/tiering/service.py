"""The tiering service: heartbeats, takes tables, runs their rounds side by side, reports.

A table that fails is reported and waits longer each time before it is tried again; the others go on meanwhile.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from lakeward.client.lake import HeartbeatAnswer, LakeTotals, TieringRound
from lakeward.client.sync import Connection
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.runtime.clock import Clock
from lakeward.tiering.round import RoundReport
from lakeward.tiering.watchers import Watcher

logger = logging.getLogger(__name__)

_POLL_S = 0.5
_HEARTBEAT_S = 20
_BACKOFF_S_MIN, _BACKOFF_S_MAX = 1.0, 300.0
_UNREACHABLE_PAUSE_S = 2.0


@dataclass(slots=True)
class _Running:
    """A table we hold. While it backs off after a failure it takes no slot."""

    future: Future[RoundReport] | None
    start_at: float


@dataclass(slots=True)
class _Failures:
    count: dict[int, int] = field(default_factory=dict)

    def pause_s(self, table_id: int) -> float:
        failed = self.count.get(table_id, 0)
        return 0.0 if not failed else min(_BACKOFF_S_MIN * 2 ** (failed - 1), _BACKOFF_S_MAX)


class TieringService:
    """Runs until it is told to stop. One of several may run at once: epochs and the lake's own commits fence them."""

    def __init__(
        self,
        conn: Connection,
        run: Callable[[TieringRound], RoundReport],
        clock: Clock,
        watcher: Watcher,
        slots: int = 2,
    ) -> None:
        self._conn = conn
        self._run = run
        self._clock = clock
        self._watcher = watcher
        self._slots = slots
        self._rounds = ThreadPoolExecutor(slots, thread_name_prefix="tiering")
        self._running: dict[TieringRound, _Running] = {}
        self._failures = _Failures()
        self._stop = threading.Event()
        self._news = threading.Event()
        self._beaten_at = float("-inf")

    def stop(self) -> None:
        """End after the rounds that run."""
        self._stop.set()
        self._news.set()

    def run(self) -> None:
        """Tier tables until `stop`; rounds that run are finished and reported."""
        while not self._stop.is_set() or self._running:
            try:
                self._step()
            except LakewardError as wrong:
                self._watcher.unreachable(wrong)
                self._news.wait(_UNREACHABLE_PAUSE_S)
            self._news.wait(_POLL_S)
            self._news.clear()
        self._rounds.shutdown()

    # -- one step -----------------------------------------------------------------------------------------------------

    def _step(self) -> None:
        self._start_due()
        finished, failed = self._ended()
        wants = not self._stop.is_set() and self._free()
        due = self._clock.monotonic() - self._beaten_at >= _HEARTBEAT_S
        if not (finished or failed or wants or due):
            return
        answer = self._conn.lake.heartbeat(
            tiering=[r for r in self._running if r not in finished and r not in failed],
            finished=finished,
            failed=failed,
            wants_table=wants,
        )
        self._beaten_at = self._clock.monotonic()
        for reported in (*finished, *failed):
            del self._running[reported]
        self._take(answer)

    def _take(self, answer: HeartbeatAnswer) -> None:
        for table_id, refusal in answer.refused.items():
            self._watcher.fenced(table_id, refusal)
            for held in [r for r in self._running if r.table_id == table_id and self._running[r].future is None]:
                del self._running[held]  # it never began; a round that runs ends by itself, fenced by the lake
        if answer.assigned is not None:
            pause = self._failures.pause_s(answer.assigned.table_id)
            self._running[answer.assigned] = _Running(None, self._clock.monotonic() + pause)
            self._news.set()  # there may be another one

    def _start_due(self) -> None:
        now = self._clock.monotonic()
        for held, running in self._running.items():
            if running.future is None and running.start_at <= now and not self._stop.is_set():
                self._watcher.began(held)
                running.future = self._rounds.submit(self._run, held)
                running.future.add_done_callback(lambda _: self._news.set())
        if self._stop.is_set():
            for held in [r for r, running in self._running.items() if running.future is None]:
                del self._running[held]

    def _free(self) -> bool:
        busy = sum(running.future is not None for running in self._running.values())
        due = sum(
            running.future is None and running.start_at <= self._clock.monotonic() for running in self._running.values()
        )
        return busy + due < self._slots

    def _ended(self) -> tuple[dict[TieringRound, LakeTotals | None], list[TieringRound]]:
        finished: dict[TieringRound, LakeTotals | None] = {}
        failed: list[TieringRound] = []
        for held, running in self._running.items():
            if running.future is None or not running.future.done():
                continue
            wrong = running.future.exception()
            if wrong is None:
                self._failures.count.pop(held.table_id, None)
                report = running.future.result()
                finished[held] = LakeTotals(report.file_bytes, report.rows) if report.rows else None
                self._watcher.ended(held, report)
            elif isinstance(wrong, LakeConflictError):
                finished[held] = None  # somebody else did it: nothing is lost, nothing to wait for
                self._watcher.overtaken(held, wrong)
            else:
                failed.append(held)
                self._failures.count[held.table_id] = self._failures.count.get(held.table_id, 0) + 1
                self._watcher.failed(held, _explained(wrong), self._failures.pause_s(held.table_id))
        return finished, failed


def _explained(wrong: BaseException) -> LakewardError:
    if isinstance(wrong, LakewardError):
        return wrong
    logger.error("A tiering round failed in an unexpected way.", exc_info=wrong)
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"{type(wrong).__name__}: {wrong}")
