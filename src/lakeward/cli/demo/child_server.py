"""ChildServer: a `lakeward serve` that lives as long as the command that started it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from lakeward.cli.input.failures import Failure
from lakeward.runtime.process.child import Child
from lakeward.runtime.process.process_lock import awaited_lock
from lakeward.storage.disk.directories import LOCK_FILE

PORT_DEFAULT = 9123
_READY = "bootstrap.servers="
_STOP_TIMEOUT_S = 20
_LAST_ONE_S = 10
_LOG_LINES_SHOWN = 5


class ChildServer:
    """Starts a server on a port, any free one with 0, and stops it at the end. Its log goes to a file."""

    def __init__(
        self,
        data_dir: Path,
        log_path: Path,
        port: int = 0,
        options: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._options = dict(options or {})
        self._environment = dict(environment or {})
        self._port = port
        self.log_path = log_path
        self.bootstrap = ""
        self._process: Child | None = None

    def __enter__(self) -> Self:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        self._wait_for_last_one()
        arguments = ["serve", "--data-dir", str(self._data_dir), "--port", str(self._port)]
        arguments += [word for key, value in self._options.items() for word in ("-D", f"{key}={value}")]
        with self.log_path.open("w") as log:
            self._process = Child(
                [sys.executable, "-m", "lakeward", *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **self._environment},
            )
        try:
            self.bootstrap = self._ready(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def _wait_for_last_one(self) -> None:
        """The server of a command that was killed, or whose terminal was closed, needs a moment to stop."""
        if (self._data_dir / LOCK_FILE).exists():
            lock = awaited_lock(self._data_dir / LOCK_FILE, _LAST_ONE_S)
            if lock is not None:
                os.close(lock)

    def _stop(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        with self._process.stdout:
            self._process.stop(_STOP_TIMEOUT_S)

    def _ready(self, process: Child) -> str:
        """Its address, once it listens."""
        assert process.stdout is not None
        for line in process.stdout:
            if _READY in line:
                return str(line.partition(_READY)[2].split()[0])
        process.wait()
        raise Failure(f"The server did not start: {self._last_words()}")

    def _last_words(self) -> str:
        lines = self.log_path.read_text(errors="replace").strip().splitlines()
        return "\n".join(lines[-_LOG_LINES_SHOWN:]) or "it said nothing"


def is_free(port: int) -> bool:
    """Whether nobody listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError:
            return False
    return True
