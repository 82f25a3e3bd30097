"""Jobs and pipelines of this machine, as the pages show them: one row each, whatever wrote it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords, without_secret_options
from lakeward.pipelines.status import RUNS, PipelineState, PipelineStatus
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamRecord

#: More are counted, and not shown.
ROWS_MAX = 200
_LEVELS = {
    "running": "good",
    "starting": "",
    "finished": "good",
    "stopped": "",
    "waiting": "warn",
    "failed": "bad",
    "killed": "bad",
}
JOB, PIPELINE = "job", "pipeline"


@dataclass(frozen=True, slots=True)
class StreamRow:
    """One stream of a job, or one table of a pipeline."""

    into: str
    source: str
    rows: int
    rows_per_s: float
    lag_rows: int | None = None
    lag_ms: int | None = None
    phase: str = ""
    state_rows: int | None = None
    late_rows: int = 0
    skipped_rows: int = 0
    statement: str = ""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job or a pipeline."""

    kind: str
    name: str
    state: str
    level: str
    runs: bool
    is_stopping: bool
    since_ms: int
    ended_ms: int | None
    rows: int
    rows_per_s: float
    lag_rows: int | None
    lag_ms: int | None
    checkpoint: str
    pid: int
    where: str
    sinks: tuple[str, ...]
    error: str | None
    streams: Sequence[StreamRow]
    phase: str = ""
    restarts: int = 0
    next_try_ms: int | None = None
    held_bytes: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobRows:
    """What runs here, or ran; `wrongs` are records that cannot be read."""

    jobs: Sequence[JobRow]
    pipelines: Sequence[JobRow]
    left_out: int
    wrongs: Sequence[str] = ()


def read_rows(jobs: JobHome, pipelines: PipelineHome) -> JobRows:
    """Everything that is written down, what runs first."""
    found = jobs.records()
    rows = _in_order([_job_row(jobs, one) for one in found if isinstance(one, JobRecord)])
    others = _in_order([_pipeline_row(pipelines, one) for one in pipelines.statuses()])
    left_out = max(len(rows) - ROWS_MAX, 0) + max(len(others) - ROWS_MAX, 0)
    wrongs = [without_passwords(one.message) for one in found if isinstance(one, LakewardError)]
    return JobRows(rows[:ROWS_MAX], others[:ROWS_MAX], left_out, wrongs)


def read_one(jobs: JobHome, pipelines: PipelineHome, kind: str, name: str) -> JobRow | None:
    """A job or a pipeline by its name; None when nothing is written down of it."""
    if kind == PIPELINE:
        status = pipelines.status(name)
        return None if status is None else _pipeline_row(pipelines, status)
    record = jobs.read(name)
    return None if record is None else _job_row(jobs, record)


def _in_order(rows: list[JobRow]) -> list[JobRow]:
    return sorted(rows, key=lambda row: (not row.runs, -row.since_ms))


def _job_row(home: JobHome, record: JobRecord) -> JobRow:
    state = home.state_of(record)
    runs = state is JobState.RUNNING
    streams = [_stream_row(one, runs) for one in record.streams]
    return JobRow(
        kind=JOB,
        name=record.name,
        state=state.value,
        level=_LEVELS.get(state.value, ""),
        runs=runs,
        is_stopping=runs and home.is_asked_to_stop(record.name),
        since_ms=record.since_ms,
        ended_ms=record.ended_ms,
        rows=sum(one.rows for one in streams),
        rows_per_s=sum(one.rows_per_s for one in streams),
        lag_rows=_sum([one.lag_rows for one in streams]),
        lag_ms=max((one.lag_ms for one in streams if one.lag_ms is not None), default=None),
        checkpoint=without_passwords(record.checkpoint),
        pid=record.pid,
        where=record.script or "",
        sinks=record.sinks,
        error=None if record.error is None else without_passwords(record.error),
        streams=streams,
    )


def _stream_row(one: StreamRecord, runs: bool) -> StreamRow:
    told = one.progress
    return StreamRow(
        into=one.sink,
        source=", ".join(one.sources),
        rows=told.rows,
        rows_per_s=told.rows_per_s if runs else 0.0,
        lag_rows=told.lag_rows if runs else None,
        lag_ms=told.lag_ms if runs else None,
        state_rows=told.state_rows,
        late_rows=told.late_rows,
        skipped_rows=told.skipped_rows,
        statement=without_passwords(without_secret_options(one.text)),
    )


def _pipeline_row(home: PipelineHome, status: PipelineStatus) -> JobRow:
    runs = status.state in RUNS
    error = status.error
    if status.state is PipelineState.KILLED:
        error = error or "The process that ran it was killed."
    return JobRow(
        kind=PIPELINE,
        name=status.name,
        state=status.state.value,
        level=_LEVELS.get(status.state.value, ""),
        runs=runs,
        is_stopping=runs and home.places.is_asked_to_stop(status.name),
        since_ms=status.since_ms,
        ended_ms=status.ended_ms,
        rows=status.rows,
        rows_per_s=status.rows_per_s if runs else 0.0,
        lag_rows=None,
        lag_ms=status.lag_ms if runs else None,
        checkpoint=without_passwords(status.checkpoint),
        pid=status.pid,
        where=status.file,
        sinks=(f"{status.source} → {status.sink}",),
        error=None if error is None else without_passwords(error),
        streams=[
            StreamRow(one.target, one.source, one.rows, one.rows_per_s if runs else 0.0, None, one.lag_ms, one.phase)
            for one in status.tables[:ROWS_MAX]
        ],
        phase=status.phase,
        restarts=status.restarts,
        next_try_ms=status.next_try_ms if runs else None,
        held_bytes=status.held_bytes,
        notes=tuple(without_passwords(note) for note in status.notes),
    )


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known and len(known) == len(numbers) else None
