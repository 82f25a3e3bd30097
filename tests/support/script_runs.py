"""Scripts of a test: `lakeward run` as a process, its jobs, and the tables that it reads and writes."""

from __future__ import annotations

import json
import subprocess
import uuid
from typing import Any

import pytest
from cli_process import Cli

import lakeward as lw
from lakeward.runtime.process.child import Child

#: Plans of a few rows are not worth being compiled.
_UNCOMPILED = ("-D", "spark.sql.codegen.wholeStage=false", "-D", "spark.sql.codegen.factoryMode=NO_CODEGEN")
FAST = ("--master", "local[2]", "-D", "spark.ui.enabled=false", "-D", "spark.driver.memory=1g", *_UNCOMPILED)


class Runs:
    """Scripts in a directory, jobs in a home of their own, and tables in a database of their own."""

    def __init__(self, cli: Cli, conn: lw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
        self._cli, self.conn, self.directory = cli, conn, cli.directory
        self.database = f"run_{uuid.uuid4().hex[:8]}"
        conn.create_database(self.database)
        monkeypatch.setenv("LAKEWARD_STATE", str(cli.directory / "state"))

    def script(self, text: str, name: str = "script.sql") -> str:
        """Write a script; %db% is the database."""
        (self.directory / name).write_text(text.replace("%db%", self.database))
        return name

    def table(self, name: str, columns: str = "id BIGINT, n BIGINT") -> str:
        """A statement that declares a table of the cluster."""
        return (
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'fluss', 'table.name' = '{self.database}.{name}');\n"
        )

    def start(self, *arguments: str) -> Child:
        """Start `lakeward run …`."""
        return self._cli.start("run", *arguments, *FAST)

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run `lakeward run …` to its end."""
        return self._cli.run("run", *arguments, *FAST, stdin=stdin)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """What `lakeward jobs list` tells, by name."""
        return {job["name"]: job for job in json.loads(self._cli.ok("jobs", "list", "-o", "json"))}

    def ask(self, *arguments: str) -> str:
        """Run another command that must succeed."""
        return self._cli.ok(*arguments)

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """The rows of a table, sorted."""
        found = self.conn.table(f"{self.database}.{table}").scan().to_arrow().to_pylist()
        return sorted(tuple(row.values()) for row in found)

    def append(self, table: str, first: int, count: int) -> None:
        """Rows (i, 10 i)."""
        self.conn.table(f"{self.database}.{table}").append(
            [{"id": i, "n": 10 * i} for i in range(first, first + count)]
        )


def read_until(process: Child, holds: str) -> str:
    """Read what a process says until a line holds something; all that it said so far."""
    said = ""
    assert process.stderr is not None
    while holds not in said:
        line = process.stderr.readline()
        assert line, f"it ended before it said {holds!r}:\n{said}"
        said += line
    return said


def end(process: Child, number: int) -> tuple[int, str]:
    """Send a signal; the exit code, and what it said in the end."""
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    return process.returncode, said
