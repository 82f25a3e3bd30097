"""A compose file that was written for Apache Fluss brings up a server: its commands, its variables, as processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import yaml
from click.testing import CliRunner
from eventually import eventually
from forked import Forked

import lakeward
from lakeward.cli.main import cli
from lakeward.runtime.process.child import Child

#: YAML folds the settings of each into one line, as in the files that people paste.
_COMPOSE = """
services:
  coordinator:
    command: coordinator-server
    environment:
      - FLUSS_PROPERTIES=
          zookeeper.address=zookeeper:2181
          bind.listeners=coord://127.0.0.1:{coordinator}
          data.dir={data}
  tablet-1:
    command: tabletServer
    environment:
      - FLUSS_PROPERTIES=
          coordinator.servers=127.0.0.1:{coordinator}
          bind.listeners=tablet://127.0.0.1:{tablet}
          data.dir=/data
"""


def test_coordinator_and_tablet_server_of_a_compose_file_are_one_server(tmp_path: Path) -> None:
    """Rows written at the tablet server's address are read at the coordinator's; both are well, and stop with 0."""
    ports = {"coordinator": _free_port(), "tablet": _free_port()}
    services = yaml.safe_load(_COMPOSE.format(data=tmp_path / "data", **ports))["services"]
    environments = {name: dict(line.split("=", 1) for line in one["environment"]) for name, one in services.items()}
    with ExitStack() as stack:
        started: dict[str, Child] = {}
        for name, service in services.items():
            started[name] = _start(tmp_path / f"{name}.log", service["command"], environments[name])
            stack.callback(started[name].kill)
        for name, environment in environments.items():
            assert eventually(lambda seen=environment: _is_well(seen)), (tmp_path / f"{name}.log").read_text()
        with lakeward.connect(f"127.0.0.1:{ports['tablet']}") as conn:
            conn.create_table("fluss.visits", "id BIGINT").append([{"id": 1}, {"id": 2}])
        with lakeward.connect(f"127.0.0.1:{ports['coordinator']}") as conn:
            assert sorted(conn.table("fluss.visits").scan().to_arrow()["id"].to_pylist()) == [1, 2]
        for name in reversed(started):
            started[name].terminate()
            assert started[name].wait(100) == 0, (tmp_path / f"{name}.log").read_text()
    assert "keeps no rows" in (tmp_path / "tablet-1.log").read_text()
    assert (tmp_path / "data" / "metadata.db").exists()


def test_a_tablet_server_that_finds_nobody_is_not_well(tmp_path: Path) -> None:
    """A health check says so; the process waits for the server to come."""
    environment = {
        "FLUSS_PROPERTIES": f"coordinator.servers: 127.0.0.1:1\nbind.listeners: T://127.0.0.1:{_free_port()}"
    }
    process = _start(tmp_path / "log", "tablet-server", environment)
    try:
        assert eventually(lambda: "handed on" in (tmp_path / "log").read_text())
        assert not _is_well(environment)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_what_cannot_be_read_is_refused_and_no_secret_is_told() -> None:
    """A bad line by its number; a coordinator without a port; a setting that nobody knows."""
    for command, text, what in (
        ("serve", "data.dir: /data\nnonsense\n", "line 2: 'nonsense' is not a setting"),
        ("coordinator-server", "x.secret=a\nhunter2\n", "line 2: this line, which may hold a secret,"),
        ("tablet-server", "coordinator.servers: here", "'here' is not the address of a coordinator"),
        ("tablet-server", "bind.listeners: here", "'here' is not a listener"),
        ("serve", "date.dir: /data", "nearest known name is 'data.dir'"),
    ):
        done = CliRunner().invoke(cli, [command], env={"FLUSS_PROPERTIES": text})
        assert done.exit_code == 1
        assert what in done.stderr, done.stderr
        assert "hunter2" not in done.stderr


def _start(log: Path, command: str, environment: dict[str, str]) -> Child:
    with log.open("w") as output:
        return Forked(
            [sys.executable, "-m", "lakeward", command],
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _is_well(environment: dict[str, str]) -> bool:
    return CliRunner().invoke(cli, ["health"], env=environment).exit_code == 0


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
