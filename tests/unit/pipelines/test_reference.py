"""The printed page and the printed schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.pipelines.reference import main, page
from lakeward.pipelines.rows.sinks import SINKS
from lakeward.pipelines.rows.sources import SOURCES


def test_every_option_is_on_the_page() -> None:
    """Of every source and sink."""
    text = page()
    for part in (*SOURCES.values(), *SINKS.values()):
        assert part.summary in text
        assert all(f"| `{row.key}` |" in text for row in part.options)


def test_check_tells_what_is_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both files are looked at."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs/reference").mkdir(parents=True)
    assert main(["--check"]) == 1
    assert "pipeline.schema.json is not up to date" in capsys.readouterr().err
    assert main([]) == 0
    assert main(["--check"]) == 0
