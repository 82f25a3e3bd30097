"""Lives of a tiering service, one after the other, each killed where the test says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lakeward.runtime.process.child import Child


class Lives:
    """The process whose forks are the lives of a service."""

    def __init__(self, bootstrap: str, warehouse: str, database: str) -> None:
        script = Path(__file__).with_name("tiering_lives.py")
        self._process = Child(
            [sys.executable, str(script), bootstrap, warehouse, database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def live(self, step: str, hit: int = 1) -> str:
        """One life; `killed`, or its exit code."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{step} {hit}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        """No more lives."""
        self._process.kill()
        self._process.communicate()
