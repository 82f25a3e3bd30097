"""What tests of `lakeward copy` ask: the command between two servers, and both sides of a table."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Protocol

from cli_process import Cli

from lakeward.client.blocking.sync import Connection


class Server(Protocol):
    """Whoever can be connected to."""

    @property
    def bootstrap(self) -> str:
        """Its address."""
        ...


def run_copy(source: Server, target: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`lakeward copy`, in a process of its own."""
    return Cli(source.bootstrap, Path.cwd()).run("copy", source.bootstrap, target.bootstrap, *arguments)


def copy(source: Server, target: Server, *arguments: str) -> dict[str, dict[str, Any]]:
    """A copy that must succeed: what it says of each table."""
    done = run_copy(source, target, *arguments, "-o", "json")
    assert done.returncode == 0, done.stderr
    return {table["table"]: table for table in json.loads(done.stdout)["tables"]}


def log_of(connection: Connection, table: str) -> list[tuple[Any, ...]]:
    """Every change with its place: bucket, offset, kind and row; the time it came is each server's own."""
    opened = connection.table(table)
    partitions: list[str | None] = [None]
    if opened.info.descriptor.is_partitioned:
        partitions = [p.name for p in opened.partitions()]
    found = []
    for partition in partitions:
        only = None if partition is None else [partition]
        rows = opened.scan(metadata_columns=True, partitions=only).to_arrow()
        for row in rows.to_pylist():
            place = (partition or "", row.pop("_bucket"), row.pop("_offset"), row.pop("_change_type"))
            row.pop("_timestamp")
            found.append((*place, json.dumps(row, default=str, sort_keys=True)))
    return sorted(found)


def state_of(connection: Connection, table: str) -> list[str]:
    """The rows of a primary key table as they are, sorted."""
    return sorted(
        json.dumps(row, default=str, sort_keys=True) for row in connection.table(table).snapshot().to_pylist()
    )
