"""The page of connectors and catalogs is printed from their rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.spark.scripts.reference import main, page

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "connectors.md"


def test_the_page_is_up_to_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And one that is not is told how to become it."""
    assert main(["--check", str(PAGE)]) == 0
    (tmp_path / "old.md").write_text("old")
    assert main(["--check", str(tmp_path / "old.md")]) == 1
    assert "run python -m lakeward.spark.scripts.reference" in capsys.readouterr().err
    assert main([str(tmp_path / "new.md")]) == 0
    assert (tmp_path / "new.md").read_text() == page()


def test_every_row_is_on_it() -> None:
    """Of connectors, fields and catalogs."""
    text = page()
    for key in ("rows-per-second", "fields.X.null-rate", "print-identifier", "csv.field-delimiter", "table.name"):
        assert f"| `{key}` |" in text
    assert "### generic_in_memory" in text
