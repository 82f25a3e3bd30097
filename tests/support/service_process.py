"""A `lakeward` command that serves until it is stopped: the console, the catalog, the SQL server."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import sys
from pathlib import Path
from typing import IO, Self

from forked import Forked

from lakeward.runtime.process.child import Child

_AT = re.compile(r"is at (https?://\S+)/")
_START_S, _STOP_S = 60, 20


class ServiceProcess:
    """One process; whoever inherits reads from what it says where it is."""

    def __init__(self, arguments: list[str], log_file: Path, environment: dict[str, str] | None) -> None:
        self._arguments = arguments
        self._environment = {**os.environ, **(environment or {})}
        self.log_file = log_file
        self._process: Child | None = None

    def __enter__(self) -> Self:
        with self.log_file.open("a") as log:
            self._process = Forked(
                [sys.executable, "-m", "lakeward", *self._arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environment,
            )
        assert self._process.stdout is not None
        self._find(self._process.stdout)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _find(self, said: IO[str]) -> None:
        raise NotImplementedError

    def _refuse(self, said: str) -> AssertionError:
        return AssertionError(f"it did not start; it said {said!r} and {self.log_text[-4000:]}")

    @property
    def log_text(self) -> str:
        """What it has said so far on stderr."""
        return self.log_file.read_text() if self.log_file.exists() else ""

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        assert self._process is not None
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            with self._process.stdout:
                self._process.stop(_STOP_S)
        return self._process.wait()


class AddressedProcess(ServiceProcess):
    """One that says `is at http://…/` in its first line; `url` is that."""

    url = ""

    def _find(self, said: IO[str]) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(said, selectors.EVENT_READ)
            line = said.readline() if selector.select(_START_S) else ""
        found = _AT.search(line)
        if found is None:
            raise self._refuse(line)
        self.url = found[1]
