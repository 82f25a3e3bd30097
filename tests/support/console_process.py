"""The console in a process of its own, as `lakeward console` starts it."""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Self

from forked import Forked

from lakeward.runtime.process.child import Child

_AT = re.compile(r"is at (https?://\S+)/")
_START_S = 60
_STOP_S = 20


class ConsoleProcess:
    """A console of one cluster on a free port; `url` is where it is."""

    def __init__(
        self, bootstrap: str, log_file: Path, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        self._arguments = ["console", "--server", bootstrap, "--port", "0", *arguments]
        self._environment = {**os.environ, **(environment or {})}
        self.log_file = log_file
        self.url = ""
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
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            line = self._process.stdout.readline() if selector.select(_START_S) else ""
        found = _AT.search(line)
        assert found, f"the console did not start; it said {line!r} and {self.log_text[-4000:]}"
        self.url = found[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

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
