"""The page on record batches."""

from __future__ import annotations

from pathlib import Path

from lakeward.records.batch import reference


def test_the_page_is_what_the_layouts_say() -> None:
    """docs/formats/batch.md is printed from the layouts and never edited by hand."""
    root = Path(__file__).parents[4]
    assert (root / reference.PAGE).read_text() == reference.page(), "run `make docs`"
