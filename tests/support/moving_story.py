"""The section on moving house of docs/guides/scale-out.md, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

from copies import log_of, state_of
from forked import run_in_shell

import lakeward

_PAGE = Path(__file__).parents[2] / "docs" / "guides" / "scale-out.md"


def run_moving_story(source: str, target: str, directory: Path, *, factor: int = 3) -> None:
    """Every shell snippet of the section, one after the other; then both sides are the same."""
    section = _PAGE.read_text(encoding="utf-8").partition("\n## Moving house")[2].partition("\n## ")[0]
    snippets = re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    assert len(snippets) == 4
    for text in snippets:
        there = text.replace("localhost:9123", source).replace("localhost:9223", target)
        there = there.replace("table.replication.factor=3", f"table.replication.factor={factor}")
        done = run_in_shell(
            ["bash", "-euo", "pipefail", "-c", there], directory=directory, timeout_s=180, LAKEWARD_SERVER=source
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    with lakeward.connect(source) as here, lakeward.connect(target) as moved:
        for table in ("moving.orders", "moving.customers"):
            assert log_of(moved, table) == log_of(here, table) != []
            assert moved.table(table).info.descriptor.properties["table.replication.factor"] == str(factor)
        assert state_of(moved, "moving.customers") == state_of(here, "moving.customers")
