"""What jobs show to Prometheus."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.cli.commands.scripts.job_metrics import JobMetrics
from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState, StreamProgress, StreamRecord


@dataclass
class _Job:
    record: JobRecord


def _job(state: JobState, progress: StreamProgress) -> _Job:
    stream = StreamRecord(sink="shop.big", text="", sources=(), state="", checkpoint="", progress=progress)
    return _Job(JobRecord(name="enrich", state=state, since_ms=0, pid=1, checkpoint="", streams=(stream,)))


def test_a_job_shows_how_far_it_is() -> None:
    """By its name and its sink; what it cannot tell is not shown."""
    text = JobMetrics(lambda: [_job(JobState.RUNNING, StreamProgress(rows=7, batches=2, lag_rows=3))]).text()
    assert 'lakeward_job_up{name="enrich"} 1' in text
    assert 'lakeward_job_rows_total{name="enrich",sink="shop.big"} 7' in text
    assert 'lakeward_job_lag_rows{name="enrich",sink="shop.big"} 3' in text
    assert "lakeward_job_lag_seconds{" not in text


def test_a_job_that_failed_is_down() -> None:
    """One that finished is not: nobody need get up for it."""
    assert 'lakeward_job_up{name="enrich"} 0' in JobMetrics(lambda: [_job(JobState.FAILED, StreamProgress())]).text()
    assert 'lakeward_job_up{name="enrich"} 1' in JobMetrics(lambda: [_job(JobState.FINISHED, StreamProgress())]).text()
