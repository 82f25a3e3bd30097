"""Rows about tiering, as the server sees it."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

LAKE_ROWS = MetricTable("The lake", "Shown by the server.")
_counter, _gauge = LAKE_ROWS.counter, LAKE_ROWS.gauge

LAKE_TABLES = _gauge(
    "lakeward_lake_tables",
    "tables",
    "Lake tables by state of tiering.",
    "Many `pending` for long: no tiering service runs, or one is too few.",
    ("state",),
)
LAKE_ROUNDS = _counter(
    "lakeward_lake_rounds_total",
    "rounds",
    "Rounds of tiering by outcome.",
    "If `failed` grows, the log of the tiering service says why; rows stay in the log meanwhile.",
    ("outcome",),
)
LAKE_SNAPSHOTS = _counter(
    "lakeward_lake_snapshots_committed_total",
    "snapshots",
    "Lake snapshots that were committed.",
    "If it stands still while lag grows, tiering does not run.",
)
LAKE_LAG_ROWS = _gauge(
    "lakeward_lake_lag_rows",
    "rows",
    "Records of a table that are not yet in the lake.",
    "If it grows, tiering is too slow or fails: more tasks at a time, or a shorter 'table.datalake.freshness'.",
    ("table",),
)
LAKE_LAG_SECONDS = _gauge(
    "lakeward_lake_lag_seconds",
    "seconds",
    "Age of the oldest record that is not yet in the lake.",
    "Beyond some times 'table.datalake.freshness': is the tiering service there, and does it fail?",
    ("table",),
)
