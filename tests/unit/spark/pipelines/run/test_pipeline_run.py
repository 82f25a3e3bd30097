"""One pipeline through failures and pauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pipeline_events import definition_of

from lakeward.capture.mysql.server.mysql_errors import binlog_gone
from lakeward.errors import ErrorCode
from lakeward.pipelines.status import PipelineState
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run import pipeline_run
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipeline_meter import PipelineMeter
from lakeward.spark.pipelines.run.pipeline_run import PipelineRun


class _Query:
    """Stands for Spark's: fails as often as it is told, then goes on until it is stopped."""

    notes: tuple[str, ...] = ()
    failures: int = 0
    made: int = 0
    does_well: bool = False
    error: str = "postgresql://me:tell-nobody@h is away."

    def __init__(self, _spark: Any, _definition: Any, _checkpoint: Any, meter: PipelineMeter, _write: Any) -> None:
        self._meter = meter
        type(self).made += 1
        self._looks = 0

    def start(self, *, once: bool) -> None:
        del once
        if type(self).failures:
            type(self).failures -= 1
            raise ErrorCode.NETWORK.error(type(self).error)

    def look(self) -> bool:
        self._looks += 1
        if type(self).does_well:
            self._meter.look({})
        return self._looks < 3

    def failure(self) -> str | None:
        return None

    def stop(self) -> None:
        return None


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PipelineRun]:
    """Runs of a pipeline whose queries are not Spark's."""
    monkeypatch.setattr(pipeline_run, "PipelineQuery", _Query)
    home = PipelineHome.of_environment({"LAKEWARD_STATE": str(tmp_path)})
    definition = definition_of("type: print", "pipeline: {name: p}\n")

    def make_run(failures: int, *, does_well: bool = False, **more: Any) -> PipelineRun:
        _Query.failures, _Query.made, _Query.does_well = failures, 0, does_well
        lock = home.places.lock("p")
        assert lock is not None
        return PipelineRun(
            definition, home, SystemClock(), lock=lock, checkpoint="c", backoff=Backoff(0.01, 0.02), **more
        )

    return make_run


def test_a_failure_is_told_and_tried_again(make: Callable[..., PipelineRun], tmp_path: Path) -> None:
    """With the reason in the status, and without the password in it."""
    run = make(2, is_alone=False)
    run.run(None)  # type: ignore[arg-type]
    assert _Query.made == 3
    assert run.status.restarts == 2
    assert run.status.error == "postgresql://h is away."
    assert run.status.state is PipelineState.STOPPED
    assert "tell-nobody" not in (tmp_path / "pipelines/p/status.json").read_text()
    assert run.await_end(0)


def test_the_command_that_begins_anew_is_named(
    make: Callable[..., PipelineRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A capture says that its stream must begin anew; the pipeline knows its own name."""
    monkeypatch.setattr(_Query, "error", binlog_gone("h:3306", "purged").message)
    run = make(1, is_alone=False)
    run.run(None)  # type: ignore[arg-type]
    assert run.status.error is not None
    assert run.status.error.endswith("To begin anew: stop it, `lakeward pipeline drop p`, and run it again.")


def test_an_error_is_forgotten_when_the_stream_does_well_again(make: Callable[..., PipelineRun]) -> None:
    """How often it failed stays."""
    run = make(2, is_alone=False, does_well=True)
    run.run(None)  # type: ignore[arg-type]
    assert (run.status.error, run.status.restarts) == (None, 2)


def test_a_new_run_is_not_shown_as_the_dead_one(make: Callable[..., PipelineRun], tmp_path: Path) -> None:
    """From the moment it has the lock; one that cannot begin has failed, or was stopped."""
    home = PipelineHome.of_environment({"LAKEWARD_STATE": str(tmp_path)})
    run = make(0)
    home.write(replace(run.status, state=PipelineState.RUNNING, pid=1, rows=7, error="dead"))
    run.announce()
    shown = home.status("p")
    assert shown is not None
    assert (shown.state, shown.rows, shown.error) == (PipelineState.STARTING, 0, None)
    run.give_up("postgresql://me:tell-nobody@h is away.")
    shown = home.status("p")
    assert shown is not None
    assert (shown.state, shown.error) == (PipelineState.FAILED, "postgresql://h is away.")
    run = make(0)
    run.give_up(None)
    assert run.status.state is PipelineState.STOPPED


def test_once_ends_with_what_it_met(make: Callable[..., PipelineRun]) -> None:
    """Finished when all is taken, failed at the first failure."""
    run = make(0, once=True)
    run.run(None)  # type: ignore[arg-type]
    assert run.status.state is PipelineState.FINISHED
    run = make(1, once=True)
    run.run(None)  # type: ignore[arg-type]
    assert run.status.state is PipelineState.FAILED
    assert _Query.made == 1


def test_one_that_is_stopped_ends_in_its_pause(make: Callable[..., PipelineRun]) -> None:
    """Nobody waits for the next attempt."""
    run = make(1000, is_alone=False)
    run.stop()
    run.run(None)  # type: ignore[arg-type]
    assert run.status.state is PipelineState.STOPPED
    assert _Query.made == 0
