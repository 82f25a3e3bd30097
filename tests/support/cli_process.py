"""The command line, as a person or a script runs it; in this process where that shows the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from forked import Forked

from lakeward.cli.main import cli
from lakeward.runtime.process.child import Child


class Cli:
    """Runs `lakeward …` against one server. The current directory should be `directory`."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        self.bootstrap = bootstrap
        self.directory = directory

    def run(self, *arguments: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in a process of its own."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with Forked(self._command(*arguments), env=self._environment(), cwd=self.directory, **pipes) as process:
            output, errors = process.communicate(given)
        return subprocess.CompletedProcess(process.args, process.returncode, output.decode(), errors.decode())

    def ok(self, *arguments: str, stdin: str | bytes = b"") -> str:
        """Run a command that must succeed; what it printed."""
        if stdin:
            done = self.run(*arguments, stdin=stdin)
            assert done.returncode == 0, f"{arguments}: {done.stderr}"
            return done.stdout
        # Most of a process's time would go into imports.
        result = CliRunner().invoke(cli, arguments, env={"LAKEWARD_SERVER": self.bootstrap})
        assert result.exit_code == 0, f"{arguments}: {result.stderr}"
        return result.stdout

    def document(self, *arguments: str) -> Any:
        """Run a command with `-o json` and parse the one document it prints."""
        return json.loads(self.ok(*arguments, "-o", "json"))

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        """Run a command with `-o json` and parse the rows it prints, one per line."""
        return [json.loads(line) for line in self.ok(*arguments, "-o", "json").splitlines()]

    def start(self, *arguments: str) -> Child:
        """Start a command that goes on by itself."""
        return Forked(
            self._command(*arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(),
            cwd=self.directory,
        )

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "lakeward", *arguments]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "LAKEWARD_SERVER": self.bootstrap}
