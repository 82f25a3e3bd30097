"""SHOW JOBS and STOP JOB: the jobs that were started here."""

from __future__ import annotations

from datetime import UTC
from difflib import get_close_matches

import pyarrow as pa

from lakeward.language.place import ScriptError
from lakeward.language.statements.define import Show
from lakeward.language.statements.rows import StopJob
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.statements.context import Context


def show_jobs(statement: Show, context: Context) -> Outcome:
    """A row for each job, in the order of their starts."""
    jobs = context.jobs.started
    totals = [job.progress() for job in jobs]
    lags = [[progress.lag_rows for progress in streams] for streams in totals]
    columns: dict[str, pa.Array] = {
        "job name": pa.array([job.name for job in jobs], pa.string()),
        "state": pa.array([job.state.value for job in jobs], pa.string()),
        "since": pa.array([job.since.astimezone(UTC) for job in jobs], pa.timestamp("s", "UTC")),
        "rows": pa.array([sum(progress.rows for progress in streams) for streams in totals], pa.int64()),
        "behind": pa.array([None if None in found else sum(lag or 0 for lag in found) for found in lags], pa.int64()),
        "error": pa.array([job.error for job in jobs], pa.string()),
    }
    return Outcome(statement=statement, table=pa.table(columns))


def stop_job(statement: StopJob, context: Context) -> Outcome:
    """Stop a job at the end of its micro-batch."""
    running = {job.name: job for job in context.jobs.running}
    job = running.get(statement.name)
    if job is None:
        near = get_close_matches(statement.name, running, 1)
        known = f"did you mean '{near[0]}'?" if near else f"there run {', '.join(running) or 'none'}."
        raise ScriptError(
            statement.place,
            f"no job '{statement.name}' runs here; {known} `lakeward jobs stop` ends those of other processes.",
        )
    job.stop()
    return Outcome(statement=statement, message=f"job {job.name} is {job.state.value}")
