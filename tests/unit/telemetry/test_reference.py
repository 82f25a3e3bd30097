"""The printed page of metrics."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.telemetry.reference import PAGE, main, page

ROOT = Path(__file__).parents[3]


def test_the_page_is_what_the_rows_say() -> None:
    """Run `make docs` after changing a row."""
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page()


def test_a_page_that_is_old_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--check writes nothing, and names the command."""
    path = tmp_path / "metrics.md"
    assert main(["--check", str(path)]) == 1
    assert "python -m lakeward.telemetry.reference" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0
