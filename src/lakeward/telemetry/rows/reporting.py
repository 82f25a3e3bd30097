"""Rows about the reporting itself: what was sent elsewhere."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

REPORTING_ROWS = MetricTable("Reporting", "Shown by the server.")

REPORTS = REPORTING_ROWS.counter(
    "lakeward_reports_total",
    "reports",
    "Reports of metrics and traces that were sent elsewhere, by reporter and result, `sent` or `failed`.",
    "If `failed` grows, the log says why, once; the server goes on without.",
    ("reporter", "result"),
)
SPANS = REPORTING_ROWS.counter(
    "lakeward_spans_total",
    "spans",
    "Spans of traces by result: `recorded`, or `dropped` because too many waited to be sent.",
    "If many are dropped, sample fewer ('metrics.reporter.otlp.traces.sample-ratio').",
    ("result",),
)
