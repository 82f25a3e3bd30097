"""Joins on streams: weights, keys, and what is refused."""

from __future__ import annotations

import pytest
from plan_engine import PlanEngine, keyed, plan, refusal, sql

from lakeward.language.changes import Changes

_TITLES = keyed("titles", "name text", "name")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT o.id, u.name FROM orders o JOIN users u ON o.user_id = u.id",
        "SELECT o.id, u.name FROM orders o, users u WHERE o.user_id = u.id AND o.v > 1",
        "SELECT o.id, u.name FROM orders o CROSS JOIN users u WHERE u.id = o.user_id",
    ],
)
def test_many_to_one_has_the_key_of_the_many(text: str) -> None:
    """However the condition is said."""
    relation = plan(text)
    assert (relation.key, relation.changes) == ((frozenset(["id"]),), Changes.CHANGELOG)
    assert "IF(o._change_type IN ('insert', 'update_after')" in sql(relation.tree)
    assert "FROM orders AS o JOIN users AS u ON " in sql(relation.tree)


def test_many_to_many_has_both_keys() -> None:
    """Two orders of a group make a pair each way."""
    relation = plan("SELECT a.id, b.id AS other FROM orders a JOIN orders b ON a.g = b.g")
    assert relation.key == (frozenset(["id"]), frozenset(["other"]))


def test_columns_of_different_kinds_do_not_make_one_to_one() -> None:
    """The texts '1' and '01' both equal the number 1."""
    relation = plan("SELECT o.id, t.name FROM orders o JOIN titles t ON o.user_id = t.name", PlanEngine(_TITLES))
    assert relation.key == (frozenset(["id"]), frozenset(["name"]))


def test_a_log_and_a_table_with_a_key_have_no_key() -> None:
    """The log may have a row twice."""
    relation = plan("SELECT c.id, u.name FROM clicks c JOIN users u ON c.id = u.id")
    assert (relation.key, relation.changes) == (None, Changes.CHANGELOG)


def test_event_times_of_two_streams_are_compared_by_their_twins() -> None:
    """Spark knows the watermark of those."""
    relation = plan("SELECT a.id FROM clicks a JOIN clicks b ON a.id = b.id AND a.at > b.at")
    assert "a.__time > b.__time" in sql(relation.tree)


@pytest.mark.parametrize(
    ("query", "at", "sentence"),
    [
        (
            "SELECT o.id FROM orders o LEFT JOIN users u ON o.user_id = u.id",
            "users u",
            "LEFT JOIN of a table whose rows",
        ),
        ("SELECT a.id FROM clicks a LEFT JOIN plain b ON a.id = b.id", "plain b", "needs a WATERMARK on both"),
        ("SELECT o.id FROM orders o JOIN users u ON o.user_id = u.id AND RAND() > 0.5", "o.user_id", "JOIN … ON over"),
        ("SELECT o.id FROM late o JOIN users u ON o.id = u.id", "users u", "read from a later moment on"),
        ("SELECT o.id FROM orders o NATURAL JOIN users u", "users u", "NATURAL JOIN"),
        ("SELECT o.id FROM orders o JOIN users u USING (nix)", "nix", "USING (nix)"),
    ],
)
def test_what_cannot_be_right_is_refused(query: str, at: str, sentence: str) -> None:
    """With its place."""
    place, said = refusal(query)
    assert place.startswith(at)
    assert sentence in said
