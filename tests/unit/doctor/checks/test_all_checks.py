"""Each check by values: facts that are wrong, and the words it must say; facts that are well, and its silence."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.doctor.checks.all_checks import CHECKS
from lakeward.doctor.checks.machine import fits
from lakeward.doctor.examine import judge
from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.machine import DirectoryFacts, DiskFacts, MachineFacts, ProcessFacts
from lakeward.doctor.facts.port import Listener, PortFacts, ReachedServer
from lakeward.doctor.facts.samples import Samples
from lakeward.doctor.facts.tables import GroupFacts, LakeFacts, TableFacts, TieringFacts
from lakeward.doctor.findings.check import Unchecked
from lakeward.doctor.findings.finding import Severity
from lakeward.model.acl import EVERYBODY, Acl, Operation, Resource, ResourceType

_NOW = 1_800_000_000_000
_DAY = 86_400_000
_LAKE = {"table.datalake.enabled": "true", "table.datalake.freshness": "60 s"}
_HEALTH = {"status": "ok", "tables": 1, "version": "0.1.0", "time_ms": _NOW}
_DISK = DiskFacts("/data", 100_000_000_000, 60_000_000_000, 1000, 900, kind="ext4")
_LOGIN = {"bind.listeners": "CLIENT://localhost:9123", "security.protocol.map": "CLIENT:SASL_SSL"}


def _damage(**more: Any) -> dict[str, Any]:
    one = {"log": "shop.orders 0", "first": 10, "end": 20, "file": "/data/x.log", "reason": "the CRC is wrong"}
    return {**_HEALTH, "status": "damaged", "damaged": [{**one, **more}]}


def _group(**more: int) -> GroupFacts:
    return GroupFacts(
        "billing", "shop.orders", **{"lag_rows": 0, "rows": 10, "lost_rows": 0, "committed_ms": _NOW, **more}
    )


def _server(api: str) -> Samples:
    return Samples.parse(
        f'lakeward_request_recent_seconds{{api="{api}",quantile="0.99"}} 0.7\n'
        'lakeward_event_loop_delay_seconds_bucket{le="0.5"} 100\n'
        'lakeward_event_loop_delay_seconds_bucket{le="+Inf"} 100\n'
    )


#: Check, severity, words of what it says and of what to do, facts.
WRONG: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("port", "error", "Nothing listens at h:1", "lakeward serve", {"port": PortFacts("h:1", Listener.NOBODY)}),
    ("port", "error", "is not known here", "getent", {"port": PortFacts("h:1", Listener.UNKNOWN_HOST, "no name")}),
    ("port", "error", "cannot be reached", "firewall", {"port": PortFacts("h:1", Listener.OUT_OF_REACH, "late")}),
    ("port", "error", "TLS only", "LAKEWARD_CA_FILE", {"port": PortFacts("h:1", Listener.TLS)}),
    ("port", "error", "a web server, not Lakeward", "ss -ltnp", {"port": PortFacts("h:1", Listener.HTTP, "HTTP/1.1")}),
    ("port", "error", "It said: 'SSH-2.0'", "--port 9124", {"port": PortFacts("h:1", Listener.OTHER, "SSH-2.0")}),
    (
        "advertised-address",
        "error",
        "sends clients to inner:9123",
        "advertised.listeners",
        {"servers": [ReachedServer("tablet", 0, "inner:9123", "refused")]},
    ),
    ("advertised-address", "warning", "names no servers", "cluster describe", {"servers": []}),
    (
        "tablet-servers",
        "error",
        "1 of 3 tablet servers is away: 1.",
        "log",
        {"health": {**_HEALTH, "status": "incomplete", "tablet_servers": {"size": 3, "away": [1], "returns": 4}}},
    ),
    (
        "tablet-servers",
        "note",
        "ended by themselves 4 times",
        "log",
        {"health": {**_HEALTH, "tablet_servers": {"size": 3, "away": [], "returns": 4}}},
    ),
    (
        "disk",
        "error",
        "Nothing can be written: the disk is full",
        "tables drop",
        {"health": {**_HEALTH, "status": "read-only", "full disk": "the disk is full"}},
    ),
    (
        "disk",
        "warning",
        "82.0 % full",
        "table.log.ttl",
        {"disk": DiskFacts("/data", 100, 18), "options": {}},
    ),
    (
        "disk",
        "warning",
        "90.0 % full",
        "table.log.ttl",
        {"metrics": Samples.parse("lakeward_disk_free_bytes 10\nlakeward_disk_total_bytes 100\n"), "options": {}},
    ),
    ("disk", "error", "mounted read-only", "remount", {"disk": DiskFacts("/data", 100, 90, is_read_only=True)}),
    ("disk", "warning", "1 of 1,000 inodes", "segments", {"disk": DiskFacts("/data", 100, 90, 1000, 1)}),
    ("damaged-segments", "error", "Offsets 10 to 20 of shop.orders 0", "lakeward repair", {"health": _damage()}),
    ("scrub", "note", "not read again", "log.scrub.rate", {"options": {"log.scrub.rate": "0b"}}),
    (
        "remote-copies",
        "error",
        "Copies to s3://b fail: denied",
        "remote status",
        {"remote": {"is_failing": True, "store": "s3://b", "reason": "denied"}},
    ),
    ("clock", "error", "jumped", "timedatectl", {"health": {**_HEALTH, "clock": "the clock jumped by 3 h ahead"}}),
    ("clock", "warning", "5.0 s ahead of", "timedatectl", {"health": _HEALTH, "clock_ahead_ms": 5000}),
    ("clock", "error", "120.0 s behind", "timedatectl", {"health": _HEALTH, "clock_ahead_ms": -120_000}),
    ("clock", "warning", "set back", "timedatectl", {"directory": DirectoryFacts("/data", seen_ms=_NOW + _DAY)}),
    ("file-limits", "error", "950 of 1,000", "ulimit", {"process": ProcessFacts(1, 950, 1000)}),
    ("file-limits", "warning", "may open 1,024", "LimitNOFILE", {"process": ProcessFacts(1, 20, 1024)}),
    (
        "file-limits",
        "error",
        "990 of 1,000",
        "ulimit",
        {"metrics": Samples.parse("process_open_fds 990\nprocess_max_fds 1000\n")},
    ),
    ("out-of-memory", "error", "ended 2 processes", "rocksdb", {"process": ProcessFacts(1, kills=2)}),
    (
        "out-of-memory",
        "error",
        "0.9 of the 1.0 GB",
        "rocksdb",
        {"process": ProcessFacts(1, memory_bytes=900_000_000, memory_max_bytes=1_000_000_000)},
    ),
    (
        "out-of-memory",
        "warning",
        "0.1 of 8.0 GB",
        "ps aux",
        {"process": ProcessFacts(1), "machine": MachineFacts(memory_bytes=8 * 10**9, available_bytes=10**8)},
    ),
    (
        "out-of-memory",
        "warning",
        "Requests on their way",
        "max-receive-memory",
        {"metrics": Samples.parse("lakeward_receive_memory_bytes 530000000\n")},
    ),
    ("versions", "error", "Python 3.9.1", "newer Python", {"machine": MachineFacts(python=(3, 9, 1))}),
    (
        "versions",
        "warning",
        "Lakeward 0.1.0, and this is 0.0.9",
        "pip install lakeward==0.1.0` here",
        {"machine": MachineFacts(lakeward="0.0.9"), "health": _HEALTH},
    ),
    (
        "versions",
        "warning",
        "pyiceberg 0.9 is installed",
        "pip install",
        {"machine": MachineFacts(libraries={"pyiceberg": "0.9"}, wishes={"pyiceberg": ">=0.12,<0.13"})},
    ),
    (
        "versions",
        "warning",
        "needs Java 17",
        "JAVA_HOME",
        {"machine": MachineFacts(libraries={"pyspark": "4.1"}, java=11, java_home="/jdk")},
    ),
    (
        "older-clients",
        "note",
        "Clients of Lakeward 0.0.1",
        "Upgrade",
        {"health": {**_HEALTH, "clients": [{"name": "lakeward", "version": "0.0.1"}]}},
    ),
    (
        "data-directory",
        "error",
        "no data directory",
        "data-dir",
        {"directory": DirectoryFacts("/d", is_data_directory=False)},
    ),
    ("data-directory", "warning", "mode 0755", "chmod 700", {"directory": DirectoryFacts("/d", mode=0o755)}),
    ("data-directory", "warning", "belongs to", "chown", {"directory": DirectoryFacts("/d", is_writable=False)}),
    ("data-directory", "error", "2 processes", "Stop all but one", {"directory": DirectoryFacts("/d", holders=(1, 2))}),
    ("data-directory", "error", "interrupted", "restore", {"directory": DirectoryFacts("/d", is_being_restored=True)}),
    (
        "data-directory",
        "note",
        "left behind",
        "given-up",
        {"directory": DirectoryFacts("/d", leftovers=("a.dropped",))},
    ),
    ("file-system", "error", "in memory (tmpfs)", "--data-dir", {"disk": DiskFacts("/d", 100, 90, kind="tmpfs")}),
    ("file-system", "warning", "on nfs4", "remote.data.dir", {"disk": DiskFacts("/d", 100, 90, kind="nfs4")}),
    ("slow-writes", "warning", "more than 700 ms", "batch-size", {"metrics": _server("PRODUCE_LOG")}),
    ("slow-writes", "warning", "event loop is up to 500 ms late", "batch-size", {"metrics": _server("PUT_KV")}),
    ("slow-reads", "warning", "(LOOKUP) took more than 700 ms", "fewer columns", {"metrics": _server("LOOKUP")}),
    (
        "lake-unreachable",
        "error",
        "cannot be opened from here, tried with shop.orders: refused",
        "lakeward plan shop.orders",
        {"lakes": [LakeFacts("iceberg", "shop.orders", "refused")]},
    ),
    (
        "tiering-failing",
        "error",
        "failed (3 in a row): no bucket",
        "tier now shop.orders",
        {
            "tables": [TableFacts("shop.orders", properties=_LAKE)],
            "tiering": {"shop.orders": TieringFacts("failed", failures=3, reason="no bucket")},
        },
    ),
    (
        "lake-lag",
        "error",
        "no tiering service has begun a round",
        "lakeward tier",
        {"tables": [TableFacts("a.b", properties=_LAKE, lag_rows=5, lag_seconds=900.0)], "tiering": {}},
    ),
    (
        "lake-lag",
        "warning",
        "900 s and 5 rows behind a.b",
        "more cores",
        {
            "tables": [TableFacts("a.b", properties=_LAKE, lag_rows=5, lag_seconds=900.0)],
            "tiering": {"a.b": TieringFacts("tiering", state_since_ms=_NOW - 1000)},
        },
    ),
    (
        "bucket-skew",
        "warning",
        "Bucket 1 of a.b got 20,000 of 20,030 rows",
        "tables advise a.b",
        {"tables": [TableFacts("a.b", buckets=4, ends=[10, 20_000, 10, 10], rows=[10, 20_000, 10, 10])]},
    ),
    (
        "small-buckets",
        "note",
        "16 buckets of a.b hold 160 rows",
        "tables advise",
        {"tables": [TableFacts("a.b", buckets=16, rows=[10] * 16, ends=[10] * 16)]},
    ),
    (
        "many-buckets",
        "warning",
        "900 partitions; 1,000 are the most",
        "num-retention",
        {"tables": [TableFacts("a.b", is_partitioned=True, partitions=900)], "options": {}},
    ),
    (
        "many-buckets",
        "note",
        "40,000 buckets",
        "fewer buckets",
        {"tables": [TableFacts("a.b", is_partitioned=True, partitions=100, buckets=400)]},
    ),
    (
        "retention",
        "error",
        "kept for 30 seconds",
        "table.log.ttl=7d",
        {"tables": [TableFacts("a.b", properties={**_LAKE, "table.log.ttl": "30 s"})]},
    ),
    (
        "retention",
        "error",
        "due to be deleted after 7 days",
        "tier status",
        {"tables": [TableFacts("a.b", properties=_LAKE, lag_seconds=500_000.0)]},
    ),
    (
        "retention",
        "note",
        "deletes first",
        "tables alter",
        {"tables": [TableFacts("a.b", properties={"table.log.local-ttl": "30 d"})]},
    ),
    (
        "endless-growth",
        "note",
        "grows without end",
        "table.log.ttl=7d",
        {"tables": [TableFacts("a.b", properties={"table.log.ttl": "0 ms"})]},
    ),
    ("high-lag", "error", "7 rows of shop.orders were deleted", "groups describe", {"groups": [_group(lost_rows=7)]}),
    (
        "high-lag",
        "warning",
        "900,000 rows behind in shop.orders and has committed nothing for 1 day",
        "Start its reader",
        {"groups": [_group(lag_rows=900_000, rows=1_000_000, committed_ms=_NOW - _DAY)]},
    ),
    (
        "open-listener",
        "error",
        "asks nobody for a login",
        "SASL_SSL",
        {"options": {"bind.listeners": "CLIENT://0.0.0.0:9123"}},
    ),
    (
        "open-listener",
        "warning",
        "not encrypted",
        "SASL_SSL",
        {"options": {"bind.listeners": "CLIENT://10.0.0.1:9123", "security.protocol.map": "CLIENT:SASL"}},
    ),
    ("grants", "note", "may do everything", "authorizer.enabled", {"options": _LOGIN, "acls": []}),
    (
        "grants",
        "error",
        "Everybody may DROP",
        "acls revoke",
        {
            "options": {**_LOGIN, "authorizer.enabled": "true"},
            "acls": [Acl(Resource(ResourceType.DATABASE, "shop"), EVERYBODY, Operation.DROP)],
        },
    ),
    (
        "secret-files",
        "error",
        "may read /k",
        "chmod 600 /k",
        {"directory": DirectoryFacts("/d", open_secrets=[("/k", 0o644)])},
    ),
    ("weak-password", "error", "everybody tries first", "users passwd", {"has_weak_password": True}),
]

#: All is well.
WELL: dict[str, Any] = {
    "port": PortFacts("localhost:9123", Listener.LAKEWARD),
    "servers": [ReachedServer("tablet", 0, "localhost:9123")],
    "health": {**_HEALTH, "clients": [{"name": "lakeward", "version": "0.1.0"}, {"name": "java", "version": "0.0.1"}]},
    "remote": {},
    "metrics": Samples.parse("process_open_fds 30\nprocess_max_fds 65536\n"),
    "clock_ahead_ms": 30.0,
    "options": {**_LOGIN, "authorizer.enabled": "true"},
    "tables": [
        TableFacts("a.b", buckets=4, rows=[9_000, 10_000, 11_000, 9_500], ends=[9_000, 10_000, 11_000, 9_500]),
        TableFacts("a.c", properties=_LAKE, lag_rows=3, lag_seconds=30.0, rows=[3], ends=[3]),
        TableFacts("a.paused", properties=_LAKE, custom={"lakeward.tiering.paused": "true"}, lag_seconds=1e5),
    ],
    "tiering": {"a.c": TieringFacts("waiting", state_since_ms=_NOW - 1000)},
    "lakes": [LakeFacts("iceberg", "a.c")],
    "groups": [_group(lag_rows=500)],
    "acls": [],
    "has_weak_password": False,
    "machine": MachineFacts(lakeward="0.1.0", libraries={"pyarrow": "21.0"}, wishes={"pyarrow": ">=17"}),
    "process": ProcessFacts(1, 30, 65536, 100_000_000, 1_000_000_000),
    "disk": _DISK,
    "directory": DirectoryFacts("/data", holders=(1,), seen_ms=_NOW),
}  # fmt: skip


@pytest.mark.parametrize(("check", "severity", "what", "do", "facts"), WRONG)
def test_a_check_says_what_is_wrong_and_what_to_do(
    check: str, severity: str, what: str, do: str, facts: dict[str, Any]
) -> None:
    """One finding of that check, with these words."""
    (finding,) = [one for one in judge(Facts(**facts, now_ms=_NOW)).findings if one.check == check and what in one.what]
    assert finding.severity is Severity(severity)
    assert do in finding.do


def test_every_check_can_find_something() -> None:
    """None is there for show."""
    assert {row[0] for row in WRONG} == {check.name for check in CHECKS}


def test_nothing_is_found_where_all_is_well() -> None:
    """And every check was made."""
    seen = judge(Facts(**WELL, now_ms=_NOW))
    assert [finding.what for finding in seen.findings] == []
    assert seen.unchecked == ()
    assert seen.is_well


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_check_without_its_facts_says_so(check: Any) -> None:
    """Instead of saying that all is well."""
    assert isinstance(check.examine(Facts()), Unchecked)


def test_many_findings_of_a_kind_are_cut() -> None:
    """A thousand tables with the same trouble fill no screen."""
    tables = [TableFacts(f"a.t{i}", properties={"table.log.ttl": "0 ms"}) for i in range(1000)]
    findings = judge(Facts(tables=tables, table_count=5000, now_ms=_NOW)).findings
    assert len(findings) == 11
    assert "990 more of this kind" in " ".join(finding.what for finding in findings)


@pytest.mark.parametrize(
    ("installed", "wish", "is_fit"),
    [("0.12.1", ">=0.12,<0.13", True), ("0.13", ">=0.12,<0.13", False), ("17", ">=17.0", True), ("1", "", True)],
)
def test_versions_are_compared_by_their_numbers(installed: str, wish: str, is_fit: bool) -> None:
    """As pip would."""
    assert fits(installed, wish) is is_fit
