"""The index of decisions is whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_DECISIONS = Path(__file__).parents[2] / "docs" / "decisions"
_PAGES = sorted(_DECISIONS.glob("[0-9]*.md"))
_TEMPLATE = "0000-template.md"


def test_the_index_lists_every_decision_by_its_title() -> None:
    """One line for each page, in order; the text is the page's own heading."""
    index = (_DECISIONS / "README.md").read_text()
    listed = [line for line in index.splitlines() if line.startswith("| [")]
    assert listed == [_entry(page) for page in _PAGES if page.name != _TEMPLATE]


def test_no_number_is_taken_twice() -> None:
    """Two branches that took the same number would both be called by it."""
    numbers = [page.name[:4] for page in _PAGES]
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_a_decision_says_its_number_and_its_status(page: Path) -> None:
    """The heading begins with the number of the file; the status is the first line below it."""
    heading, _, status, *_ = page.read_text().splitlines()
    assert heading.startswith(f"# {page.name[:4]} ")
    assert re.match(r"Status: (proposed|accepted|superseded by \d{4})\b", status)


def _entry(page: Path) -> str:
    number, title = page.read_text().splitlines()[0].removeprefix("# ").split(" ", 1)
    return f"| [{number}]({page.name}) | {title} |"
