"""Rows about copies in remote storage."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

REMOTE_ROWS = MetricTable("Remote storage", "Shown by a server that has 'remote.data.dir'.")
_counter, _gauge = REMOTE_ROWS.counter, REMOTE_ROWS.gauge
_TABLE = ("table",)
_LAG = "If it grows, copies fail or are too slow: /remote says which, and why. It is what a lost disk would cost."

REMOTE_LOCAL_SEGMENTS = _gauge(
    "lakeward_remote_log_local_segments",
    "segments",
    "Segments of a table's logs on this machine.",
    "What is copied may go ('table.log.tiered.local-segments').",
    _TABLE,
)
REMOTE_LOCAL_BYTES = _gauge(
    "lakeward_remote_log_local_bytes",
    "bytes",
    "Bytes of a table's logs on this machine.",
    "As above.",
    _TABLE,
)
REMOTE_SEGMENTS = _gauge(
    "lakeward_remote_log_segments",
    "segments",
    "Segments of a table's logs in remote storage.",
    "They expire by 'table.log.ttl'.",
    _TABLE,
)
REMOTE_BYTES = _gauge(
    "lakeward_remote_log_bytes", "bytes", "Bytes of a table's logs in remote storage.", "As above.", _TABLE
)
REMOTE_LAG_ROWS = _gauge(
    "lakeward_remote_log_lag_rows", "rows", "Records of a table that are not in remote storage.", _LAG, _TABLE
)
REMOTE_LAG_BYTES = _gauge(
    "lakeward_remote_log_lag_bytes",
    "bytes",
    "Bytes of a table's logs that are not in remote storage.",
    _LAG,
    _TABLE,
)
REMOTE_LAG_SECONDS = _gauge(
    "lakeward_remote_log_lag_seconds",
    "seconds",
    "Age of the oldest record that is not in remote storage.",
    f"{_LAG} 'remote.log.sync' bounds it.",
    _TABLE,
)
REMOTE_COPIED_SEGMENTS = _counter(
    "lakeward_remote_log_copied_segments_total",
    "segments",
    "Segments that were copied.",
    "If it stands still while lag grows: /remote says why.",
)
REMOTE_COPIED_BYTES = _counter(
    "lakeward_remote_log_copied_bytes_total",
    "bytes",
    "Bytes of segments that were copied.",
    "Its rate is bounded by 'remote.log.copy-bytes-per-second'.",
)
REMOTE_EXPIRED = _counter(
    "lakeward_remote_log_expired_segments_total",
    "segments",
    "Remote segments that expired.",
    "None at all where 'table.log.ttl' is short: /remote says why.",
)
REMOTE_LOG_FAILURES = _counter(
    "lakeward_remote_log_failures_total",
    "failures",
    "Copies of logs that failed.",
    "If it grows, /remote and the log say why; nothing that was not copied leaves this machine.",
)
REMOTE_BUCKETS_WAITING = _gauge(
    "lakeward_remote_log_buckets_waiting",
    "buckets",
    "Buckets with something to copy.",
    "Many for long: raise 'remote.log.data-transfer-thread-num'.",
)
REMOTE_SNAPSHOTS = _counter(
    "lakeward_remote_snapshots_total",
    "snapshots",
    "Snapshots of state that were copied.",
    "None at all where primary key tables are written to: /remote says why.",
)
REMOTE_SNAPSHOT_BYTES = _counter(
    "lakeward_remote_snapshot_bytes_total",
    "bytes",
    "Bytes that were copied for snapshots.",
    "Its rate is what 'kv.snapshot.interval' costs.",
)
REMOTE_SHARED_BYTES = _counter(
    "lakeward_remote_snapshot_shared_bytes_total",
    "bytes",
    "Bytes of snapshots that were there already.",
    "Nothing; they were saved.",
)
REMOTE_SNAPSHOTS_WAITING = _gauge(
    "lakeward_remote_snapshots_waiting",
    "buckets",
    "Buckets whose newest snapshot is not copied yet.",
    "Many for long: copies fail or are too slow.",
)
REMOTE_METADATA_BEHIND = _gauge(
    "lakeward_remote_metadata_behind",
    "1",
    "1 while changes of the metadata are not copied yet.",
    "For longer than a minute: a server that is restored would not know the newest tables.",
)
REMOTE_STATE_FAILURES = _counter(
    "lakeward_remote_state_failures_total",
    "failures",
    "Failed copies of snapshots and metadata.",
    "If it grows, the log says why.",
)
