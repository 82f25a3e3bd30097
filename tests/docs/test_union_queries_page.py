"""The page of the six steps shows what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from forked import run_in_shell
from server_process import ServerProcess

from lakeward.query.read.query_metrics import QueryMetrics
from lakeward.runtime.clock import ManualClock

_PAGE = Path(__file__).parents[2] / "docs" / "union-queries.md"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_commands_print_what_the_page_shows(lakeward: ServerProcess, tmp_path: Path) -> None:
    """Run in order; a block of text is the output of the command before it, but for ids and sizes of files."""
    printed, compared = "", 0
    for kind, text in _BLOCK.findall(_PAGE.read_text()):
        if kind == "sh":
            printed = _run(text, lakeward.bootstrap, tmp_path)
        else:
            assert _steady(printed) == _steady(text)
            compared += 1
    assert compared == 2


def test_every_metric_is_on_the_page() -> None:
    """Names that are printed are names that are told."""
    page = _PAGE.read_text()
    names = re.findall(r"# TYPE (\w+)", QueryMetrics(ManualClock()).text())
    assert names
    assert [name for name in names if f"`{name}" not in page] == []


def _run(text: str, server: str, directory: Path) -> str:
    program = ["bash", "-euo", "pipefail", "-c", text]
    done = run_in_shell(program, directory=directory, timeout_s=100, LAKEWARD_SERVER=server)
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _steady(text: str) -> list[str]:
    lines = (re.sub(r"snapshot \d+|[\d,]+ bytes", "…", line).rstrip() for line in text.splitlines())
    return [line for line in lines if line]
