"""A real server in a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Self

from forked import Forked

from lakeward.runtime.process.child import Child

_READY = re.compile(r"bootstrap\.servers=([^\s:]+):(\d+)")
_LISTENER = re.compile(r"([^\s=]+:\d+) \((\w+), \w+\)")
_START_S = 60
_STOP_S = 60
#: Whoever asks for no number of tablet servers has so many; 0 is one process that is everything.
_TABLETS = int(os.environ.get("LAKEWARD_TEST_TABLETS", "0"))


def _free_ports(count: int) -> int:
    """The first of so many free ports in a row, none of which the system gives to others meanwhile."""
    for first in range(15_000 + os.getpid() * 101 % 16_000, 32_000, count):  # processes beside us begin elsewhere
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for port in range(first, first + count):
                held.enter_context(socket.create_server(("127.0.0.1", port)))
            return first
    raise AssertionError("there are no free ports")


class ServerProcess:
    """`lakeward serve` on a data directory; keeps its port when it is started again."""

    def __init__(
        self, data_dir: Path, starter: type[Child] = Forked, tablets: int | None = None, **options: str
    ) -> None:
        self.data_dir = data_dir
        self.tablets = _TABLETS if tablets is None else tablets
        self._starter = starter  # `Child` is for tests of what a new interpreter loads
        self.options = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
        self.host = "localhost"
        self.port = 0
        #: Where clients of each listener come in, if there are several.
        self.listeners: dict[str, str] = {}
        self.program = ["-m", "lakeward"]
        self.log_file = data_dir.with_name(data_dir.name + ".log")
        self._process: Child | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def bootstrap(self) -> str:
        """The address clients are given."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    @property
    def log_text(self) -> str:
        """What the server has said so far, over all its lives."""
        return self.log_file.read_text() if self.log_file.exists() else ""

    def start(self) -> Self:
        """Start and wait for the line that says ready."""
        flags = [part for key, value in self.options.items() for part in ("-D", f"{key}={value}")]
        command = [sys.executable, *self.program, "serve"]
        if self.tablets:
            command += ["--tablets", str(self.tablets)]
            self.port = self.port or _free_ports(self.tablets + 1)
        if "bind.listeners" not in self.options:
            command += ["--port", str(self.port)]
        with self.log_file.open("a") as log:
            self._process = self._starter(
                [*command, "--data-dir", str(self.data_dir), *flags], stdout=subprocess.PIPE, stderr=log, text=True
            )
        line = self._first_line()
        found = _READY.search(line)
        if found is None:
            self.kill()
            raise AssertionError(f"the server did not start; it said {line!r} and\n{self.log_text[-4000:]}")
        self.host, self.port = found[1], int(found[2])
        self.listeners = {name: address for address, name in _LISTENER.findall(line)}
        return self

    def _first_line(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            return str(self._process.stdout.readline()) if selector.select(_START_S) else ""

    def kill(self) -> None:
        """End it as a power cut would, at once and unprepared."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ask it to stop; returns its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            return process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            assert process.stdout is not None
            process.stdout.close()

    def restart(self, *, kill: bool = False) -> Self:
        """Stop or kill it and start it again on the same port and directory."""
        if kill:
            self.kill()
        else:
            self.stop()
        return self.start()

    @property
    def is_running(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    @property
    def memory_bytes(self) -> int:
        """Memory that is the process's own: resident, without what it maps from files."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024  # type: ignore[index]

    @property
    def open_files(self) -> int:
        """How many descriptors the process holds."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))
