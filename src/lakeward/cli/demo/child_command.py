"""ChildCommand: another `lakeward …` that lives as long as the command that started it; what it says goes to a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from lakeward.cli.input.failures import Failure
from lakeward.runtime.process.child import Child

_STOP_S = 30
_LOG_LINES_SHOWN = 5


class ChildCommand:
    """Starts when it is entered, is told to stop when it is left."""

    def __init__(self, arguments: tuple[str, ...], log_path: Path, environment: Mapping[str, str]) -> None:
        self._arguments, self._log_path, self._environment = arguments, log_path, dict(environment)
        self._process: Child | None = None

    def __enter__(self) -> Self:
        with self._log_path.open("w") as log:
            self._process = Child(
                [sys.executable, "-m", "lakeward", *self._arguments],
                stdout=log,
                stderr=log,
                env={**os.environ, **self._environment},
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._process is not None
        self._process.stop(_STOP_S)

    def check(self) -> None:
        """Say so if it has ended by itself."""
        assert self._process is not None
        if self._process.poll() is not None:
            lines = self._log_path.read_text(errors="replace").strip().splitlines()[-_LOG_LINES_SHOWN:]
            words = " ".join(self._arguments[:2])
            raise Failure(f"`lakeward {words}` has ended: " + ("\n".join(lines) or "it said nothing"))
