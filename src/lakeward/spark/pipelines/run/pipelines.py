"""Pipelines: several in one process, each on a thread of its own; one that fails does not stop the others."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import Clock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipeline_run import BACKOFF, PipelineRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Pipelines:
    """The pipelines of this process. Each is locked when this is made, so that no other process runs it."""

    def __init__(
        self,
        definitions: Sequence[PipelineDefinition],
        home: PipelineHome,
        clock: Clock,
        *,
        once: bool = False,
        checkpoints: str | None = None,
        write_line: Callable[[str], None] = print,
        backoff: Backoff = BACKOFF,
    ) -> None:
        """`checkpoints` is a place for all of them, instead of beside their statuses."""
        self.runs: list[PipelineRun] = []
        locks: list[int] = []
        try:
            locks.extend(_lock(definition, home) for definition in definitions)
        except BaseException:
            for lock in locks:
                os.close(lock)
            raise
        for definition, lock in zip(definitions, locks, strict=True):
            home.places.forget_stop(definition.name)
            self.runs.append(
                PipelineRun(
                    definition,
                    home,
                    clock,
                    lock=lock,
                    checkpoint=home.checkpoint(definition.name, definition.checkpoints or checkpoints),
                    once=once,
                    is_alone=len(definitions) == 1,
                    write_line=write_line,
                    backoff=backoff,
                )
            )

        for run in self.runs:
            run.announce()

    def give_up(self, why: str | None) -> None:
        """None of them begins."""
        for run in self.running:
            run.give_up(why)

    def start(self, spark: SparkSession) -> None:
        """Begin all of them."""
        for run in self.runs:
            name = f"pipeline-{run.definition.name}"
            threading.Thread(target=run.run, args=(spark,), name=name, daemon=True).start()

    @property
    def running(self) -> list[PipelineRun]:
        """Those that go on."""
        return [run for run in self.runs if not run.has_ended]

    def stop(self, patience_s: float) -> None:
        """End all of them, at once."""
        for run in self.runs:
            run.stop()
        for run in self.runs:
            run.await_end(patience_s)


def _lock(definition: PipelineDefinition, home: PipelineHome) -> int:
    lock = home.places.lock(definition.name)
    if lock is None:
        status = home.status(definition.name)
        where = "" if status is None else f", in process {status.pid}"
        raise ErrorCode.INVALID_CONFIG.error(
            f"Pipeline '{definition.name}' is running already{where}. Stop it first (`lakeward pipeline stop "
            f"{definition.name}`), or give this one another name."
        )
    return lock
