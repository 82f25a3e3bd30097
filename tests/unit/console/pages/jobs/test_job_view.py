"""Jobs and pipelines, as the pages show them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from lakeward.console.pages.jobs.job_view import JOB, PIPELINE, read_one, read_rows
from lakeward.pipelines.status import PipelineState, PipelineStatus
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress, StreamRecord

STREAM = StreamRecord(
    sink="shop.sums",
    text="INSERT INTO sums SELECT * FROM t /*+ OPTIONS('password'='hunter2') */",
    sources=("shop.orders",),
    state="",
    checkpoint="c",
    progress=StreamProgress(rows=10, rows_per_s=2.5, lag_rows=4, lag_ms=100),
)
RECORD = JobRecord(
    name="sums-1",
    state=JobState.RUNNING,
    since_ms=5,
    pid=9,
    checkpoint="s3://ann:hunter2@b/c",
    streams=(STREAM, STREAM),
)
STATUS = PipelineStatus(
    name="copy", state=PipelineState.RUNNING, pid=9, since_ms=6, file="p.yaml", source="mysql", sink="fluss", lag_ms=70
)


@pytest.fixture
def homes(tmp_path: Path) -> tuple[JobHome, PipelineHome]:
    """Where both are written down."""
    return JobHome(tmp_path), PipelineHome(JobHome(tmp_path, "pipelines"))


def test_a_job_that_runs_adds_up_its_streams(homes: tuple[JobHome, PipelineHome]) -> None:
    """And names no secret."""
    homes[0].write(RECORD)
    lock = homes[0].lock(RECORD.name)
    assert lock is not None
    row = read_one(*homes, JOB, RECORD.name)
    os.close(lock)
    assert row is not None
    assert (row.state, row.rows, row.rows_per_s, row.lag_rows, row.lag_ms) == ("running", 20, 5.0, 8, 100)
    assert "hunter2" not in repr(row)


def test_a_job_whose_process_is_gone_was_killed_and_has_no_speed(homes: tuple[JobHome, PipelineHome]) -> None:
    """What it said last holds no more."""
    homes[0].write(RECORD)
    homes[1].write(STATUS)
    rows = read_rows(*homes)
    assert [(one.state, one.runs, one.rows_per_s, one.lag_rows) for one in rows.jobs] == [("killed", False, 0.0, None)]
    assert [(one.state, one.lag_ms, one.error) for one in rows.pipelines] == [
        ("killed", None, "The process that ran it was killed.")
    ]


def test_a_lag_that_one_stream_does_not_know_is_not_known(homes: tuple[JobHome, PipelineHome]) -> None:
    """Half a sum would be wrong."""
    blind = replace(STREAM, progress=StreamProgress())
    homes[0].write(replace(RECORD, streams=(STREAM, blind)))
    lock = homes[0].lock(RECORD.name)
    assert lock is not None
    row = read_one(*homes, JOB, RECORD.name)
    os.close(lock)
    assert row is not None
    assert row.lag_rows is None


def test_what_runs_comes_first_and_a_damaged_record_is_told(homes: tuple[JobHome, PipelineHome]) -> None:
    """The others are shown all the same."""
    for name in ("a-1", "z-1"):
        homes[0].write(replace(RECORD, name=name))
    (homes[0].folder("bad-1")).mkdir(parents=True)
    (homes[0].folder("bad-1") / "record.json").write_text("{")
    lock = homes[0].lock("z-1")
    assert lock is not None
    rows = read_rows(*homes)
    os.close(lock)
    assert [one.name for one in rows.jobs] == ["z-1", "a-1"]
    assert "cannot be read" in rows.wrongs[0]


def test_what_nobody_wrote_down_is_not_there(homes: tuple[JobHome, PipelineHome]) -> None:
    """Whatever is asked for."""
    assert read_one(*homes, JOB, "../../etc") is None
    assert read_one(*homes, PIPELINE, "nothing") is None
