"""Which reader a file needs."""

from __future__ import annotations

import click
import pytest

from lakeward.cli.files.formats import format_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        *[("a.csv", "csv"), ("a.CSV", "csv"), ("a.tsv", "tsv"), ("a.json", "json"), ("a.jsonl", "json")],
        *[("x/a.ndjson.gz", "json"), ("a.parquet", "parquet"), ("a.feather", "arrow"), ("a.arrows", "arrow")],
    ],
)
def test_the_name_tells_the_format(path: str, kind: str) -> None:
    """People seldom need --format."""
    assert format_of(path) == kind


def test_what_is_told_wins() -> None:
    """--format overrides the name."""
    assert format_of("a.txt", "csv") == "csv"


@pytest.mark.parametrize("path", ["a.txt", "a", "-"])
def test_a_name_that_tells_nothing_asks_for_the_format(path: str) -> None:
    """No guessing at the content."""
    with pytest.raises(click.UsageError, match="--format"):
        format_of(path)
