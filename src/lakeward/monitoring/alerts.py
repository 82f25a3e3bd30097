"""What somebody is woken for. Each alert stands on a metric's row, and says what to do in its own words."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.telemetry.rows import jobs, lake, process, remote, requests, security, services, storage, tables
from lakeward.telemetry.rows.metric_row import MetricRow

PAGE = "critical"
TICKET = "warning"
#: Who takes longer than this has stopped, for a client.
_SLOW_S = 1.0


class Alert(NamedTuple):
    """When it fires, and what to do then. `{metric}` and `{limit}` in `when` are filled in."""

    name: str
    metric: MetricRow | None
    when: str
    limit: float
    patience: str
    severity: str
    summary: str
    meaning: str
    todo: str

    def expression(self, limit: float) -> str:
        """The question to Prometheus whose answers are what is wrong."""
        return self.when.format(metric="" if self.metric is None else self.metric.name, limit=f"{limit:g}")


ALERTS = (
    Alert(
        "LakewardDown",
        None,
        'up{{job=~"lakeward.*"}} < {limit}',
        1,
        "1m",
        PAGE,
        "{{ $labels.instance }} does not answer.",
        "Prometheus cannot reach a process of Lakeward: it has ended, hangs, or the network between is cut.",
        "See whether the process runs (`systemctl status lakeward`, `kubectl get pods`) and what its last lines say;"
        " `lakeward doctor` from the same machine tells a closed port from a server that hangs.",
    ),
    Alert(
        "LakewardWritesStopped",
        storage.WRITES_STOPPED,
        "{metric} >= {limit}",
        1,
        "0s",
        PAGE,
        "{{ $labels.instance }} takes no writes.",
        "The server has gone read-only, because its disk is full or broken. Rows that were acknowledged are safe.",
        "`GET /health` says why. Make room on the disk of the data directory, or raise its size; writes go on by"
        " themselves.",
    ),
    Alert(
        "LakewardDiskAlmostFull",
        storage.DISK_FREE,
        "{metric} / lakeward_disk_total_bytes < {limit}",
        0.1,
        "5m",
        TICKET,
        "{{ $labels.instance }}: {{ $value | humanizePercentage }} of the disk is free.",
        "The disk of the data directory is almost full; when it is, writes stop.",
        "Shorten 'table.log.ttl' of the largest tables (dashboard Tables, panel Log), tier them or copy them to remote"
        " storage, or give the server a larger disk.",
    ),
    Alert(
        "LakewardDamagedLog",
        storage.DAMAGED,
        "{metric} >= {limit}",
        1,
        "0s",
        PAGE,
        "{{ $labels.instance }} has {{ $value }} damaged stretches of log.",
        "Bytes on the disk are not what was written. Readers of these offsets get an error, all others are served.",
        "`GET /health` names files and offsets. Look at the disk, then follow docs/guides/damage.md: `lakeward verify`,"
        " then `lakeward repair`.",
    ),
    Alert(
        "LakewardClockInDoubt",
        storage.CLOCK_IN_DOUBT,
        "{metric} >= {limit}",
        1,
        "1m",
        TICKET,
        "The clock of {{ $labels.instance }} has jumped.",
        "The machine's clock went far ahead or back. Rows are stamped by a clock that does not follow it.",
        "Set the clock right (`timedatectl`, chrony); `GET /health` says what the server thinks of it.",
    ),
    Alert(
        "LakewardErrors",
        requests.REQUEST_ERRORS,
        "sum by (instance, api, error) (rate({metric}[5m])) > {limit}",
        1,
        "5m",
        TICKET,
        "{{ $labels.api }} of {{ $labels.instance }} answers {{ $labels.error }}.",
        "Clients are told errors, more than one a second for some minutes.",
        "The error's name says what is wrong; the client's log has the whole sentence. One client that asks for a table"
        " that is gone is the usual cause.",
    ),
    Alert(
        "LakewardSlowWrites",
        requests.REQUEST_SECONDS,
        "histogram_quantile(0.99, sum by (instance, le)"
        ' (rate({metric}_bucket{{api=~"PRODUCE_LOG|PUT_KV"}}[5m]))) > {limit}',
        _SLOW_S,
        "5m",
        TICKET,
        "Writes on {{ $labels.instance }} take {{ $value }} s (p99).",
        "One write in a hundred takes longer than a second.",
        "Look at CPU, event loop delay and disk on the dashboard Server; docs/guides/troubleshooting.md, slow writes.",
    ),
    Alert(
        "LakewardSlowReads",
        requests.REQUEST_SECONDS,
        "histogram_quantile(0.99, sum by (instance, le)"
        ' (rate({metric}_bucket{{api=~"FETCH_LOG|LOOKUP|PREFIX_LOOKUP"}}[5m]))) > {limit}',
        _SLOW_S,
        "5m",
        TICKET,
        "Reads on {{ $labels.instance }} take {{ $value }} s (p99).",
        "One fetch or lookup in a hundred takes longer than a second, once its rows are there.",
        "Look at CPU, event loop delay and disk on the dashboard Server; docs/guides/troubleshooting.md, slow reads.",
    ),
    Alert(
        "LakewardLoopHeld",
        process.LOOP_DELAY,
        "histogram_quantile(0.99, sum by (instance, le) (rate({metric}_bucket[5m]))) > {limit}",
        0.25,
        "5m",
        TICKET,
        "The event loop of {{ $labels.instance }} is {{ $value }} s late (p99).",
        "Something keeps the one thread that serves all clients; they all wait.",
        "See that the machine has CPU left, and which API grew on the dashboard Server; batches of many megabytes and"
        " thousands of small requests are the usual causes.",
    ),
    Alert(
        "LakewardOpenFiles",
        process.OPEN_FILES,
        "{metric} / process_max_fds > {limit}",
        0.8,
        "5m",
        TICKET,
        "{{ $labels.instance }} has {{ $value | humanizePercentage }} of the files open that it may.",
        "When no file can be opened any more, connections are refused and logs cannot grow.",
        "Raise the limit (`ulimit -n`, LimitNOFILE= of systemd), or find the client that opens many connections.",
    ),
    Alert(
        "LakewardMemory",
        process.RESIDENT_BYTES,
        '{metric}{{job=~"lakeward.*"}} > {limit}',
        8 * (1 << 30),
        "10m",
        TICKET,
        "{{ $labels.instance }} has {{ $value | humanize1024 }}B of memory.",
        "The process is larger than 8 GiB. Set the limit to what your machine has.",
        "Look at Keys and State on the dashboard Tables: state that does not fit goes to rocksdb"
        " ('table.kv.engine'); docs/guides/troubleshooting.md, out of memory.",
    ),
    Alert(
        "LakewardConnectionsRefused",
        requests.CONNECTIONS_REFUSED,
        "increase({metric}[5m]) > {limit}",
        0,
        "0s",
        TICKET,
        "{{ $labels.instance }} turns connections away.",
        "There are as many connections as may be, and more want in.",
        "Find the client that opens so many, or raise 'netty.server.max-connections' and the limit of open files.",
    ),
    Alert(
        "LakewardLoginsRefused",
        security.LOGINS,
        'sum by (instance, mechanism) (rate({metric}{{result="refused"}}[5m])) > {limit}',
        1,
        "2m",
        TICKET,
        "{{ $labels.instance }} refuses {{ $value }} logins a second.",
        "Somebody tries passwords, or a client has an old one.",
        "The audit log has names and addresses (docs/guides/security.md).",
    ),
    Alert(
        "LakewardAuditLost",
        security.AUDIT_LOST,
        "increase({metric}[15m]) > {limit}",
        0,
        "0s",
        PAGE,
        "{{ $labels.instance }} could not write its audit log.",
        "Somebody did something of which no line was written.",
        "Look at the directory of the audit log: its disk is full, or may not be written to.",
    ),
    Alert(
        "LakewardLakeBehind",
        lake.LAKE_LAG_SECONDS,
        "{metric} > {limit}",
        1800,
        "5m",
        TICKET,
        "The lake is {{ $value | humanizeDuration }} behind {{ $labels.table }}.",
        "Rows of a table have waited for half an hour or more to get into the lake. Queries see them all the same.",
        "`lakeward tier status` says why: no service runs, it fails, or it is too slow for the rate of this table.",
    ),
    Alert(
        "LakewardTieringFails",
        services.TIERING_ROUNDS,
        'increase({metric}{{outcome="failed"}}[10m]) > {limit}',
        2,
        "0s",
        TICKET,
        "Tiering of {{ $labels.table }} fails again and again.",
        "Rounds of a table fail and are tried again. Nothing is lost, but its log cannot be shortened meanwhile.",
        "`lakeward tier status` has the reason; a lake that cannot be reached and a changed column are the usual ones.",
    ),
    Alert(
        "LakewardRemoteCopyFails",
        remote.REMOTE_LOG_FAILURES,
        "increase({metric}[10m]) > {limit}",
        2,
        "0s",
        TICKET,
        "{{ $labels.instance }} cannot copy its logs to remote storage.",
        "Segments stay on this machine until they are copied, so its disk fills up.",
        "`lakeward remote status` has the last error: a bucket that is gone, rights, or the network.",
    ),
    Alert(
        "LakewardSnapshotsOld",
        tables.TABLE_SNAPSHOT_LAG,
        "{metric} > {limit}",
        50_000_000,
        "30m",
        TICKET,
        "{{ $labels.table }} has {{ $value }} changes since its last snapshot.",
        "After a crash so many changes are replayed before the table's keys can be looked up.",
        "Look into the server's log for why snapshots are not made; disk space is the usual cause.",
    ),
    Alert(
        "LakewardJobDown",
        jobs.JOB_UP,
        "{metric} < {limit}",
        1,
        "2m",
        PAGE,
        "Job {{ $labels.name }} does not run.",
        "A streaming statement of `lakeward run` has failed or waits to be tried again.",
        "`lakeward jobs show NAME` has its last error. The next `lakeward run` of its script goes on where it was.",
    ),
    Alert(
        "LakewardPipelineDown",
        services.PIPELINE_UP,
        "{metric} < {limit}",
        1,
        "2m",
        PAGE,
        "Pipeline {{ $labels.pipeline }} does not run.",
        "A pipeline has ended or waits to be tried again. Its database may keep its log for it meanwhile.",
        "`lakeward pipeline status` has the last error and what the database holds back for it.",
    ),
)
