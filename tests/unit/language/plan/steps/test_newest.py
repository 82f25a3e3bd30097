"""The first or last row of each key, by ROW_NUMBER() = 1."""

from __future__ import annotations

import pytest
from plan_engine import plan, refusal, sql

from lakeward.language.changes import Changes


def _query(order: str, first: str = "rn = 1", table: str = "plain", shown: str = "*") -> str:
    number = f"ROW_NUMBER() OVER (PARTITION BY g ORDER BY {order}) AS rn"
    return f"SELECT * FROM (SELECT {shown}, {number} FROM {table}) WHERE {first}"


@pytest.mark.parametrize(("order", "function"), [("v DESC", "max("), ("v", "min("), ("v ASC, id ASC", "min(")])
@pytest.mark.parametrize("first", ["rn = 1", "rn <= 1", "RN < 2"])
def test_the_last_row_is_the_greatest_and_the_first_the_least(order: str, function: str, first: str) -> None:
    """One row for each key, which a later one replaces."""
    relation = plan(_query(order, first))
    assert f"{function}named_struct('order0', ranked.__order0" in sql(relation.tree)
    assert (relation.columns, relation.changes) == (("id", "g", "v", "rn"), Changes.UPSERT)
    assert relation.key == (frozenset(["g"]),)


@pytest.mark.parametrize(
    ("order", "fields"),
    [
        ("v DESC NULLS FIRST", "max(named_struct('order0_null', ranked.__order0 IS NULL, 'order0', ranked.__order0"),
        ("v NULLS LAST", "min(named_struct('order0_null', ranked.__order0 IS NULL, 'order0', ranked.__order0"),
        ("v NULLS FIRST", "min(named_struct('order0', ranked.__order0"),
    ],
)
def test_null_is_where_it_is_said_to_be(order: str, fields: str) -> None:
    """By itself it is less than all others."""
    assert fields in sql(plan(_query(order)).tree)


def test_over_rows_that_change_it_knows_weights() -> None:
    """The last row may be taken back."""
    assert "lakeward_max(named_struct(" in sql(plan(_query("v DESC", table="orders")).tree)


def test_further_conditions_hold_for_the_first_row() -> None:
    """One that does not pass is deleted, and no other takes its place."""
    told = sql(plan(_query("v DESC", "rn = 1 AND id > 4")).tree)
    assert "IF((rows.id > 4), rows._change_type, 'delete') AS _change_type" in told


def test_a_column_that_only_has_the_name_of_the_key_is_not_the_key() -> None:
    """`v AS g` is v."""
    relation = plan(_query("v DESC", shown="v AS g, id"))
    assert "tops.__top.row.c0 AS g" in sql(relation.tree)
    assert relation.key is None


@pytest.mark.parametrize("query", [_query("v DESC", "rn = 2"), _query("v DESC", "rn <= 3")])
def test_other_ranks_are_refused(query: str) -> None:
    """With the reason."""
    assert "OVER (…) does not run on a stream" in refusal(query)[1]
