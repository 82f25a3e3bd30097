"""`lakeward pipeline status`, `stop` and `drop`: pipelines of this machine, whichever process runs them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lakeward.cli.commands.pipelines.pipeline_files import definitions_of
from lakeward.cli.commands.pipelines.pipeline_lines import span, speed
from lakeward.cli.input.failures import Failure
from lakeward.cli.input.near_names import nearest
from lakeward.cli.output.listing import say, show_json, show_listing
from lakeward.errors import LakewardError
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.status import RUNS, PipelineState, PipelineStatus
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.source import PipelineSource

_TICK_S = 0.1
_COLUMNS = ("name", "state", "phase", "rows", "rows_per_s", "lag", "held", "restarts", "error")


def show_statuses(name: str | None, output: str) -> None:
    """How all pipelines are, or one with its tables."""
    home = PipelineHome.of_environment()
    if name is not None:
        _show_one(_status_of(home, name), output)
        return
    rows = [_row(_with_held(status)) for status in home.statuses()]
    show_listing(rows, _COLUMNS, output, "No pipeline has been run here.")


def _show_one(status: PipelineStatus, output: str) -> None:
    status = _with_held(status)
    if output == "json":
        show_json(status.to_map())
        return
    show_listing([_row(status)], _COLUMNS, output, "")
    tables = [
        {
            "source": table.source,
            "target": table.target,
            "phase": table.phase,
            "rows": table.rows,
            "rows_per_s": speed(table.rows_per_s),
            "lag": span(table.lag_ms),
        }
        for table in status.tables
    ]
    if tables:
        click.echo("")
        show_listing(tables, list(tables[0]), output, "")
    for note in status.notes:
        say(note)


def _row(status: PipelineStatus) -> dict[str, Any]:
    return {
        **status.to_map(),
        "state": status.state.value,
        "rows_per_s": speed(status.rows_per_s),
        "lag": span(status.lag_ms),
        "held": "-" if status.held_bytes is None else f"{status.held_bytes:,} bytes",
        "error": status.error or "",
    }


def _with_held(status: PipelineStatus) -> PipelineStatus:
    """What the database holds back for a pipeline that does not run grows; it is asked, where that can be."""
    if status.state in RUNS or status.source != "postgres":
        return status
    try:
        definition = _definition(status, None)
        with closing(PipelineSource(definition).open()) as database:
            return replace(status, held_bytes=database.held_bytes())
    except (LakewardError, OSError, click.ClickException):
        return status  # as it was when it ended


def stop_pipeline(name: str, timeout_s: float) -> None:
    """Leave word for the process that runs it, and wait until it has stopped."""
    home = PipelineHome.of_environment()
    status = _status_of(home, name)
    if status.state not in RUNS:
        say(f"Pipeline {name} is not running: it is {status.state.value}.")
        return
    home.places.ask_to_stop(name)
    end_s = time.monotonic() + timeout_s
    while home.places.is_held(name):
        if time.monotonic() > end_s:
            raise Failure(f"Pipeline {name} was asked to stop, and process {status.pid} still runs it.")
        time.sleep(_TICK_S)
    say(f"Pipeline {name} is stopped; `lakeward pipeline run` goes on where it was.")


def drop_pipeline(name: str, file: str | None, confirm: Callable[[], None]) -> None:
    """Remove what it has on the database and on this machine; one that is not there need not be confirmed."""
    home = PipelineHome.of_environment()
    status = _status_of(home, name)
    confirm()
    lock = home.places.lock(name)
    if lock is None:
        raise Failure(f"Pipeline {name} is running, in process {status.pid}: `lakeward pipeline stop {name}` first.")
    try:
        with closing(PipelineSource(_definition(status, file)).open()) as database:
            database.drop()
        home.forget(name)
    finally:
        os.close(lock)
    say(f"Pipeline {name} is removed; the tables of its sink stay.")


def _definition(status: PipelineStatus, file: str | None) -> PipelineDefinition:
    place = file or status.file
    if place != "-" and not Path(place).exists():
        raise Failure(f"The file of pipeline {status.name} is not at {place} any more: name it with --file.")
    for one in definitions_of([place]):
        if one.name == status.name:
            return one
    raise Failure(f"There is no pipeline named {status.name} in {place}: name its file with --file.")


def _status_of(home: PipelineHome, name: str) -> PipelineStatus:
    found = home.status(name)
    if found is None:
        near = nearest(name, [status.name for status in home.statuses()])
        hint = f" Did you mean {near}?" if near else " `lakeward pipeline status` lists those there are."
        raise Failure(f"There is no pipeline {name} here.{hint}")
    if found.state is PipelineState.KILLED:
        return replace(found, error=found.error or "The process that ran it was killed.")
    return found
