"""ChildConsole: a `lakeward console` that lives as long as the command that started it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from lakeward.cli.demo.child_server import is_free
from lakeward.runtime.process.child import Child

_PORT = 9180
_AT = " is at "
_START_S = 30
_STOP_S = 5


class ChildConsole:
    """Starts a console, where it is installed, and stops it at the end; nobody's demo fails for want of one."""

    port = _PORT
    libraries: tuple[str, ...] = ("starlette", "uvicorn", "jinja2")

    def __init__(self, bootstrap: str, log_path: Path, environment: Mapping[str, str]) -> None:
        self._arguments = self.arguments(bootstrap)
        self._log_path = log_path
        self._environment = dict(environment)
        self._process: Child | None = None
        self.url = ""

    def arguments(self, bootstrap: str) -> tuple[str, ...]:
        """How it is started."""
        return ("console", "--server", bootstrap)

    def __enter__(self) -> Self:
        if any(find_spec(name) is None for name in self.libraries):
            return self
        port = self.port if is_free(self.port) else 0
        with self._log_path.open("w") as log:
            self._process = Child(
                [sys.executable, "-m", "lakeward", *self._arguments, "--port", str(port)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **self._environment},
            )
        reading = threading.Thread(target=self._read_address, name="console-address", daemon=True)
        reading.start()
        reading.join(_START_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None:
            self._process.stop(_STOP_S)
            assert self._process.stdout is not None
            self._process.stdout.close()

    @property
    def hint(self) -> str:
        """Where it is, or why it is not."""
        if self.url:
            return f"In a browser:         {self.url}\n"
        if self._process is None:
            return "In a browser:         pip install 'lakeward[console]' brings a web console\n"
        return f"The console did not start; {self._log_path} says why.\n"

    def _read_address(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if _AT in line:
                self.url = line.partition(_AT)[2].strip()
                return
