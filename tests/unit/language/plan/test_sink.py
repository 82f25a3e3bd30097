"""Sinks: what they can take of a query's rows."""

from __future__ import annotations

import pytest
from plan_engine import plan, refusal

from lakeward.language.changes import Changes
from lakeward.language.plan.sink import Target


def _by(*key: str) -> Target:
    return Target("sink", Changes.UPSERT, key)


_LOG = Target("sink", Changes.APPEND)


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("SELECT id, v FROM orders WHERE v > 1", ["id"]),
        ("SELECT id, 'x' AS src, id % 10 AS b FROM orders", ["id", "src", "b"]),
        ("SELECT 'all' AS k, COUNT(*) AS n FROM orders", ["k"]),
        ("SELECT g, v, COUNT(*) AS n FROM orders GROUP BY v, g", ["g", "v"]),
        ("SELECT url FROM clicks", ["url"]),
    ],
)
def test_a_key_that_holds_that_of_the_query_takes_its_rows(query: str, key: list[str]) -> None:
    """Constants and what is made of the key may be in it too."""
    plan(query, sink=_by(*key))


def test_rows_that_move_between_keys_are_told_with_what_was_before() -> None:
    """The old row is deleted under its old key."""
    assert plan("SELECT g, id FROM orders", sink=_by("g", "id")).changes is Changes.CHANGELOG


@pytest.mark.parametrize(
    ("query", "sink", "sentence"),
    [
        ("SELECT id, g FROM orders", _LOG, "only takes new rows"),
        ("SELECT g, COUNT(*) AS n FROM plain GROUP BY g", _LOG, "group by a window"),
        ("SELECT g, v FROM orders", _by("g"), "have no key that is shown"),
        ("SELECT g, v FROM orders", _by("g"), "Give the table that is read a PRIMARY KEY, if it has none, and show"),
        ("SELECT id, g FROM orders", _by("g"), "rows of different keys would overwrite each other"),
        ("SELECT id + 1 AS id FROM orders", _by("id"), "have no key that is shown"),
        ("SELECT g, COUNT(*) AS n FROM plain GROUP BY g", _by("g", "n"), "old rows would be left behind"),
        ("SELECT g, v, COUNT(*) AS n FROM plain GROUP BY g, v", _by("g"), "would overwrite each other"),
        ("SELECT o.id, CURRENT_DATE AS d FROM orders o JOIN users u ON o.id = u.id", _by("id", "d"), "each time"),
        ("SELECT c.id, u.name FROM clicks c JOIN users u ON c.id = u.id", _by("id"), "PRIMARY KEY and show it"),
    ],
)
def test_a_sink_that_would_keep_something_wrong_is_refused(query: str, sink: Target, sentence: str) -> None:
    """With what its key has to be."""
    assert sentence in refusal(query, sink=sink)[1]
