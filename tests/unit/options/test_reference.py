"""The printed page of options."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.options import reference
from lakeward.options.client import CLIENT_OPTIONS
from lakeward.options.server import SERVER_OPTIONS
from lakeward.options.table import TABLE_OPTIONS

ROOT = Path(__file__).parents[3]


def test_the_page_in_the_repository_is_what_the_rows_say() -> None:
    """docs/reference/options.md cannot drift."""
    assert reference.main(["--check", str(ROOT / reference.PAGE)]) == 0


def test_every_option_and_alias_is_on_the_page() -> None:
    """Nothing one may set is left unsaid."""
    page = reference.page()
    for table in (SERVER_OPTIONS, TABLE_OPTIONS, CLIENT_OPTIONS):
        for key in (*table.rows, *table.aliases):
            assert f"`{key}`" in page


def test_a_stale_page_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--check fails and says what to run; without it the page is written."""
    path = tmp_path / "docs" / "options.md"
    assert reference.main(["--check", str(path)]) == 1
    assert "lakeward.options.reference" in capsys.readouterr().err
    assert reference.main([str(path)]) == 0
    assert reference.main(["--check", str(path)]) == 0
