"""Bounded queries: names of WITH and of columns."""

from __future__ import annotations

from plan_engine import PlanEngine, parse, sql

from lakeward.language.plan.stream import bounded_query


def _told(text: str) -> str:
    return sql(bounded_query(PlanEngine(), parse(text), {}))


def test_a_query_of_with_may_hide_the_table_that_it_reads() -> None:
    """In its own query the name is still the table."""
    assert _told("WITH plain AS (SELECT id FROM plain) SELECT id FROM plain") == (
        "WITH plain AS (SELECT id FROM now:plain AS plain) SELECT id FROM plain"
    )


def test_names_that_are_given_to_columns_hold() -> None:
    """In their order."""
    assert _told("SELECT y FROM plain AS p(x, y, z)") == "SELECT y FROM now:plain AS p(x, y, z)"
