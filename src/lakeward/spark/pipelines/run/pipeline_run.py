"""PipelineRun: one pipeline through failures and pauses, until it is stopped; its status is written as it goes on."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import LakewardError, RetriableError
from lakeward.options.secrets import without_passwords
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.status import RUNS, PipelineState, PipelineStatus
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import Clock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipeline_meter import PipelineMeter
from lakeward.spark.pipelines.run.pipeline_query import PipelineQuery
from lakeward.spark.scripts.jobs.spark_failure import (
    failure_sentence,
    is_of_busy_machine,
    is_of_spark,
    needs_new_start,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BACKOFF = Backoff(1.0, 60.0)
_LOOK_EVERY_S = 0.3
_WRITE_EVERY_S = 1.0
#: A pipeline that ran so long has recovered from what was before.
_STEADY_S = 120.0
#: How often a run that is to end is begun again because the machine was too busy.
_BUSY_MAX = 5
_log = logging.getLogger(__name__)


class PipelineRun:
    """Runs one pipeline on a thread of its own."""

    def __init__(
        self,
        definition: PipelineDefinition,
        home: PipelineHome,
        clock: Clock,
        *,
        lock: int,
        checkpoint: str,
        once: bool = False,
        is_alone: bool = True,
        write_line: Callable[[str], None] = print,
        backoff: Backoff = BACKOFF,
    ) -> None:
        """`once`: what is there now, and no more. One that is alone and cannot begin fails; others try again."""
        self.definition = definition
        self._home = home
        self._clock = clock
        self._descriptor = lock
        self._checkpoint = checkpoint
        self._once = once
        self._is_alone = is_alone
        self._write_line = write_line
        self._backoff = backoff
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._written_s = 0.0
        self._failures = 0
        self._successes = 0
        self._meter = PipelineMeter(clock)
        self._status = PipelineStatus(
            name=definition.name,
            state=PipelineState.STARTING,
            pid=os.getpid(),
            since_ms=clock.now_ms(),
            file=definition.file if definition.file == "-" else str(Path(definition.file).absolute()),
            source=definition.source.type,
            sink=definition.sink.type,
            checkpoint=checkpoint,
        )

    @property
    def status(self) -> PipelineStatus:
        """How it is now."""
        tables = self._meter.tables()
        if self._status.state not in RUNS:
            tables = tuple(replace(table, rows_per_s=0.0) for table in tables)
        return replace(
            self._status,
            phase=self._meter.phase if self._status.state in RUNS else self._status.phase,
            tables=tables,
            rows=sum(table.rows for table in tables),
            rows_per_s=sum(table.rows_per_s for table in tables),
            lag_ms=self._meter.lag_ms,
            held_bytes=self._meter.held_bytes,
            notes=tuple(self._meter.notes),
        )

    @property
    def has_ended(self) -> bool:
        """Whether it does not go on."""
        return self._ended.is_set()

    def announce(self) -> None:
        """Write down that it is about to begin: what another run left there is not how this one is."""
        self._write()

    def give_up(self, why: str | None) -> None:
        """It does not even begin: it failed if there is a reason, else somebody stopped it."""
        if why is not None:
            self._status = replace(self._status, error=self._clean_text(why))
        self._end(PipelineState.STOPPED if why is None else PipelineState.FAILED)

    def stop(self) -> None:
        """Have it end soon; the next run goes on from there."""
        self._stopping.set()

    def await_end(self, timeout_s: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._ended.wait(timeout_s)

    def run(self, spark: SparkSession) -> None:
        """Until it is stopped, finished, or cannot go on."""
        state = PipelineState.FAILED
        try:
            state = self._run(spark)
        finally:
            self._end(state)

    def _run(self, spark: SparkSession) -> PipelineState:
        while not self._is_asked_to_stop():
            began_s, has_begun = self._clock.monotonic(), False
            query: PipelineQuery | None = None
            try:
                query = PipelineQuery(spark, self.definition, self._checkpoint, self._meter, self._write_line)
                self._meter.notes.extend(note for note in query.notes if note not in self._meter.notes)
                query.start(once=self._once)
                has_begun = True
                state = self._watch(query)
            except Exception as wrong:  # noqa: BLE001 - whatever it is, it is told, and tried again
                _log.debug("pipeline %s", self.definition.name, exc_info=wrong)
                state = self._fail(_sentence(wrong), is_final=self._is_final(wrong, has_begun=has_begun))
            finally:
                if query is not None:
                    query.stop()
            if state is not PipelineState.WAITING:
                return state
            if self._clock.monotonic() - began_s > _STEADY_S:
                self._failures = 1
            if not self._pause():
                break
        return PipelineState.STOPPED

    def _watch(self, query: PipelineQuery) -> PipelineState:
        """Until the query ends, or somebody wants it to."""
        self._tell(PipelineState.RUNNING)
        while query.look():
            if self._status.error is not None and self._meter.successes > self._successes:
                self._status = replace(self._status, error=None)
            if self._is_asked_to_stop():
                query.stop()
                query.look()
                return PipelineState.STOPPED
            if self._clock.monotonic() - self._written_s >= _WRITE_EVERY_S:
                self._write()
            self._stopping.wait(_LOOK_EVERY_S)
        query.look()
        why = query.failure()
        if why is None:
            return PipelineState.FINISHED if self._once else PipelineState.STOPPED
        return self._fail(why, is_final=self._once and not self._may_repeat(why))

    def _may_repeat(self, why: str) -> bool:
        """Whether the machine was merely too busy for one of Spark's processes."""
        return is_of_busy_machine(why) and self._failures < _BUSY_MAX

    def _is_final(self, wrong: Exception, *, has_begun: bool) -> bool:
        """Whether trying again is of no use: it could not even begin, and there is somebody to tell."""
        if self._once:
            return not self._may_repeat(str(wrong))
        return self._is_alone and not has_begun and not self._failures and not isinstance(wrong, RetriableError)

    def _fail(self, why: str, *, is_final: bool) -> PipelineState:
        self._failures += 1
        self._successes = self._meter.successes
        pause_ms = int(self._backoff.pause_s(self._failures) * 1000)
        next_ms = None if is_final else self._clock.now_ms() + pause_ms
        self._status = replace(
            self._status,
            error=self._clean_text(self._with_way_out(why)),
            next_try_ms=next_ms,
            restarts=self._status.restarts + (not is_final),
        )
        state = PipelineState.FAILED if is_final else PipelineState.WAITING
        self._tell(state)
        return state

    def _with_way_out(self, why: str) -> str:
        """Captures say that a stream must begin anew; how a pipeline does is known here."""
        if not needs_new_start(why):
            return why
        return f"{why} To begin anew: stop it, `lakeward pipeline drop {self.definition.name}`, and run it again."

    def _clean_text(self, why: str) -> str:
        return self.definition.without_secrets(without_passwords(why))

    def _pause(self) -> bool:
        """Rest before the next attempt; whether there is to be one."""
        end_s = self._clock.monotonic() + self._backoff.pause_s(self._failures)
        while (left_s := end_s - self._clock.monotonic()) > 0:
            if self._is_asked_to_stop():
                return False
            self._stopping.wait(min(left_s, _LOOK_EVERY_S))
        return not self._is_asked_to_stop()

    def _is_asked_to_stop(self) -> bool:
        return self._stopping.is_set() or self._home.places.is_asked_to_stop(self.definition.name)

    def _tell(self, state: PipelineState) -> None:
        next_ms = self._status.next_try_ms if state is PipelineState.WAITING else None
        self._status = replace(self._status, state=state, next_try_ms=next_ms)
        self._write()

    def _end(self, state: PipelineState) -> None:
        ended_ms = self._clock.now_ms()
        self._status = replace(self._status, phase=self._meter.phase, state=state, ended_ms=ended_ms, next_try_ms=None)
        self._write()
        with contextlib.suppress(OSError):
            self._home.places.forget_stop(self.definition.name)
        os.close(self._descriptor)
        self._ended.set()

    def _write(self) -> None:
        self._written_s = self._clock.monotonic()
        try:
            self._home.write(self.status)
        except LakewardError as wrong:  # the stream goes on: what it needs is in its checkpoint
            _log.warning("%s", wrong.message)


def _sentence(wrong: Exception) -> str:
    if isinstance(wrong, LakewardError):
        return wrong.message
    return failure_sentence(wrong) if is_of_spark(wrong) else f"{type(wrong).__name__}: {wrong}"
