"""The SQL server in a process of its own, as `lakeward sql serve` starts it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import IO

from service_process import ServiceProcess

_POSTGRES = re.compile(r"psql -h (\S+) -p (\d+)")
_FLIGHT = re.compile(r"(grpc\S*://\S+)")
_HTTP = re.compile(r"(https?://\S+)/v1/plan")


class SqlServerProcess(ServiceProcess):
    """One for a cluster, on free ports."""

    def __init__(
        self, bootstrap: str, log_file: Path, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        ports = ("--postgres-port", "0", "--flight-port", "0", "--http-port", "0")
        super().__init__(["sql", "serve", "--server", bootstrap, *ports, *arguments], log_file, environment)
        self.host, self.port, self.flight, self.http = "", 0, "", ""

    def _find(self, said: IO[str]) -> None:
        words = ""
        for line in said:
            words += line
            if line.startswith("Answering"):
                break
        else:
            raise self._refuse(words)
        postgres, flight, http = _POSTGRES.search(words), _FLIGHT.search(words), _HTTP.search(words)
        if postgres is not None:
            self.host, self.port = postgres[1], int(postgres[2])
        self.flight = "" if flight is None else flight[1]
        self.http = "" if http is None else http[1]

    @property
    def pid(self) -> int:
        """The process."""
        assert self._process is not None
        return self._process.pid

    def psql(self, *arguments: str, user: str = "guest", database: str = "lakeward", **environment: str) -> str:
        """What psql prints, in its plain form; CalledProcessError with what it says if it fails."""
        command = [
            "psql",
            "-X",
            "-h",
            self.host,
            "-p",
            str(self.port),
            "-U",
            user,
            "-d",
            database,
            "-v",
            "ON_ERROR_STOP=1",
        ]
        asked = subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **environment}
        )
        if asked.returncode:
            raise subprocess.CalledProcessError(asked.returncode, command, asked.stdout, asked.stderr)
        return asked.stdout

    def url(self, user: str = "guest", database: str = "lakeward", password: str = "") -> str:
        """Where psycopg and SQLAlchemy find it."""
        who = f"{user}:{password}" if password else user
        return f"postgresql://{who}@{self.host}:{self.port}/{database}"
