"""UNION and DISTINCT on streams."""

from __future__ import annotations

import pytest
from plan_engine import plan, refusal, sql

from lakeward.language.changes import Changes


def test_rows_beside_changes_are_inserts() -> None:
    """The other side may take rows back."""
    relation = plan("SELECT g, v FROM orders UNION ALL SELECT url, id FROM clicks")
    assert (relation.changes, relation.columns, relation.key) == (Changes.CHANGELOG, ("g", "v"), None)
    assert "url AS g, id AS v, 'insert' AS _change_type" in sql(relation.tree)


def test_distinct_of_changes_is_there_as_long_as_one_of_its_kind_is() -> None:
    """Counted by weight."""
    told = sql(plan("SELECT DISTINCT g FROM orders").tree)
    assert "> 0, 'update_after', 'delete') AS _change_type" in told
    assert told.endswith("GROUP BY g")


def test_distinct_of_rows_that_are_only_added_tells_each_once() -> None:
    """The first of its kind."""
    relation = plan("SELECT DISTINCT g FROM plain")
    assert (relation.changes, relation.key) == (Changes.APPEND, (frozenset(["g"]),))


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("SELECT g FROM orders UNION ALL SELECT id, g FROM plain", "have 1 and 2 columns"),
        ("SELECT DISTINCT CURRENT_DATE AS d FROM orders", "DISTINCT over rows that change"),
        ("SELECT id, now FROM stamped UNION SELECT id, g FROM plain", "now has another value each time"),
        ("SELECT g, COUNT(*) FROM plain GROUP BY g UNION ALL SELECT g, v FROM plain", "UNION over a GROUP BY"),
    ],
)
def test_what_cannot_be_right_is_refused(query: str, sentence: str) -> None:
    """With the reason."""
    assert sentence in refusal(query)[1]
