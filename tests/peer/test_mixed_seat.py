"""A seat that somebody else has, and data directories that are not this cluster's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from apache_cluster import ApacheCluster
from mixed_cluster import JAVAS, SETTINGS, start
from server_process import ServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
_SEAT = 7


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    """One of Apache's tablet servers."""
    started = ApacheCluster(SETTINGS)
    try:
        start(started, JAVAS[0])
        yield started
    finally:
        started.stop(keep="MIXED_KEEP" in os.environ)


def _seat(cluster: ApacheCluster, number: int, data: Path, root: str = "/fluss") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lakeward", "tablet", "--zookeeper", cluster.zookeeper, "--zookeeper-root", root]
    command += ["--id", str(number), "--port", "0", "--data-dir", str(data)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _read_until(process: subprocess.Popen[str], words: str) -> str:
    """The line that has the words."""
    assert process.stdout is not None
    return next(line for line in process.stdout if words in line)


def _stop(process: subprocess.Popen[str]) -> str:
    """All that it still says, after it was asked to stop."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.communicate(timeout=60)[0]
    finally:
        process.kill()
        process.wait()


def test_who_has_the_number_is_told_and_waiting_can_be_ended(cluster: ApacheCluster, tmp_path: Path) -> None:
    """The other one is not harmed, and this one goes at once."""
    process = _seat(cluster, JAVAS[0], tmp_path / "data")
    line = _read_until(process, "still registered")
    assert ", by 127.0.0.1:" in line
    assert "--id" in line
    assert "not all tidied up" not in _stop(process)
    assert process.returncode == 0


def test_a_root_without_a_coordinator_is_told(cluster: ApacheCluster, tmp_path: Path) -> None:
    """It registers all the same: the coordinator may come later."""
    process = _seat(cluster, _SEAT, tmp_path / "data", "/other")
    assert "no coordinator below /other" in _read_until(process, "coordinator")
    _read_until(process, "Lakeward is tablet server")
    _stop(process)


def test_replicas_of_another_cluster_are_refused(cluster: ApacheCluster, tmp_path: Path) -> None:
    """Two clusters below two nodes of one ZooKeeper give the same numbers to their tables; its own are welcome."""
    data = tmp_path / "data"
    for root, wanted in (("/first", True), ("/second", False), ("/first", True)):
        process = _seat(cluster, _SEAT, data, root)
        words = "Lakeward is tablet server" if wanted else "holds replicas of another cluster"
        _read_until(process, words)
        if wanted:
            _stop(process)
        assert process.wait(60) == (0 if wanted else 1)


def test_the_rows_of_a_whole_server_are_left_alone(cluster: ApacheCluster, tmp_path: Path) -> None:
    """They are not cut because the cluster's leaders do not have them."""
    data = tmp_path / "data"
    with ServerProcess(data) as server:
        server.stop()
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file() and path.name != "lakeward.lock"}
    process = _seat(cluster, _SEAT, data)
    _read_until(process, "one of `lakeward serve`")
    assert process.wait(60) == 1
    assert {path: path.read_bytes() for path in before} == before
