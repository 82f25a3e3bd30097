"""Rows about what the server keeps: logs, states, damage, the disk."""

from __future__ import annotations

from lakeward.telemetry.rows.metric_row import MetricTable

STORAGE_ROWS = MetricTable("Logs, states and the disk", "Shown by the server.")
_counter, _gauge = STORAGE_ROWS.counter, STORAGE_ROWS.gauge

TABLES = _gauge("lakeward_tables", "tables", "Tables in the catalog.", "Tables that nobody uses can be dropped.")
BUCKETS = _gauge(
    "lakeward_buckets",
    "buckets",
    "Buckets by state: `open` its log is in use, `idle` nobody has touched it since the start, `damaged` a part of it"
    " cannot be read, `busy` its state is being opened, sorted or copied. There is one replica of each, which leads.",
    "`damaged` must be 0: see the guide about damage. `busy` is 0 but for moments.",
    ("state",),
)
OPEN_LOGS = _gauge(
    "lakeward_open_logs", "logs", "Bucket logs that are in use.", "Each costs some memory; tens of thousands are many."
)
LOG_BYTES = _gauge(
    "lakeward_log_bytes",
    "bytes",
    "Bytes in the logs that are in use.",
    "Compare it with the disk; retention, tiering and remote storage let go of what is old.",
)
LOG_SEGMENTS = _gauge(
    "lakeward_log_segments",
    "segments",
    "Segments of the logs that are in use.",
    "Each is three files; see the tables for who has so many.",
)
OPEN_LOG_FILES = _gauge(
    "lakeward_open_log_files",
    "files",
    "Files of logs that are open at the moment, of at most 512.",
    "At 512 files are closed and opened again all the time: fewer buckets would be quicker.",
)
COMPACTIONS = _counter(
    "lakeward_compactions_total",
    "compactions",
    "Changelogs that were compacted and became smaller.",
    "None at all with 'table.log.compaction.enabled': rows are seldom overtaken, or segments are too large to close.",
)
COMPACTED_BYTES = _counter(
    "lakeward_compaction_freed_bytes_total",
    "bytes",
    "Bytes that compaction of changelogs has freed.",
    "Little for many compactions: let them come less often ('table.log.compaction.interval').",
)
DAMAGED = _gauge(
    "lakeward_damaged_ranges",
    "ranges",
    "Ranges of offsets that cannot be read.",
    "Must be 0. /health names file and offsets; `lakeward repair` gives up what cannot be had back.",
)
GIVEN_UP = _gauge(
    "lakeward_given_up_ranges",
    "ranges",
    "Ranges of offsets that were given up by a repair.",
    "They are lost for good; their readers go on behind them.",
)
DAMAGED_SNAPSHOTS = _gauge(
    "lakeward_damaged_snapshots",
    "snapshots",
    "Snapshots of states that the scrubber found damaged.",
    "Must be 0. No row is lost while the log reaches back to an older one; look at the disk.",
)
SCRUBBED = _counter(
    "lakeward_scrubbed_bytes_total",
    "bytes",
    "Bytes that the scrubber has read.",
    "If it stands still, damage is found only by who reads: see 'log.scrub.rate'.",
)
DISK_FREE = _gauge(
    "lakeward_disk_free_bytes",
    "bytes",
    "Room that is left on the disk of the data directory.",
    "Before it is full writes stop ('server.data-disk.write-limit-ratio'); free some, or add some.",
)
DISK_TOTAL = _gauge(
    "lakeward_disk_total_bytes",
    "bytes",
    "Size of the disk of the data directory, without what is kept back for root.",
    "What is used of it is not only ours.",
)
WRITES_STOPPED = _gauge(
    "lakeward_writes_stopped",
    "1",
    "1 while nothing may be written, because the disk is full or storage fails; reads go on.",
    "/health says why and what to do.",
)
CLOCK_IN_DOUBT = _gauge(
    "lakeward_clock_in_doubt",
    "1",
    "1 while the wall clock of the machine has jumped and is not believed.",
    "/health says by how much. Set the clock right; nothing is deleted by a time in doubt.",
)
