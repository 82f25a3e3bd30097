"""What the jobs of a run count, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from lakeward.spark.scripts.jobs.job_record import JobRecord, JobState
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import jobs as metric_rows


class MeasuredJob(Protocol):
    """A job, as far as it is measured."""

    @property
    def record(self) -> JobRecord:
        """What is known of it now."""


class JobMetrics:
    """Made again whenever somebody looks."""

    def __init__(self, jobs: Callable[[], Iterable[MeasuredJob]]) -> None:
        self._jobs = jobs

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        metrics = Metrics()
        up = metrics.gauge(metric_rows.JOB_UP)
        rows = metrics.counter(metric_rows.JOB_READ)
        batches = metrics.counter(metric_rows.JOB_BATCHES)
        late = metrics.counter(metric_rows.JOB_LATE_ROWS)
        skipped = metrics.counter(metric_rows.JOB_SKIPPED_ROWS)
        lag_rows = metrics.gauge(metric_rows.JOB_LAG_ROWS)
        lag_seconds = metrics.gauge(metric_rows.JOB_LAG_SECONDS)
        state = metrics.gauge(metric_rows.JOB_STATE_ROWS)
        for job in self._jobs():
            record = job.record
            up.set(int(record.state is not JobState.FAILED), (record.name,))
            for stream in record.streams:
                labels, progress = (record.name, stream.sink), stream.progress
                rows.add(progress.rows, labels)
                batches.add(progress.batches, labels)
                late.add(progress.late_rows, labels)
                skipped.add(progress.skipped_rows, labels)
                if progress.lag_rows is not None:
                    lag_rows.set(progress.lag_rows, labels)
                if progress.lag_ms is not None:
                    lag_seconds.set(progress.lag_ms / 1000, labels)
                if progress.state_rows is not None:
                    state.set(progress.state_rows, labels)
        return metrics.text()
