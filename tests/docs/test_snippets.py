"""What the README and the guides show works as it stands there."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forked import run_in_shell
from server_process import ServerProcess

_ROOT = Path(__file__).parents[2]
_PAGES = [
    "README.md",
    "docs/guides/first-table.md",
    "docs/guides/primary-keys.md",
    "docs/guides/tiering-to-iceberg.md",
    "docs/guides/union-reads.md",
    "docs/guides/damage.md",
    "docs/guides/troubleshooting.md",
]
_BLOCKS = re.DOTALL | re.MULTILINE
_SNIPPET = re.compile(r"^```(sh|python)\n(.*?)^```$", _BLOCKS)


@pytest.mark.covering("README", "first-table", "tiering-to-iceberg", "union-reads")
@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.timeout(400)  # each snippet is a process or two of its own
@pytest.mark.parametrize("page", _PAGES)
def test_every_snippet_of_a_page_runs(page: str, lakeward: ServerProcess, tmp_path: Path) -> None:
    """Shell and Python snippets of a page, run one after the other against a server, end well."""
    _run_page(page, lakeward, tmp_path)


def _run_page(page: str, server: ServerProcess, directory: Path) -> None:
    snippets = _SNIPPET.findall((_ROOT / page).read_text())
    assert snippets
    for language, text in snippets:
        there = text.replace("localhost:9123", server.bootstrap).replace("/var/lib/lakeward", str(server.data_dir))
        done = _run(language, there, server.bootstrap, directory)
        for _ in range(4):
            # On a busy machine pyfluss sometimes aborts while the interpreter ends, after all is printed.
            if done.returncode != -signal.SIGABRT or "import fluss" not in text:
                break
            done = _run(language, there, server.bootstrap, directory)
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_page_of_remote_storage_runs(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Its snippets want a server with a remote directory, and small segments so that something is there."""
    options = {"remote.log.task-interval-duration": "100ms", "log.segment.file-size": "10kb"}
    named = {key.replace(".", "__").replace("-", "_"): value for key, value in options.items()}
    server = new_server(remote__data__dir=str(tmp_path / "remote"), **named)
    _run_page("docs/guides/remote-storage.md", server, tmp_path)


def _run(language: str, text: str, server: str, directory: Path) -> subprocess.CompletedProcess[str]:
    programs = {"sh": ["bash", "-euo", "pipefail", "-c", text], "python": [sys.executable, "-c", text]}
    # Spark takes its time to start.
    return run_in_shell(programs[language], directory=directory, timeout_s=180, LAKEWARD_SERVER=server)
