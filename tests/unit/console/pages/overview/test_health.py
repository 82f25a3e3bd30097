"""Health: what a server says of itself, as a word and a sentence."""

from __future__ import annotations

import pytest

from lakeward.console.pages.overview.health import health_of, health_without_answer


@pytest.mark.parametrize(
    ("report", "word", "level"),
    [
        ({"status": "ok", "tables": 3}, "well", "good"),
        ({"status": "damaged", "damaged": [{}, {}]}, "damaged", "bad"),
        ({"status": "read-only", "reason": "The disk is full."}, "read-only", "bad"),
        ({"status": "ok", "clock": "It went back."}, "clock in doubt", "warn"),
        ({"status": "incomplete", "tablet_servers": {"size": 2, "away": [1], "returns": 0}}, "incomplete", "bad"),
        ({"status": "odd"}, "odd", "warn"),
        (None, "answers", "good"),
    ],
)
def test_each_report_has_its_word(report: dict[str, object] | None, word: str, level: str) -> None:
    """And how it looks."""
    found = health_of(report)
    assert (found.word, found.level) == (word, level)


def test_a_cluster_that_does_not_answer_is_down() -> None:
    """With the client's reason."""
    assert health_without_answer("Nobody is at localhost:1.").sentence.startswith("Nobody is at localhost:1.")
