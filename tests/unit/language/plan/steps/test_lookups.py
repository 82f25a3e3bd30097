"""Lookup joins: keys, conditions, and what is refused."""

from __future__ import annotations

import pytest
from plan_engine import PlanEngine, plan, refusal, sql

from lakeward.language.changes import Changes

_USERS = "users FOR SYSTEM_TIME AS OF PROCTIME() AS u"


def test_a_left_lookup_keeps_every_row() -> None:
    """Columns of both under their own names."""
    engine = PlanEngine()
    relation = plan(f"SELECT c.url, u.name FROM clicks c LEFT JOIN {_USERS} ON c.user = u.id", engine)
    (query, step), *others = engine.looked_up
    assert not others
    assert query == "SELECT c.url AS c#url, c.user AS c#user, c.user AS #key0, c.__time AS __time FROM clicks AS c"
    assert (step.on, step.keeps_unmatched, step.prefix) == ({"#key0": "id"}, True, "u#")
    assert sql(relation.tree) == "SELECT __rows.c#url AS url, __rows.u#name AS name FROM lookup1 AS __rows"


def test_further_conditions_of_a_left_lookup_hide_what_was_found() -> None:
    """The row stays, its other side is NULL."""
    told = sql(plan(f"SELECT c.id, u.name FROM clicks c LEFT JOIN {_USERS} ON c.user = u.id AND u.city = 'Ulm'").tree)
    assert "IF(__rows.u#city = 'Ulm', __rows.u#name, NULL) AS name" in told


def test_an_inner_lookup_by_key_that_finds_nothing_deletes() -> None:
    """The row may have been found before."""
    relation = plan(f"SELECT o.id, u.name FROM orders o JOIN {_USERS} ON o.user_id = u.id")
    assert relation.changes is Changes.UPSERT
    assert "IF(NOT __rows.u#id IS NULL, __rows._change_type, 'delete') AS _change_type" in sql(relation.tree)


def test_a_second_lookup_may_ask_for_what_the_first_has_found() -> None:
    """One after the other."""
    engine = PlanEngine()
    plan(
        f"SELECT p.c FROM clicks x LEFT JOIN {_USERS} ON x.user = u.id "
        "LEFT JOIN parts FOR SYSTEM_TIME AS OF PROCTIME() AS p ON p.a = u.city AND p.b = x.url",
        engine,
    )
    query, step = engine.looked_up[1]
    assert "__rows.u#city AS #key0" in query
    assert step.on == {"#key0": "a", "#key1": "b"}


def test_a_part_of_the_key_finds_several_rows() -> None:
    """By the bucket key."""
    engine = PlanEngine()
    plan("SELECT p.b FROM clicks x JOIN parts FOR SYSTEM_TIME AS OF PROCTIME() AS p ON p.a = x.url", engine)
    assert engine.looked_up[0][1].on == {"#key0": "a"}


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            f"SELECT u.name, COUNT(*) FROM orders o JOIN {_USERS} ON o.user_id = u.id GROUP BY u.name",
            "cannot be taken back",
        ),
        (f"SELECT u.name FROM clicks c RIGHT JOIN {_USERS} ON c.user = u.id", "a lookup is a LEFT or an INNER JOIN"),
        (f"SELECT u.name FROM clicks c JOIN {_USERS} ON c.user = u.name", "can be looked up by its primary key (id)"),
        (
            "SELECT p.c FROM orders o JOIN parts FOR SYSTEM_TIME AS OF PROCTIME() AS p ON p.a = o.g",
            "does not go with a table whose rows change",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(query: str, sentence: str) -> None:
    """With a way that works."""
    assert sentence in refusal(query)[1]
