"""The tiering service: heartbeats, takes tables, runs their rounds side by side, reports.

A table that fails is reported and waits longer each time before it is tried again; the others go on meanwhile.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from lakeward.client.admin.lake import HeartbeatAnswer, LakeTotals, TieringRound
from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.conflict import LakeConflictError
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import Clock
from lakeward.tiering.round.held_rounds import HeldRounds
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.watch.watchers import Watcher

logger = logging.getLogger(__name__)

_POLL_S = 0.5
_HEARTBEAT_S = 20
_BACKOFF = Backoff(1.0, 300.0)
_UNREACHABLE_PAUSE_S = 2.0
_ERROR_LINE = re.compile(r"[A-Za-z_][\w.]*(Error|Exception|Interrupt): ")
_LINE_MAX = 500


@dataclass(slots=True)
class _HeldTable:
    """A table we hold. While it backs off after a failure it takes no slot."""

    start_at: float
    future: Future[RoundReport] | None = None
    #: Set once, when the round has ended; told to the coordinator until it answers.
    is_finished: bool = False
    is_failed: bool = False
    is_overtaken: bool = False
    totals: LakeTotals | None = None

    @property
    def has_ended(self) -> bool:
        return self.is_finished or self.is_failed


class TieringService:
    """Runs until it is told to stop. One of several may run at once: epochs and the lake's own commits fence them."""

    def __init__(
        self,
        conn: Connection,
        run: Callable[[TieringRound], RoundReport],
        clock: Clock,
        watcher: Watcher,
        slots: int = 2,
        held_rounds: HeldRounds | None = None,
    ) -> None:
        self._conn = conn
        self._run = run
        self._clock = clock
        self._watcher = watcher
        self._slots = slots
        self._rounds = ThreadPoolExecutor(slots, thread_name_prefix="tiering")
        self._held: dict[TieringRound, _HeldTable] = {}
        self._failures: dict[int, int] = {}
        self._stop = threading.Event()
        self._news = threading.Event()
        self._beaten_at = float("-inf")
        self._file = held_rounds
        self._left_behind = [] if held_rounds is None else held_rounds.left_behind()

    def stop(self) -> None:
        """End after the rounds that run."""
        self._stop.set()
        self._news.set()

    def run(self) -> None:
        """Tier tables until `stop`; rounds that run are finished and reported."""
        while not self._stop.is_set() or self._held:
            pause_s = _POLL_S
            try:
                self.step()
            except LakewardError as wrong:
                self._watcher.on_silence(wrong)
                pause_s = _UNREACHABLE_PAUSE_S
                if self._stop.is_set() and not self._is_busy():
                    break  # nobody is there to hear how the rounds went; the lake knows
            self._news.wait(pause_s)
            self._news.clear()
        self._rounds.shutdown()
        self._watcher.close()
        if self._file is not None:
            self._file.close()

    def step(self) -> None:
        """Start what is due, and speak to the coordinator if there is something to say."""
        self._start_due()
        self._take_results()
        finished = {r: h.totals for r, h in self._held.items() if h.is_finished}
        failed = [r for r, h in self._held.items() if h.is_failed]
        wants = not self._stop.is_set() and self._has_room()
        due = self._clock.monotonic() - self._beaten_at >= _HEARTBEAT_S
        if not (finished or failed or wants or due or self._left_behind):
            return
        answer = self._conn.lake.heartbeat(
            tiering=[r for r, h in self._held.items() if not h.has_ended],
            finished=finished,
            failed=[*self._left_behind, *failed],
            forced=[r for r in finished if self._held[r].is_overtaken],
            wants_table=wants,
        )
        self._beaten_at = self._clock.monotonic()
        self._take(answer, reported=[*finished, *failed])

    def _take(self, answer: HeartbeatAnswer, reported: list[TieringRound]) -> None:
        for one in reported:
            del self._held[one]
        forgotten = {r.table_id for r in self._left_behind}
        self._left_behind = []
        for table_id, refusal in answer.refused.items():
            if table_id in forgotten:
                continue  # it was given out again already, which is all we wanted
            self._watcher.on_fence(table_id, refusal)
            for held in [r for r, h in self._held.items() if r.table_id == table_id and h.future is None]:
                del self._held[held]  # it never began; a round that runs ends by itself, fenced by the lake
        if answer.assigned is not None:
            self._held[answer.assigned] = _HeldTable(self._clock.monotonic() + self._pause_s(answer.assigned.table_id))
            self._news.set()  # there may be another one
        if self._file is not None and (reported or answer.assigned is not None):
            self._file.remember(self._held)

    def _start_due(self) -> None:
        now = self._clock.monotonic()
        for held, state in self._held.items():
            if state.future is not None or state.has_ended:
                continue
            if self._stop.is_set():
                state.is_failed = True  # never begun: given back, so that another service takes it
            elif state.start_at <= now:
                self._watcher.on_begin(held)
                state.future = self._rounds.submit(self._run, held)
                state.future.add_done_callback(lambda _: self._news.set())

    def _has_room(self) -> bool:
        now = self._clock.monotonic()
        return sum(not h.has_ended and (h.future is not None or h.start_at <= now) for h in self._held.values()) < (
            self._slots
        )

    def _is_busy(self) -> bool:
        return any(h.future is not None and not h.future.done() for h in self._held.values())

    def _take_results(self) -> None:
        for held, state in self._held.items():
            if state.has_ended or state.future is None or not state.future.done():
                continue
            wrong = state.future.exception()
            if wrong is None:
                self._failures.pop(held.table_id, None)
                report = state.future.result()
                state.is_finished, state.totals = True, report.totals
                self._watcher.on_end(held, report)
                continue
            self._failures[held.table_id] = self._failures.get(held.table_id, 0) + 1
            if isinstance(wrong, LakeConflictError):
                state.is_finished = state.is_overtaken = True  # nothing is lost; the next round looks at once
                self._watcher.on_overtake(held, wrong)
            else:
                state.is_failed = True
                self._watcher.on_failure(held, _explain(wrong), self._pause_s(held.table_id))

    def _pause_s(self, table_id: int) -> float:
        return _BACKOFF.pause_s(self._failures.get(table_id, 0))


def _explain(wrong: BaseException) -> LakewardError:
    if isinstance(wrong, LakewardError):
        return wrong
    logger.error("A tiering round failed in an unexpected way.", exc_info=wrong)
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"{type(wrong).__name__}: {_one_line(str(wrong))}")


def _one_line(text: str) -> str:
    """The line that says it: engines hand over whole traces, in which it is the last that names an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR_LINE.match(line)]
    found = named[-1] if named and len(lines) > 1 else lines[0] if lines else "it says no more"
    return found[:_LINE_MAX]
