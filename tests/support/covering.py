"""What the short form of the suite takes of a matrix.

A test marked `covering` is run with as few of its combinations as show each of its values once, or, told a number,
each so many values that can meet; told words, with those in whose names one of them stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, groupby
from typing import Any

import pytest


def uncovered(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The combinations that are left out; the same ones whatever the order."""
    matrices = [item for item in items if item.get_closest_marker("covering")]
    matrices.sort(key=lambda item: item.nodeid)
    for _, group in groupby(matrices, key=lambda item: item.nodeid.partition("[")[0]):
        tests = list(group)
        told = tests[0].get_closest_marker("covering")
        words = told.args if told else ()
        if words and isinstance(words[0], str):
            named = {test for test in tests if any(word in test.nodeid.partition("[")[2] for word in words)}
            yield from (test for test in tests if named and test not in named)
        else:
            yield from _shown_by_others(tests, *words)


def _shown_by_others(tests: list[pytest.Item], strength: int = 1) -> Iterator[pytest.Item]:
    """Greedy: the test with the most that no other has shown yet, until everything is shown."""
    shows = {test: set(combinations(_values(test), strength)) for test in tests}
    open_ = set().union(*shows.values())
    while open_:
        best = max(shows, key=lambda test: len(shows[test] & open_))
        open_ -= shows.pop(best)
    yield from shows


def _values(test: pytest.Item) -> list[tuple[str, Any]]:
    return sorted((name, repr(value)) for name, value in test.callspec.params.items())  # type: ignore[attr-defined]
