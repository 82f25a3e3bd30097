"""What is on each dashboard. A panel that no metric's row stands behind cannot be written here."""

from __future__ import annotations

from lakeward.monitoring.panel import Dashboard, Panel
from lakeward.monitoring.query import part, quantile, rate, value
from lakeward.telemetry.rows import jobs, lake, process, remote, requests, security, services, storage, tables

_TABLE = 'table=~"$table"'
_WRITES = 'api=~"PRODUCE_LOG|PUT_KV"'
_READS = 'api=~"FETCH_LOG|LOOKUP|PREFIX_LOOKUP|LIMIT_SCAN|SCAN_KV"'

SERVER = Dashboard(
    "server",
    "Lakeward: server",
    (
        Panel("Rows in", (rate(tables.TABLE_ROWS_IN),), is_figure=True),
        Panel("Rows out", (rate(tables.TABLE_ROWS_OUT),), is_figure=True),
        Panel("Connections", (value(requests.CONNECTIONS),), is_figure=True),
        Panel("Tables", (value(storage.TABLES),), is_figure=True),
        Panel("Free disk", (part(storage.DISK_FREE, storage.DISK_TOTAL, "free"),), is_figure=True),
        Panel("Damaged ranges", (value(storage.DAMAGED),), is_figure=True),
        Panel("Requests", (rate(requests.REQUESTS, "api"),)),
        Panel("Errors", (rate(requests.REQUEST_ERRORS, "api", "error"),)),
        Panel("Bytes in and out", (rate(tables.TABLE_BYTES_IN), rate(tables.TABLE_BYTES_OUT))),
        Panel("Writes", tuple(quantile(requests.REQUEST_SECONDS, s, "api", where=_WRITES) for s in (0.5, 0.99, 0.999))),
        Panel("Reads", tuple(quantile(requests.REQUEST_SECONDS, s, "api", where=_READS) for s in (0.5, 0.99, 0.999))),
        Panel("Event loop delay", (quantile(process.LOOP_DELAY, 0.5), quantile(process.LOOP_DELAY, 0.99))),
        Panel("CPU, in cores", (rate(process.CPU_SECONDS, "instance"),)),
        Panel("Memory", (value(process.RESIDENT_BYTES, "instance"), value(requests.RECEIVE_BYTES, "instance"))),
        Panel("Open files", (value(process.OPEN_FILES, "instance"), value(process.FILES_MAX, "instance"))),
        Panel("Logs", (value(storage.LOG_BYTES, "instance"),)),
        Panel("Segments", (value(storage.LOG_SEGMENTS), value(storage.OPEN_LOG_FILES))),
        Panel("Fetches that wait", (value(requests.FETCHES_WAITING),)),
        Panel("Connections accepted and refused", (rate(requests.CONNECTIONS_ACCEPTED),)),
        Panel("Logins", (rate(security.LOGINS, "mechanism", "result"),)),
        Panel("Requests by principal", (rate(security.PRINCIPAL_REQUESTS, "principal"),)),
        Panel("Scrubbed", (rate(storage.SCRUBBED),)),
        Panel("Copied to remote storage", (rate(remote.REMOTE_COPIED_BYTES),)),
        Panel("Remote copies that failed", (rate(remote.REMOTE_LOG_FAILURES), rate(remote.REMOTE_STATE_FAILURES))),
    ),
)

