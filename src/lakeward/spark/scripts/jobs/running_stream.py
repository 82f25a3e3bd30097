"""RunningStream: a query of Spark that belongs to a job, asked for no more than is needed."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from lakeward.runtime.clock import Clock
from lakeward.spark.scripts.jobs.job_record import StreamProgress
from lakeward.spark.scripts.jobs.spark_failure import plain_reason
from lakeward.spark.scripts.jobs.stream_meter import StreamMeter
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

#: What Spark says when it has looked for rows since the last batch, and found none.
_WAITING = "Waiting for data to arrive"
_PAUSE_S = 0.02
_LOOKS = 10
_CAUSES_MAX = 20


class RunningStream:
    """One stream, from its start to its end."""

    def __init__(self, plan: StreamPlan, checkpoint: str, name: str, clock: Clock) -> None:
        """Starts it."""
        self.plan = plan
        self._place = checkpoint, name
        self.start()
        self._meter = StreamMeter(clock)
        self._clock = clock
        self._last: dict[str, Any] | None = None
        self.is_finished = False
        """Whether its sources have come to their end, all of it is written, and nothing is left to do."""

    def start(self) -> None:
        """Start it, again if it has failed: it goes on where it was."""
        self.query: StreamingQuery = self.plan.start(*self._place)
        self._java: Any = self.query._jsq  # a report is read once, not a hundred at each look

    @property
    def progress(self) -> StreamProgress:
        """How far it is."""
        return self._meter.progress

    @property
    def is_active(self) -> bool:
        """Whether it goes on."""
        return bool(self.query.isActive)

    def look(self) -> None:
        """Take the reports that came since the last look, and see whether a bounded stream is at its end."""
        self._take_reports()
        if self.plan.is_finished is not None and self._last is not None and not self.is_finished:
            # The last rows may close windows in a batch of their own: it has ended when Spark waits after them.
            self.is_finished = self.plan.is_finished(self._last) and self._rests()

    def _take_reports(self) -> None:
        reports = self._java.recentProgress()
        new: list[dict[str, Any]] = []
        for i in reversed(range(len(reports))):
            report = json.loads(reports[i].json())
            if not self._meter.is_new(report):
                break
            new.append(report)
        for report in reversed(new):
            self._meter.take(report)
            self._last = report

    def failure(self) -> tuple[str, str] | None:
        """Why it ended, if it failed: a sentence, and all that Spark says."""
        thrown = self._java.exception()
        if not thrown.isDefined():
            return None
        messages: list[str] = []
        cause = thrown.get()
        while cause is not None and len(messages) < _CAUSES_MAX:
            messages.append(str(cause.getMessage() or cause.toString()))
            cause = cause.getCause()
        whole = "\n".join(messages)
        return plain_reason(messages[0], messages[-1]), whole

    def stop(self, patience_s: float) -> None:
        """Stop it when the batch under way is written, or when that takes too long: it would be repeated then."""
        end_s = self._clock.monotonic() + patience_s
        resting, begun = threading.Event(), self._batch_key()
        while self._is_at_work() and self._batch_key() == begun and self._clock.monotonic() < end_s:
            resting.wait(_PAUSE_S)
        if self.is_active:
            self.look()
        self.query.stop()
        self._take_reports()

    def _rests(self) -> bool:
        """Whether it waits for rows. It looks for them many times a second, which is not waiting."""
        resting = threading.Event()
        for _ in range(_LOOKS):
            if not self.is_active or self._is_idle():
                return True
            resting.wait(_PAUSE_S)
        return False

    def _is_at_work(self) -> bool:
        return self.is_active and bool(self._java.status().isTriggerActive()) and not self._is_idle()

    def _is_idle(self) -> bool:
        return str(self._java.status().message()) == _WAITING

    def _batch_key(self) -> tuple[int, str] | None:
        last = self._java.lastProgress()
        return None if last is None else (int(last.batchId()), str(last.timestamp()))
