"""Data directories of earlier versions: how they are written, and what must be in them.

`python tests/support/old_data_dirs.py COMMIT …` writes tests/data/data-dirs/COMMIT.tar.xz with the server of that
commit, checked out in a directory of its own, the libraries of this environment, and today's client.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import lakeward

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "tests" / "data" / "data-dirs"
_READY = re.compile(r"bootstrap\.servers=(\S+)")

ROWS = [{"id": number, "name": f"row {number}" if number % 7 else None} for number in range(200)]
PARTED = [{"id": number, "day": f"2026-01-0{number % 3 + 1}"} for number in range(60)]
KEYED = {number: {"id": number, "name": f"new {number}"} for number in range(0, 100, 2)}


def write(bootstrap: str) -> None:
    """A log table, a partitioned one, one with keys that were written and deleted again, one for the lake.

    What a server refuses, because it was not built yet, is left out.
    """
    with lakeward.connect(bootstrap) as conn:
        conn.create_database("kept")
        for fill in (_rows, _parted, _keyed, _lake):
            try:
                fill(conn)
            except lakeward.LakewardError as wrong:
                print(f"without {fill.__name__}: {wrong}")


def _rows(conn: Any) -> None:
    conn.create_table("kept.rows", "id BIGINT, name STRING", buckets=2).append(ROWS)


def _parted(conn: Any) -> None:
    parted = conn.create_table("kept.parted", "id BIGINT, day STRING", partition_by=["day"])
    for day in sorted({row["day"] for row in PARTED}):
        parted.create_partition({"day": day})
    parted.append(PARTED)


def _keyed(conn: Any) -> None:
    keyed = conn.create_table("kept.keyed", "id BIGINT, name STRING", primary_key=["id"], buckets=2)
    keyed.upsert([{"id": number, "name": f"old {number}"} for number in range(100)])
    keyed.upsert(list(KEYED.values()))
    keyed.delete([number for number in range(100) if number not in KEYED])


def _lake(conn: Any) -> None:
    lake = {"table.datalake.enabled": "true", "table.datalake.format": "iceberg"}
    conn.create_table("kept.lake", "id BIGINT, name STRING", properties=lake).append(ROWS)


def _make(commit: str) -> None:
    with tempfile.TemporaryDirectory(prefix="old-") as there:
        source, data = Path(there, "source"), Path(there, "data")
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(source), commit], cwd=ROOT, check=True)
        try:
            _serve_and_write(source, data)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(source)], cwd=ROOT, check=True)
        DIRECTORY.mkdir(parents=True, exist_ok=True)
        with tarfile.open(DIRECTORY / f"{commit}.tar.xz", "w:xz") as archive:
            archive.add(data, "data", filter=_nobody)
        print(commit, (DIRECTORY / f"{commit}.tar.xz").stat().st_size)


def _nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _serve_and_write(source: Path, data: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    command: list[Any] = [sys.executable, "-m", "lakeward", "serve", "--port", "0", "--data-dir", data]
    command += ["-D", "datalake.format=iceberg"]  # without it some refuse tables for the lake
    with subprocess.Popen(command, env=environment, cwd=source, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        ready = _READY.search(server.stdout.readline())
        assert ready, "the server did not start"
        try:
            write(ready[1])
        finally:
            server.terminate()


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        _make(wanted)