TABLES = Dashboard(
    "tables",
    "Lakeward: tables",
    (
        Panel("Rows in", (rate(tables.TABLE_ROWS_IN, "table", where=_TABLE),)),
        Panel("Rows out", (rate(tables.TABLE_ROWS_OUT, "table", where=_TABLE),)),
        Panel("Keys looked up", (rate(tables.TABLE_KEYS_LOOKED_UP, "table", where=_TABLE),)),
        Panel("Bytes in", (rate(tables.TABLE_BYTES_IN, "table", where=_TABLE),)),
        Panel("Bytes out", (rate(tables.TABLE_BYTES_OUT, "table", where=_TABLE),)),
        Panel("Log", (value(tables.TABLE_LOG_BYTES, "table", where=_TABLE),)),
        Panel("Segments", (value(tables.TABLE_SEGMENTS, "table", where=_TABLE),)),
        Panel("Keys", (value(tables.TABLE_KEYS, "table", where=_TABLE),)),
        Panel("State", (value(tables.TABLE_STATE_BYTES, "table", where=_TABLE),)),
        Panel("Age of the snapshot", (value(tables.TABLE_SNAPSHOT_AGE, "table", where=_TABLE, over="max"),)),
        Panel("Changes since the snapshot", (value(tables.TABLE_SNAPSHOT_LAG, "table", where=_TABLE),)),
        Panel("Open buckets", (value(tables.TABLE_OPEN_BUCKETS, "table", where=_TABLE),)),
    ),
    filters=(("table", tables.TABLE_ROWS_IN.name),),
)

LAKE = Dashboard(
    "lake",
    "Lakeward: lake",
    (
        Panel("Rows behind", (value(lake.LAKE_LAG_ROWS, "table", where=_TABLE),)),
        Panel("Seconds behind", (value(lake.LAKE_LAG_SECONDS, "table", where=_TABLE, over="max"),)),
        Panel("Tables by state", (value(lake.LAKE_TABLES, "state"),)),
        Panel("Rounds", (rate(lake.LAKE_ROUNDS, "outcome"),)),
        Panel("Snapshots", (rate(lake.LAKE_SNAPSHOTS),)),
        Panel("Rounds of a service", (rate(services.TIERING_ROUNDS, "table", "outcome", where=_TABLE),)),
        Panel("Rows into the lake", (rate(services.TIERING_MOVED_ROWS, "table", where=_TABLE),)),
        Panel("Bytes into the lake", (rate(services.TIERING_BYTES, "table", where=_TABLE),)),
        Panel("Files written", (rate(services.TIERING_FILES, "table", where=_TABLE),)),
        Panel("Time in rounds", (rate(services.TIERING_SECONDS, "table", where=_TABLE),)),
        Panel("Rounds under way", (value(services.TIERING_RUNNING),)),
        Panel("Not yet in remote storage", (value(remote.REMOTE_LAG_BYTES, "table", where=_TABLE),)),
        Panel("Remote storage", (value(remote.REMOTE_BYTES, "table", where=_TABLE),)),
    ),
    filters=(("table", lake.LAKE_LAG_ROWS.name),),
)

JOBS = Dashboard(
    "jobs",
    "Lakeward: Spark jobs",
    (
        Panel("Jobs that run", (value(jobs.JOB_UP, "name"),)),
        Panel("Rows", (rate(jobs.JOB_READ, "name", "sink"),)),
        Panel("Rows behind", (value(jobs.JOB_LAG_ROWS, "name", "sink"),)),
        Panel("Seconds behind", (value(jobs.JOB_LAG_SECONDS, "name", "sink", over="max"),)),
        Panel("Micro-batches", (rate(jobs.JOB_BATCHES, "name", "sink"),)),
        Panel("Rows that queries keep", (value(jobs.JOB_STATE_ROWS, "name", "sink"),)),
        Panel("Rows too late", (rate(jobs.JOB_LATE_ROWS, "name", "sink"),)),
        Panel("Messages left out", (rate(jobs.JOB_SKIPPED_ROWS, "name", "sink"),)),
        Panel("Pipelines that run", (value(services.PIPELINE_UP, "pipeline"),)),
        Panel("Rows of pipelines", (rate(services.PIPELINE_WRITTEN, "pipeline", "table"),)),
        Panel("Pipelines, seconds behind", (value(services.PIPELINE_LAG, "pipeline", over="max"),)),
        Panel("Pipelines that were restarted", (rate(services.PIPELINE_RESTARTS, "pipeline"),)),
    ),
)

DASHBOARDS = (SERVER, TABLES, LAKE, JOBS)
