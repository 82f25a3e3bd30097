"""A server to test against: one for the session, or one of a test's own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import forked
import pytest
from server_process import ServerProcess
from wire_client import WireCluster


class Target:
    """A server that somebody else started, for example an Apache Fluss cluster."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.host, port = bootstrap.rsplit(":", 1)
        self.port = int(port)


_TARGET = os.environ.get("LAKEWARD_TEST_BOOTSTRAP")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess | Target]:
    """One server for all tests of this process; LAKEWARD_TEST_BOOTSTRAP names another one instead."""
    if _TARGET:
        yield Target(_TARGET)
        return
    with ServerProcess(tmp_path_factory.mktemp("server") / "data") as process:
        yield process
        assert process.is_running, process.log_text[-4000:]
        assert process.stop() == 0, process.log_text[-4000:]
    assert "Traceback" not in process.log_text, process.log_text[-8000:]


@pytest.fixture(scope="session")
def pythons_of_spark() -> Iterator[dict[str, str]]:
    """The environment of a Spark whose Python processes are forked."""
    with forked.pythons_of_spark() as environment:
        yield environment


@pytest.fixture
def forked_pythons(pythons_of_spark: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever Spark this test starts has its Python processes forked."""
    for name, value in pythons_of_spark.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def lakeward(server: ServerProcess | Target) -> ServerProcess:
    """The session's server, for what only Lakeward promises; skipped against another one."""
    if not isinstance(server, ServerProcess):
        pytest.skip("only Lakeward promises this")
    return server


@pytest.fixture
def new_server(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Start servers that belong to this test alone; keywords are options, `_` for `-` and `__` for `.`."""
    if _TARGET:
        pytest.skip("needs a Lakeward server of its own")
    started: list[ServerProcess] = []

    def start(**options: Any) -> ServerProcess:
        process = ServerProcess(tmp_path / f"data-{len(started)}", **options)
        started.append(process)
        return process.start()

    yield start
    for process in started:
        process.kill()


@pytest.fixture
def database(server: ServerProcess) -> Iterator[str]:
    """A database of this test's own, dropped afterwards."""
    from lakeward.protocol.api import Api
    from lakeward.protocol.messages.database import CreateDatabaseRequest, DropDatabaseRequest

    name = f"db_{uuid.uuid4().hex[:12]}"
    with WireCluster.of(server.bootstrap) as cluster:
        cluster.coordinator.call(Api.CREATE_DATABASE, CreateDatabaseRequest(database_name=name, ignore_if_exists=False))
    yield name
    with WireCluster.of(server.bootstrap) as cluster:  # the coordinator may not be the same any more
        drop = DropDatabaseRequest(database_name=name, ignore_if_not_exists=True, cascade=True)
        cluster.coordinator.call(Api.DROP_DATABASE, drop)


@pytest.fixture
def cluster(server: ServerProcess) -> Iterator[WireCluster]:
    """Plain connections to both roles of the server."""
    with WireCluster.of(server.bootstrap) as found:
        yield found
