"""Rows about streaming statements of scripts. The label is `name`: `job` is Prometheus' own."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

JOB_ROWS = MetricTable("Jobs", "Shown by `lakeward run --metrics-port`.")
_counter, _gauge = JOB_ROWS.counter, JOB_ROWS.gauge
_STREAM = ("name", "sink")

JOB_UP = _gauge(
    "lakeward_job_up",
    "1",
    "1 while the job runs, 0 when it has failed.",
    "If it is 0, `lakeward jobs show NAME` has the reason; the next run of the script goes on where it was.",
    ("name",),
)
JOB_READ = _counter(
    "lakeward_job_rows_total",
    "rows",
    "Rows that the job has read in this run, by sink.",
    "If it stands still while there is a lag, look at the Spark page of the run, then at the sink.",
    _STREAM,
)
JOB_BATCHES = _counter(
    "lakeward_job_batches_total",
    "batches",
    "Micro-batches that the job has written in this run, by sink.",
    "Few long ones: give Spark more cores, or let a batch take fewer rows.",
    _STREAM,
)
JOB_LAG_ROWS = _gauge(
    "lakeward_job_lag_rows",
    "rows",
    "Rows that the sources have and the job has not read; not shown where a source cannot tell.",
    "If it grows, the job is too slow for what comes in: give Spark more cores, or the table more buckets.",
    _STREAM,
)
JOB_LAG_SECONDS = _gauge(
    "lakeward_job_lag_seconds",
    "seconds",
    "How long the oldest row that the job has not read has waited; not shown where a source cannot tell.",
    "If it grows, the job is too slow or waits to be tried again: `lakeward jobs show NAME`.",
    _STREAM,
)
JOB_STATE_ROWS = _gauge(
    "lakeward_job_state_rows",
    "rows",
    "Rows that the query keeps between micro-batches; not shown where it keeps none.",
    "If it grows without end, a watermark is missing.",
    _STREAM,
)
JOB_LATE_ROWS = _counter(
    "lakeward_job_late_rows_total",
    "rows",
    "Rows that came after their window was closed, and were dropped.",
    "If they matter, let the watermark wait longer.",
    _STREAM,
)
JOB_SKIPPED_ROWS = _counter(
    "lakeward_job_skipped_rows_total",
    "messages",
    "Messages that could not be read and were left out.",
    "Send them to a dead-letter table to see why.",
    _STREAM,
)
