"""`make test-peer`: what must also hold on servers and engines that we did not write.

1. The client's, the query layer's and the Spark connector's tests, against an Apache Fluss of its own.
2. Our tiering service on an Apache Fluss with a lake, whose coordinator has created the lake's tables.
3. Our client where such a cluster has moved most of its logs to remote storage.
4. The Spark connector's tests on Spark 4.1, and beside Iceberg's own runtime there.
5. Topics of a real Kafka as sources and sinks.
6. Our client where an Apache Fluss asks for a login.
7. Grants on an Apache Fluss and on ours: the same calls are refused.
8. Java's client at our server: logins and grants.
9. Iceberg's Spark runtime and Trino as readers of our Iceberg REST catalog.
10. Tables copied to an Apache Fluss with three tablet servers and back, as the guide shows it.
11. JDBC at our SQL server: Postgres's driver and Arrow's.
12. A tablet server of ours in an Apache Fluss cluster: replicas on both kinds, kills, remote storage, a bad network,
    official clients.
13. Flink with Apache Fluss's connector at our server, and over lakes that we tier into.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from bench.targets import Target

from bench import apache_fluss

_ROOT = Path(__file__).parents[2]
_CACHE = _ROOT / ".peer"
_SPARK = "4.1.3"
_ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
_TRINO = "476"
_JAVA_CLIENT = ("org.apache.fluss:fluss-client:1.0.0", "org.slf4j:slf4j-api:1.7.36")
_FLINK, _CONNECTOR = "1.20.3", "0.9.1-incubating"
_OF_FLINK = ("clients", "table-api-java-bridge", "table-planner-loader", "table-runtime", "connector-base")
#: What reads lakes, in this order: the jars have different versions of some libraries in them.
_FLINKS_LAKES = (
    f"org.apache.fluss:fluss-lake-iceberg:{_CONNECTOR}",
    "org.apache.hadoop:hadoop-client-api:3.3.6",
    "org.apache.hadoop:hadoop-client-runtime:3.3.6",
    "commons-logging:commons-logging:1.2",
    "ch.qos.reload4j:reload4j:1.2.25",
    "org.xerial:sqlite-jdbc:3.50.3.0",
    f"org.apache.fluss:fluss-lake-paimon:{_CONNECTOR}",
    "org.apache.paimon:paimon-flink-1.20:1.3.1",
)
_JDBC = ("org.postgresql:postgresql:42.7.7", "org.apache.arrow:flight-sql-jdbc-driver:18.3.0")

_ON_APACHE = [
    "tests/integration/test_client_*.py",
    "tests/integration/test_query_*.py",
    "tests/integration/test_staged_*.py",
    "tests/integration/test_cli.py",
    "tests/integration/test_cli_kv.py",
    "tests/spark/test_*.py",
]
_EAGER_REMOTE = {
    "remote.log.task-interval-duration": "1s",
    "remote.log.task-max-upload-segments": "50",
    "log.segment.file-size": "256kb",
}
_NEEDS_A_LAKE = "tests/spark/test_spark_tiering.py"  # which the cluster started here does not have
_OLDER_SPARK = ["tests/spark", "tests/peer"]
_TAGS = ("groupId", "artifactId", "version")
_STANDS_STILL = "Failed to move table buckets"
_CREATED = re.compile(r"Registered table assignment .* for table id (\d+)")
_LED = re.compile(r"registered leadAndIsr for tableId: (\d+), partitionId: null")
_FINE = (0, 5)  # all passed; nothing was left to run
_STOPPED = (1, 2)  # a test failed, and `--stepwise` stopped there


def main(chosen: list[str]) -> int:
    """Run everything, or the parts that are named: the keys of `parts`."""
    missing = [tool for tool in ("java", "mvn") if shutil.which(tool) is None]
    if missing:
        print(f"Nothing was tested: an Apache Fluss and Iceberg's runtime need {' and '.join(missing)} on the PATH.")
        return 0
    parts = {
        "fluss": _against_apache_fluss,
        "lake": _into_its_lake,
        "remote": _from_its_remote_storage,
        "spark": _on_older_spark,
        "kafka": _with_kafka,
        "login": _with_logins,
        "grants": _by_its_grants,
        "java": _for_javas_client,
        "mixed": _among_its_replicas,
        "rest": _through_our_catalog,
        "copy": _there_and_back,
        "jdbc": _by_jdbc,
        "flink": _by_flink,
    }
    failed = [test for name, run in parts.items() if not chosen or name in chosen for test in run()]
    print(*(f"FAILED {test}" for test in failed), "All peers agree." if not failed else "", sep="\n")
    return 1 if failed else 0


def _against_apache_fluss() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION}: the tests of client, query layer and Spark connector …", flush=True)
    cluster = apache_fluss.start()
    try:
        coordinator = _Coordinator(cluster)
        environ = {"LAKEWARD_TEST_BOOTSTRAP": cluster.bootstrap}
        return _stepwise("fluss", _files(_ON_APACHE), environ, coordinator)
    finally:
        cluster.stop()


def _into_its_lake() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with a lake: our tiering service …", flush=True)
    cluster = apache_fluss.start(lake=True)
    try:
        environ = {"LAKEWARD_PEER_LAKE": json.dumps([cluster.bootstrap, str(cluster.directory)])}
        return _stepwise("lake", ["tests/peer/test_apache_lake.py"], environ, _Coordinator(cluster))
    finally:
        cluster.stop()


def _with_logins() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with logins: our client …", flush=True)
    password = "alice-secret"
    cluster = apache_fluss.start(users={"admin": "admin-secret", "alice": password})
    try:
        environ = {"LAKEWARD_PEER_LOGIN": json.dumps([cluster.bootstrap, password])}
        return _stepwise("login", ["tests/peer/test_apache_login.py"], environ, _Coordinator(cluster))
    finally:
        cluster.stop()


def _from_its_remote_storage() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with remote storage: our client …", flush=True)
    cluster = apache_fluss.start(settings=_EAGER_REMOTE)
    try:
        environ = {"LAKEWARD_PEER_REMOTE": json.dumps([cluster.bootstrap, str(cluster.directory)])}
        return _stepwise("remote", ["tests/peer/test_apache_remote.py"], environ, _Coordinator(cluster))
    finally:
        cluster.stop()


def _there_and_back() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with three tablet servers: tables copied there and back …", flush=True)
    cluster = apache_fluss.start(more_tablets=2)
    try:
        return _stepwise("copy", ["tests/peer/test_apache_copy.py"], {"LAKEWARD_PEER_COPY": cluster.bootstrap})
    finally:
        cluster.stop()


def _by_its_grants() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with users and grants: who may do what …", flush=True)
    users = {"admin": "admin-secret", "alice": "alice-secret"}
    settings = {"authorizer.enabled": "true", "super.users": "User:admin"}
    cluster = apache_fluss.start(users=users, settings=settings)
    try:
        environ = {"LAKEWARD_PEER_GRANTS": cluster.bootstrap}
        return _stepwise("grants", ["tests/peer/test_apache_grants.py"], environ, _Coordinator(cluster))
    finally:
        cluster.stop()


def _for_javas_client() -> list[str]:
    print("Java's client at our server: logins and grants …", flush=True)
    class_path = os.pathsep.join(str(apache_fluss.jar(name)) for name in _JAVA_CLIENT)
    return _stepwise("java", ["tests/peer/test_java_client.py"], {"LAKEWARD_PEER_JAVA": class_path})


def _through_our_catalog() -> list[str]:
    print(f"Iceberg's runtime in Spark {_SPARK} and Trino {_TRINO}, through our REST catalog …", flush=True)
    path = os.pathsep.join([str(_older_spark()), *filter(None, [os.environ.get("PYTHONPATH")])])
    spark = {"PYTHONPATH": path, "LAKEWARD_PEER_REST_SPARK": str(apache_fluss.jar(_ICEBERG))}
    return [
        *_stepwise("rest", ["tests/peer/test_rest_spark.py"], spark),
        *_stepwise("rest", ["tests/peer/test_rest_trino.py"], {"LAKEWARD_PEER_REST_TRINO": str(_trino())}),
    ]


def _among_its_replicas() -> list[str]:
    print(f"Apache Fluss {apache_fluss.VERSION} with a tablet server of ours: replicas on both kinds …", flush=True)
    files = [
        f"tests/peer/test_mixed_{what}.py" for what in ("seat", "login", "replicas", "remote", "network", "clients")
    ]
    return _stepwise("mixed", files, {"LAKEWARD_PEER_MIXED": "1"})


def _by_jdbc() -> list[str]:
    print("JDBC at our SQL server: Postgres's driver and Arrow's …", flush=True)
    class_path = os.pathsep.join(str(apache_fluss.jar(name)) for name in _JDBC)
    return _stepwise("jdbc", ["tests/peer/test_jdbc.py"], {"LAKEWARD_PEER_JDBC": class_path})


def _by_flink() -> list[str]:
    print(f"Flink {_FLINK} with the connector {_CONNECTOR} at our server …", flush=True)
    class_path = os.pathsep.join([f"{_flink()}/*", *(str(apache_fluss.jar(name)) for name in _FLINKS_LAKES)])
    return _stepwise("flink", ["tests/peer/test_flink.py"], {"LAKEWARD_PEER_FLINK": class_path})


class _Coordinator:
    """Starts Apache Fluss's coordinator again where that mends it.

    The coordinator of 0.9.1 now and then never hears of a new table (its issue 2710): the table gets no leaders. If it
    gets a partition, the coordinator stands still for good. Started again, it knows all tables.
    """

    def __init__(self, cluster: Target) -> None:
        self._cluster = cluster
        self._log = cluster.directory / "log" / "coordinator"
        self._failures = 0
        self._without_leader: set[str] = set()
        self._mended: set[str] = set()

    def watch(self) -> None:
        """Mend it if it needs it; a client that waits for a leader will get it."""
        log = self._log.read_text(errors="replace")
        before, self._without_leader = self._without_leader, set(_CREATED.findall(log)) - set(_LED.findall(log))
        if log.count(_STANDS_STILL) > self._failures:
            self.mend("its coordinator stands still")
        elif lost := (before & self._without_leader) - self._mended:
            self._mended |= lost
            self.mend(f"its coordinator never heard of table {', '.join(lost)}")

    def mend(self, why: str) -> None:
        """Start it again."""
        print(f"[Apache Fluss: {why}: started again]", flush=True)
        apache_fluss.restart_coordinator(self._cluster)
        self._failures = self._log.read_text(errors="replace").count(_STANDS_STILL)


def _on_older_spark() -> list[str]:
    print(f"Spark {_SPARK}: the tests of the Spark connector, and Iceberg's runtime beside it …", flush=True)
    path = os.pathsep.join([str(_older_spark()), *filter(None, [os.environ.get("PYTHONPATH")])])
    environ = {"PYTHONPATH": path, "LAKEWARD_PEER_ICEBERG_JAR": str(apache_fluss.jar(_ICEBERG))}
    return [test for files in _OLDER_SPARK for test in _stepwise("spark", [files], environ)]


def _with_kafka() -> list[str]:
    print("Apache Kafka: topics as sources and sinks …", flush=True)
    return _stepwise("kafka", ["tests/peer/test_kafka.py"], {"LAKEWARD_PEER_KAFKA": "1"})


def _older_spark() -> Path:
    """A directory that holds the other PySpark alone; put first, it hides ours."""
    place = _CACHE / f"spark-{_SPARK}"
    if not (place / "pyspark").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        coming = place.with_suffix(".coming")
        shutil.rmtree(coming, ignore_errors=True)
        subprocess.run([*pip, "--no-deps", "--target", str(coming), f"pyspark=={_SPARK}"], check=True)
        coming.rename(place)
    return place


def _flink() -> Path:
    """A directory with all jars that Flink's SQL and the connector need."""
    place = _CACHE / f"flink-{_FLINK}"
    if place.exists():
        return place
    coming = place.with_suffix(".coming")
    shutil.rmtree(coming, ignore_errors=True)
    coming.mkdir(parents=True)
    needed = [f"org.apache.flink:flink-{name}:{_FLINK}" for name in _OF_FLINK]
    needed.append(f"org.apache.fluss:fluss-flink-1.20:{_CONNECTOR}")
    named = (
        "<dependency>" + "".join(f"<{tag}>{part}</{tag}>" for tag, part in zip(_TAGS, one.split(":"), strict=True))
        + "</dependency>"
        for one in needed
    )  # fmt: skip
    own = "".join(f"<{tag}>peer</{tag}>" for tag in _TAGS)
    (coming / "pom.xml").write_text(
        f"<project><modelVersion>4.0.0</modelVersion>{own}<dependencies>{''.join(named)}</dependencies></project>"
    )
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={coming}"]
    subprocess.run([*command, "-f", str(coming / "pom.xml")], check=True)
    coming.rename(place)
    return place


