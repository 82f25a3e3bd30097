"""Rows of what runs beside the server: the tiering service, pipelines, and queries of a connection."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

TIERING_ROWS = MetricTable("The tiering service", "Shown by `lakeward tier --metrics-port`.")
QUERY_ROWS = MetricTable("Queries", "Shown by `connection.metrics()`.")
PIPELINE_ROWS = MetricTable("Pipelines", "Shown by `lakeward pipeline run --metrics-port`.")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_TABLE, _TIER, _PIPELINE = ("table",), ("tier",), ("pipeline",)

TIERING_ROUNDS = TIERING_ROWS.counter(
    "lakeward_tiering_rounds_total",
    "rounds",
    "Rounds that ended, by table and outcome.",
    "If `failed` grows, the service's log says why; `overtaken` means that another service was quicker.",
    ("outcome", "table"),
)
TIERING_MOVED_ROWS = TIERING_ROWS.counter(
    "lakeward_tiering_rows_total",
    "rows",
    "Rows moved into the lake.",
    "Its rate must be above that of the rows that come in.",
    _TABLE,
)
TIERING_BYTES = TIERING_ROWS.counter(
    "lakeward_tiering_bytes_total",
    "bytes",
    "Bytes of the files written.",
    "Divided by files: a few MB each are too little, let rounds come less often.",
    _TABLE,
)
TIERING_FILES = TIERING_ROWS.counter("lakeward_tiering_files_total", "files", "Files written.", "As above.", _TABLE)
TIERING_SECONDS = TIERING_ROWS.counter(
    "lakeward_tiering_seconds_total",
    "seconds",
    "Seconds that rounds took.",
    "Divided by rounds: longer than 'table.datalake.freshness' is too long, take more tasks.",
    _TABLE,
)
TIERING_RUNNING = TIERING_ROWS.gauge(
    "lakeward_tiering_running", "rounds", "Rounds under way.", "0 for long while tables lag: it does not get any."
)
TIERING_LAG_ROWS = TIERING_ROWS.gauge(
    "lakeward_tiering_lag_rows",
    "rows",
    "Rows that the lake lacks.",
    "If it grows, rounds are too slow or fail.",
    _TABLE,
)
TIERING_LAG_SECONDS = TIERING_ROWS.gauge(
    "lakeward_tiering_lag_seconds",
    "seconds",
    "How long the oldest row that the lake lacks waits.",
    "Beyond some times 'table.datalake.freshness': rounds are too slow or fail.",
    _TABLE,
)

QUERY_SCANS = QUERY_ROWS.counter(
    "lakeward_query_scans_total", "splits", "Splits that were read, by tier.", "Nothing; it is the work done.", _TIER
)
QUERY_ROWS_READ = QUERY_ROWS.counter(
    "lakeward_query_rows_total",
    "rows",
    "Rows that splits gave, by tier, before the engine's filters.",
    "Far more than a query returns: give it filters on columns that prune.",
    _TIER,
)
QUERY_BYTES = QUERY_ROWS.counter(
    "lakeward_query_bytes_total",
    "bytes",
    "Bytes that splits gave, by tier: of Arrow, or of files.",
    "As above; and ask for fewer columns.",
    _TIER,
)
QUERY_SCAN_SECONDS = QUERY_ROWS.histogram(
    "lakeward_query_scan_seconds",
    "seconds",
    _SECONDS,
    "How long splits took to be read.",
    "Slow ones of the hot tier: the log is long, tier more often. Of the cold one: files are small or far.",
    _TIER,
)
QUERY_FAILURES = QUERY_ROWS.counter(
    "lakeward_query_failures_total",
    "queries",
    "Queries in SQL that ended with an error.",
    "Whoever asked was told why.",
)
QUERY_SECONDS = QUERY_ROWS.histogram(
    "lakeward_query_seconds",
    "seconds",
    _SECONDS,
    "How long queries in SQL took, with their plans.",
    "See what its splits took, and what the plan pruned (EXPLAIN).",
)

PIPELINE_WRITTEN = PIPELINE_ROWS.counter(
    "lakeward_pipeline_rows_total",
    "rows",
    "Rows written in this run, by table of the source.",
    "If it stands still while the source changes, look at lag and restarts.",
    ("pipeline", "table"),
)
PIPELINE_RESTARTS = PIPELINE_ROWS.counter(
    "lakeward_pipeline_restarts_total",
    "restarts",
    "Failures after which it was tried again.",
    "If it grows, the pipeline's log says why.",
    _PIPELINE,
)
PIPELINE_UP = PIPELINE_ROWS.gauge(
    "lakeward_pipeline_up",
    "1",
    "1 while the pipeline runs, 0 while it waits or has ended.",
    "0 for longer than a minute: its log says why.",
    _PIPELINE,
)
PIPELINE_LAG = PIPELINE_ROWS.gauge(
    "lakeward_pipeline_lag_seconds",
    "seconds",
    "How far the pipeline is behind its database.",
    "If it grows, the cluster or the source is too slow, or it does not run.",
    _PIPELINE,
)
PIPELINE_HELD = PIPELINE_ROWS.gauge(
    "lakeward_pipeline_held_bytes",
    "bytes",
    "Log that the database keeps for this pipeline alone.",
    "If it grows, the database's disk fills up: let the pipeline run, or drop its slot.",
    _PIPELINE,
)
