"""The official clients, as they are published: at a coordinator with tablet servers, and at a mixed cluster of Apache's
tablet servers and ours. Java's tells a story through its public API, Python's has the tests that it has everywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apache_cluster import ApacheCluster
from mixed_cluster import JAVAS, OURS, SETTINGS, start
from server_process import ServerProcess

from bench import apache_fluss

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_PROGRAM = Path(__file__).parents[1] / "data" / "StoryClient.java"
_ROOT = Path(__file__).parents[2]
_PYFLUSS = sorted(str(one) for one in (_ROOT / "tests" / "integration").glob("test_pyfluss_*.py"))
_PYFLUSS_S = 500
_SLF4J = "org.slf4j:slf4j-api:1.7.36"
_JAVA_S = 300
_TOLD = {
    "databases": "true told true",
    "append": "[log]",
    "scan": "3000 3000 true",
    "project": "3000 true",
    "limit": "true",
    "offsets": "3000",
    "upsert": "3000",
    "lookup": "30 null",
    "partial": "row 5 9.5 true 2.5",
    "delete": "null 7",
    "changes": "{+I=3001, +U=1, -D=1, -U=1}",
    "state": "3000",
    "prefix": "[3, 13, 23, 33, 43, 53, 63, 73, 83, 93] 0",
    "partitions": "[mon, tue] 100 row 7 1",
    "columns": "2 noted row 9 true",
    "options": "Ada null",
    "wrong": "[TableNotExistException, DatabaseNotEmptyException, DatabaseAlreadyExistException,"
    " TableAlreadyExistException, TableNotPartitionedException]",
    "drop": "false false",
}


def tell(bootstrap: str, replicas: int, version: str) -> dict[str, str]:
    """What came of each step."""
    class_path = os.pathsep.join(
        str(apache_fluss.jar(name)) for name in (f"org.apache.fluss:fluss-client:{version}", _SLF4J)
    )
    command = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", class_path, str(_PROGRAM)]
    done = subprocess.run([*command, bootstrap, str(replicas)], capture_output=True, text=True, timeout=_JAVA_S)
    assert done.returncode == 0, done.stderr[-4000:]
    print(done.stderr[-8000:])
    steps = (line.partition(": ") for line in done.stdout.splitlines())
    return {step: told for step, _, told in steps if step in _TOLD}


@pytest.mark.parametrize("version", ["1.0.0", apache_fluss.VERSION])
def test_at_a_coordinator_with_tablet_servers(tmp_path: Path, version: str) -> None:
    """`lakeward serve --tablets 3`."""
    with ServerProcess(tmp_path / "data", tablets=3) as server:
        assert tell(server.bootstrap, 1, version) == _TOLD
        assert server.stop() == 0
    assert "Traceback" not in server.log_text


@pytest.fixture(scope="module")
def mixed() -> Iterator[ApacheCluster]:
    """Two of Apache's tablet servers and one of ours."""
    started = ApacheCluster(SETTINGS)
    try:
        for number in (*JAVAS, OURS):
            start(started, number)
        yield started
    finally:
        started.stop(keep="MIXED_KEEP" in os.environ)


@pytest.mark.parametrize("replicas", [1, 3])
def test_at_a_mixed_cluster(mixed: ApacheCluster, replicas: int) -> None:
    """With one replica a third of the buckets is ours alone, with three we lead a third and follow in the others."""
    assert tell(mixed.bootstrap, replicas, apache_fluss.VERSION) == _TOLD
    assert "Traceback" not in mixed.log_of(f"tablet-{OURS}")


def run_pyfluss(**environ: str) -> None:
    """All tests of Python's client, somewhere else."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *_PYFLUSS], cwd=_ROOT, env=os.environ | environ, capture_output=True, text=True, timeout=_PYFLUSS_S
    )
    assert done.returncode == 0, done.stdout[-8000:]


def test_pyfluss_at_a_coordinator_with_tablet_servers() -> None:
    """Each of its tests."""
    run_pyfluss(LAKEWARD_TEST_TABLETS="3")


def test_pyfluss_at_a_mixed_cluster(mixed: ApacheCluster) -> None:
    """Each of its tests but those of what Lakeward alone promises, with three replicas."""
    run_pyfluss(LAKEWARD_TEST_BOOTSTRAP=mixed.bootstrap, LAKEWARD_TEST_REPLICAS="3")
