"""Rows about each table: rows and bytes, in and out, and what is kept of it here."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

TABLE_ROWS = MetricTable(
    "Tables",
    "Shown by the server. A table that is dropped is shown no more; tables beyond 'metrics.tables.max' are shown"
    " together, as `(others)`.",
)
_counter, _gauge = TABLE_ROWS.counter, TABLE_ROWS.gauge
_TABLE = ("table",)

TABLE_ROWS_IN = _counter(
    "lakeward_table_in_rows_total",
    "rows",
    "Rows that were appended or put, by table; of a primary key table what clients sent, deletes included.",
    "If it stands still while it should not, look at the writers, then at the errors of PRODUCE_LOG and PUT_KV.",
    _TABLE,
)
TABLE_BYTES_IN = _counter(
    "lakeward_table_in_bytes_total",
    "bytes",
    "Bytes of the batches that were appended or put, as they came, by table.",
    "Few rows to many bytes, or batches of a few rows, are slow for everybody: let writers wait longer for a batch.",
    _TABLE,
)
TABLE_ROWS_OUT = _counter(
    "lakeward_table_out_rows_total",
    "rows",
    "Rows of batches that fetches were answered with, by table.",
    "If it is far below rows in, readers fall behind: see troubleshooting.",
    _TABLE,
)
TABLE_BYTES_OUT = _counter(
    "lakeward_table_out_bytes_total",
    "bytes",
    "Bytes of batches and values that fetches and lookups were answered with, by table.",
    "If it is far above bytes in, many read the same, or all columns where few would do.",
    _TABLE,
)
TABLE_KEYS_LOOKED_UP = _counter(
    "lakeward_table_keys_looked_up_total",
    "keys",
    "Keys and prefixes that were looked up, by table.",
    "Divide it by the requests: lookups of one key at a time are slow for the client.",
    _TABLE,
)
TABLE_LOG_BYTES = _gauge(
    "lakeward_table_log_bytes",
    "bytes",
    "Bytes of the logs of a table that are in use here.",
    "If it grows beyond the disk: shorten 'table.log.ttl', or tier the table, or copy it to remote storage.",
    _TABLE,
)
TABLE_SEGMENTS = _gauge(
    "lakeward_table_log_segments",
    "segments",
    "Segments of the logs of a table that are in use here.",
    "Thousands of small ones mean too many buckets, or 'log.segment.file-size' is too small.",
    _TABLE,
)
TABLE_OPEN_BUCKETS = _gauge(
    "lakeward_table_open_buckets",
    "buckets",
    "Buckets of a table whose logs are in use.",
    "Many with little in each: the table has too many buckets.",
    _TABLE,
)
TABLE_KEYS = _gauge(
    "lakeward_table_kv_keys",
    "keys",
    "Keys in the state of a primary key table, as far as it is in use.",
    "If it grows without end, rows are never deleted; partitions that expire would help.",
    _TABLE,
)
TABLE_STATE_BYTES = _gauge(
    "lakeward_table_kv_bytes",
    "bytes",
    "Bytes of keys and values in the state of a primary key table, as far as it is in use.",
    "With 'kv.engine' hash they are in memory: beyond half of it, take rocksdb.",
    _TABLE,
)
TABLE_SNAPSHOT_AGE = _gauge(
    "lakeward_table_snapshot_age_seconds",
    "seconds",
    "Age of the oldest change of a primary key table that no snapshot holds; 0 when all are in one.",
    "Beyond some times 'kv.snapshot.interval' snapshots fail: the log says why. A restart replays what is missing.",
    _TABLE,
)
TABLE_SNAPSHOT_LAG = _gauge(
    "lakeward_table_snapshot_lag_rows",
    "rows",
    "Changes of a primary key table that no snapshot holds, and that a restart would replay.",
    "As above; a shorter 'kv.snapshot.interval' makes restarts quicker.",
    _TABLE,
)
