"""`lakeward tablet` where its ZooKeeper is not: each mistake gets its own sentence, and it can be stopped meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from server_process import ServerProcess

_COMMAND = [sys.executable, "-m", "lakeward", "tablet", "--id", "3", "--port", "0"]
_SOON = ["-D", "zookeeper.client.connection-timeout=1s"]


def _refused(zookeeper: str, data: Path) -> str:
    command = [*_COMMAND, *_SOON, "--zookeeper", zookeeper, "--data-dir", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert not data.exists(), "nothing is made before it is known what for"
    assert "Traceback" not in done.stderr
    said = done.stderr.splitlines()
    assert sum("Connection dropped" in line for line in said) <= 1, "not every attempt is told"
    return said[-1]


def test_nobody_there_is_told_without_advice_for_clients(tmp_path: Path) -> None:
    """`lakeward serve` starts no ZooKeeper, and `tablet` has no --server."""
    said = _refused("localhost:1", tmp_path / "data")
    assert said.startswith("Error: ZooKeeper at localhost:1 was not reached within 1000 ms. Does it run there?")
    assert "lakeward serve" not in said


@pytest.mark.covering("99999")
@pytest.mark.parametrize("address", ["localhost:99999", "zk1:2181,zk2:port", ":2181"])
def test_what_is_no_address_is_told_before_anything_is_tried(tmp_path: Path, address: str) -> None:
    """It is no bug of ours."""
    assert "is no address of ZooKeeper: HOST:PORT is wanted." in _refused(address, tmp_path / "data")


def test_the_address_of_another_server_is_told(tmp_path: Path, new_server: Callable[..., ServerProcess]) -> None:
    """That of the coordinator is a likely mistake."""
    said = _refused(new_server().bootstrap, tmp_path / "data")
    assert "does not answer as ZooKeeper does" in said
    assert "bug" not in said


def test_it_can_be_stopped_while_it_looks_for_zookeeper(tmp_path: Path) -> None:
    """At once, without leaving anything undone."""
    command = [*_COMMAND, "--zookeeper", "localhost:1", "--data-dir", str(tmp_path / "data")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        process.stderr.readline()  # it has begun
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[0]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "not all tidied up" not in said
