"""lakeward demo cdc: a database that is followed into a table and a lake, by one command that leaves nothing."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lakeward.runtime.process.child import Child

pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that others may pass through: as root, PostgreSQL runs as somebody else. Its path must be short."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


def demo(directory: Path, *arguments: str) -> Child:
    """The command, with all its files in a directory."""
    return Child(
        [sys.executable, "-m", "lakeward", "demo", "cdc", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "TMPDIR": str(directory)},
    )


def left_behind(directory: Path) -> list[object]:
    """Files and processes that are still there."""
    running = [p.info for p in psutil.process_iter(["cmdline"]) if str(directory) in " ".join(p.info["cmdline"] or ())]
    return [*directory.glob("lakeward-*"), *running]


def test_what_changes_in_the_database_arrives() -> None:
    """Changes come by; in the end both sides have the same orders of the same worth, and the lake has them."""
    with open_folder() as folder:
        running = demo(folder, "--limit", "60", "--rate", "40")
        told, _ = running.communicate(timeout=260)
        assert running.returncode == 0, told
        found = re.search(r"── (.+) in PostgreSQL = (.+) in demo\.orders", told)
        assert found is not None, told
        assert found[1] == found[2]
        assert re.search(r"── [\d,]+ orders? more in the lake", told), told
        assert {line.split()[0] for line in told.splitlines() if re.match(r"(insert|update|delete)", line)} >= {
            "insert"
        }
        assert "Traceback" not in told
        assert left_behind(folder) == []


@pytest.mark.long
def test_ctrl_c_ends_it_before_spark_is_up() -> None:
    """At once, with a word, and nothing stays."""
    with open_folder() as folder:
        running = demo(folder)
        assert running.stdout is not None
        for line in running.stdout:
            if line.startswith("Spark is starting"):
                break
        running.send_signal(signal.SIGINT)
        told, _ = running.communicate(timeout=100)
        assert (running.returncode, told) == (0, "\nStopped.\n")
        assert left_behind(folder) == []
