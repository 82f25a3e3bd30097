"""Job: one or several streams under one name, one checkpoint and one lock."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.spark.scripts.jobs.continuity import shell_word, what_to_do
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress
from lakeward.spark.scripts.jobs.running_stream import RunningStream
from lakeward.spark.scripts.jobs.spark_failure import (
    failure_sentence,
    is_of_busy_machine,
    is_of_damage,
    is_of_other_query,
    needs_new_start,
)

STOP_PATIENCE_S = 30.0
_WRITE_EVERY_S = 3.0
#: How often in a row streams are started again when Spark's Python processes were too slow to come up.
_RESTARTS_MAX = 20
#: Jobs that failed together do not come back together: that is what the machine was too busy with.
_PAUSES = Backoff(1.0, 30.0, SystemEntropy())
#: A job that ran so long has recovered from what was before.
_STEADY_S = 120.0
_log = logging.getLogger(__name__)


class Job:
    """A job that was started here. Its record is written as it goes on, and when it ends."""

    def __init__(
        self,
        record: JobRecord,
        streams: Sequence[RunningStream],
        home: JobHome,
        clock: Clock,
        lock: int,
        *,
        is_continued: bool,
        is_changed: bool = False,
    ) -> None:
        self.streams = tuple(streams)
        self.is_continued = is_continued
        """Whether it went on from a checkpoint of an earlier run."""
        self.is_changed = is_changed
        """Whether its text is another than in that run."""
        self._record = record
        self._home = home
        self._clock = clock
        self._descriptor = lock
        self._guard = threading.RLock()
        self._ended = threading.Event()
        self._written_s = clock.monotonic()
        self._is_unwritable = False
        self._restarts = 0
        self._started_s = clock.monotonic()
        self._next_s: float | None = None
        """When it is tried again, while it rests."""

    @property
    def name(self) -> str:
        """'pipeline.name', or what was made of sink and text."""
        return self._record.name

    @property
    def since(self) -> datetime:
        """When it was started."""
        return datetime.fromtimestamp(self._record.since_ms / 1000, UTC)

    @property
    def checkpoint(self) -> str:
        """Where it is written down how far it is."""
        return self._record.checkpoint

    @property
    def state(self) -> JobState:
        """How it is."""
        return self._record.state

    @property
    def error(self) -> str | None:
        """Why it failed."""
        return self._record.error

    @property
    def record(self) -> JobRecord:
        """What is written down of it."""
        return replace(
            self._record,
            streams=tuple(
                replace(told, progress=stream.progress)
                for told, stream in zip(self._record.streams, self.streams, strict=True)
            ),
        )

    def progress(self) -> list[StreamProgress]:
        """How far each stream is."""
        return [stream.progress for stream in self.streams]

    def stop(self, patience_s: float = STOP_PATIENCE_S) -> None:
        """Stop when the batches under way are written, or when that takes too long; the next run goes on from there."""
        with self._guard:
            if self.state is JobState.RUNNING:
                with self._end_of_spark():
                    for stream in self.streams:
                        stream.stop(patience_s)
                    if self._next_s is not None:
                        self._end(JobState.STOPPED)
                    else:
                        self._end_as_streams_did(JobState.STOPPED)

    def await_end(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended; whether it has. A job that failed raises why."""
        ended = self._ended.wait(timeout_s)
        if self.state is JobState.FAILED:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"Job '{self.name}' failed: {self.error}")
        return ended

    def look(self) -> None:
        """See how it is, and write it down now and then. Called by whoever keeps an eye on jobs."""
        with self._guard:
            if self.state is not JobState.RUNNING:
                return
            with self._end_of_spark():
                for stream in self.streams:
                    stream.look()
                if self._home.is_asked_to_stop(self.name):
                    self.stop()
                elif self._next_s is not None:
                    self._start_again()
                elif all(stream.is_finished for stream in self.streams) or not all(s.is_active for s in self.streams):
                    self._end_as_streams_did(JobState.FINISHED)
                elif self._clock.monotonic() - self._written_s >= _WRITE_EVERY_S:
                    self._write(durable=False)

    @contextlib.contextmanager
    def _end_of_spark(self) -> Iterator[None]:
        """When the JVM is gone, so are its streams."""
        from py4j.protocol import Py4JError

        try:
            yield
        except (Py4JError, ConnectionError, EOFError) as wrong:
            _log.debug("job %s", self.name, exc_info=wrong)
            self._end(JobState.FAILED, "Spark has ended, and the job with it; the next run goes on where it was.")

    def _end_as_streams_did(self, otherwise: JobState) -> None:
        """One that failed makes the job fail; those that still run are stopped."""
        failures = [found for stream in self.streams if (found := stream.failure()) is not None]
        is_finished = all(stream.is_finished for stream in self.streams)
        for stream in self.streams:
            if stream.is_active:
                stream.stop(0 if failures else STOP_PATIENCE_S)
        if failures and is_of_busy_machine(failures[0][1]) and otherwise is JobState.FINISHED and self._may_rest():
            _log.info("job %s: %s It is tried again.", self.name, failures[0][0])
        elif failures:
            self._end(JobState.FAILED, self._sentence(*failures[0]))
        elif is_finished:
            self._end(JobState.FINISHED)
        else:  # somebody has stopped a query under us
            self._end(JobState.STOPPED if otherwise is JobState.FINISHED else otherwise)

    def _may_rest(self) -> bool:
        """Whether it is tried again after a pause, which grows."""
        now_s = self._clock.monotonic()
        self._restarts = 1 if now_s - self._started_s > _STEADY_S else self._restarts + 1
        if self._restarts > _RESTARTS_MAX:
            return False
        self._next_s = now_s + _PAUSES.pause_s(self._restarts)
        return True

    def _start_again(self) -> None:
        """Start all streams, if the pause is over."""
        if self._next_s is None or self._clock.monotonic() < self._next_s:
            return
        from py4j.protocol import Py4JNetworkError

        self._next_s, self._started_s = None, self._clock.monotonic()
        try:
            for stream in self.streams:
                stream.start()
        except (Py4JNetworkError, ConnectionError, EOFError):
            raise  # Spark is gone
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is told
            for stream in self.streams:
                stream.stop(0)
            if not (is_of_busy_machine(str(wrong)) and self._may_rest()):
                self._end(JobState.FAILED, failure_sentence(wrong))

    def _sentence(self, reason: str, whole: str) -> str:
        if is_of_other_query(whole):
            return f"It cannot go on from its checkpoint with a changed query: {reason} {what_to_do(self.name)}"
        if is_of_damage(whole):
            return (
                f"Its checkpoint {self.checkpoint} is damaged: {reason} Put it back from a copy, or begin anew: "
                f"`lakeward jobs drop {shell_word(self.name)}` forgets it, and the next run reads from the start."
            )
        if needs_new_start(reason):
            return f"{reason} To begin anew: `lakeward jobs drop {shell_word(self.name)}`, and run it again."
        return reason

    def _end(self, state: JobState, error: str | None = None) -> None:
        self._record = replace(self.record, state=state, error=error, ended_ms=self._clock.now_ms())
        self._write(durable=True)
        self._home.forget_stop(self.name)
        os.close(self._descriptor)
        self._ended.set()

    def _write(self, *, durable: bool) -> None:
        self._written_s = self._clock.monotonic()
        try:
            self._home.write(self.record, durable=durable)
        except LakewardError as wrong:  # the stream goes on; what it needs is in its checkpoint
            if not self._is_unwritable:
                _log.warning("%s Job %s goes on meanwhile.", wrong.message, self.name)
            self._is_unwritable = True
        else:
            self._is_unwritable = False
