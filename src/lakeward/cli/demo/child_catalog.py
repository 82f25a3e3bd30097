"""ChildCatalog: a `lakeward catalog serve` that lives as long as the command that started it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lakeward.cli.demo.child_console import ChildConsole
from lakeward.cli.demo.home import DemoHome


class ChildCatalog(ChildConsole):
    """Starts a catalog of the demo's lake, where what it needs is installed, and stops it at the end."""

    port = 9181
    libraries = ("starlette", "uvicorn", "pyiceberg")

    def __init__(self, bootstrap: str, log_path: Path, environment: Mapping[str, str], home: DemoHome) -> None:
        self._home = home
        super().__init__(bootstrap, log_path, environment)

    def arguments(self, bootstrap: str) -> tuple[str, ...]:
        """How it is started."""
        lake = [word for key, value in self._home.lake.items() for word in ("--lake", f"{key}={value}")]
        return ("catalog", "serve", "--server", bootstrap, *lake)

    @property
    def hint(self) -> str:
        """Where it is."""
        return f"As an Iceberg catalog: {self.url} (demo.orders$now is hot and cold as one)\n" if self.url else ""
