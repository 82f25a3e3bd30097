"""The pages of jobs and pipelines that run on this machine: all, one, stop."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from starlette.responses import Response

from lakeward.console.frame.page import Page
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.jobs.job_view import JOB, PIPELINE, JobRow, read_one, read_rows
from lakeward.errors import ErrorCode
from lakeward.runtime.process.public_port import is_loopback
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.scripts.jobs.job_home import JobHome

_NAME_MAX = 500


async def show_jobs(visit: Visit) -> Response:
    """Everything that runs here, or ran."""
    home = JobHome.of_environment()
    found = await asyncio.to_thread(read_rows, home, PipelineHome.of_environment())
    return visit.show("jobs/jobs.html", rows=found, home=str(home.folder("x").parent.parent))


async def show_job(visit: Visit) -> Response:
    """One of them."""
    row = await _find(visit.query("kind"), visit.query("name"))
    visit.title = f"{row.kind.capitalize()} {row.name}"
    return visit.show("jobs/job.html", row=row, may_stop=_may_stop(visit))


async def ask_to_stop(visit: Visit) -> Response:
    """Is it really to stop?"""
    row = await _find(visit.query("kind"), visit.query("name"))
    visit.title = f"Stop {row.name}"
    return visit.show("jobs/stop.html", row=row, may_stop=_may_stop(visit))


async def stop_job(visit: Visit) -> Response:
    """Leave word for the process that runs it."""
    row = await _find(visit.field("kind"), visit.field("name"))
    if not _may_stop(visit):
        raise ErrorCode.AUTHORIZATION.error(_elsewhere(row))
    if not row.runs:
        raise ErrorCode.INVALID_CONFIG.error(f"The {row.kind} {row.name} is not running: it is {row.state}.")
    await asyncio.to_thread(_places(row.kind).ask_to_stop, row.name)
    return visit.go(f"/jobs/job?kind={row.kind}&name={quote(row.name, safe='')}", "stopping")


async def _find(kind: str, name: str) -> JobRow:
    if kind in {JOB, PIPELINE} and 0 < len(name) <= _NAME_MAX:
        homes = JobHome.of_environment(), PipelineHome.of_environment()
        row = await asyncio.to_thread(read_one, *homes, kind, name)
        if row is not None:
            return row
    raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no {kind if kind in {JOB, PIPELINE} else JOB} of that name here.")


def _may_stop(visit: Visit) -> bool:
    """Jobs are of this machine's user, and no right of the cluster guards them: others who reach the console watch."""
    return not visit.settings.read_only and is_loopback(visit.settings.bind)


def _elsewhere(row: JobRow) -> str:
    command = "jobs" if row.kind == JOB else "pipeline"
    return (
        f"This console can be reached from other machines, so it stops no {row.kind} of its own. Stop it on that "
        f"machine: lakeward {command} stop {row.name}"
    )


def _places(kind: str) -> JobHome:
    return PipelineHome.of_environment().places if kind == PIPELINE else JobHome.of_environment()


PAGES = (
    Page("/jobs", "Jobs", show_jobs, nav="Jobs", position=70),
    Page("/jobs/job", "Job", show_job),
    Page("/jobs/stop", "Stop", ask_to_stop),
    Page("/jobs/stop", "Stop", stop_job, method="POST"),
)