def _trino() -> Path:
    """Trino's server with its plugin for Iceberg, and its client for Python."""
    place = _CACHE / f"trino-{_TRINO}"
    if place.exists():
        return place
    coming = place.with_suffix(".coming")
    shutil.rmtree(coming, ignore_errors=True)
    with tarfile.open(apache_fluss.jar(f"io.trino:trino-server-core:{_TRINO}", "tar.gz")) as server:
        server.extractall(coming, filter="data")
    # Not by shutil, which leaves out names with two dots in them, and jars are named so.
    with zipfile.ZipFile(apache_fluss.jar(f"io.trino:trino-iceberg:{_TRINO}", "zip")) as plugin:
        plugin.extractall(coming)
    (coming / f"trino-server-core-{_TRINO}").rename(coming / "server")
    (coming / f"trino-iceberg-{_TRINO}").rename(coming / "server" / "plugin" / "iceberg")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(coming / "client"), "trino"], check=True)
    coming.rename(place)
    return place


def _stepwise(
    name: str, files: list[str], environ: Mapping[str, str], coordinator: _Coordinator | None = None
) -> list[str]:
    """Run tests; one that fails is run once more before it counts. Returns those that failed twice."""
    cache = _CACHE / f"pytest-{name}"
    shutil.rmtree(cache, ignore_errors=True)
    pytest = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-o", f"cache_dir={cache}", "-ra"]
    once: set[str] = set()
    twice: list[str] = []
    how = "--stepwise"
    while True:
        code = _run([*pytest, how, *files], environ, coordinator)
        last = _last_failed(cache)
        if code in _FINE or (code == 1 and last is None):  # the end was reached, past a test of `twice`
            return twice
        if code not in _STOPPED or last is None:
            return [*twice, f"{name}: pytest ended with {code}"]
        if last in once:
            twice.append(last)
            how = "--stepwise-skip"
            continue
        once.add(last)
        how = "--stepwise"
        if coordinator is not None:
            coordinator.mend("its coordinator may have lost a table")


def _run(command: list[str], environ: Mapping[str, str], coordinator: _Coordinator | None) -> int:
    # Tests give way to the servers: a starved coordinator loses tables more often.
    process = subprocess.Popen(["nice", "-n", "5", *command], cwd=_ROOT, env=os.environ | environ)
    try:
        while True:
            try:
                return process.wait(2)
            except subprocess.TimeoutExpired:
                if coordinator is not None:
                    coordinator.watch()
    finally:
        process.kill()


def _last_failed(cache: Path) -> str | None:
    kept = cache / "v" / "cache" / "stepwise"
    if not kept.exists():
        return None
    found: str | None = json.loads(kept.read_text())["last_failed"]
    return found


def _files(patterns: list[str]) -> list[str]:
    found = [str(path.relative_to(_ROOT)) for pattern in patterns for path in sorted(_ROOT.glob(pattern))]
    return [path for path in found if path != _NEEDS_A_LAKE]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
