"""The planner: names, WITH, views, styles of changes."""

from __future__ import annotations

import pytest
from plan_engine import PlanEngine, plan, refusal, sql

from lakeward.language.changes import Changes


def test_a_filter_by_key_deletes_what_does_not_pass() -> None:
    """An update may take a row out of what WHERE keeps."""
    relation = plan("SELECT id, v FROM orders WHERE v > 1")
    assert "IF((orders.v > 1), orders._change_type, 'delete') AS _change_type" in sql(relation.tree)
    assert "<> 'update_before'" in sql(relation.tree)
    assert (relation.changes, relation.key) == (Changes.UPSERT, (frozenset(["id"]),))


def test_a_query_of_with_may_hide_the_table_that_it_reads() -> None:
    """In its own query the name is still the table."""
    relation = plan("WITH plain AS (SELECT id FROM plain WHERE v > 1) SELECT id FROM plain")
    assert sql(relation.tree) == (
        "SELECT plain.id AS id FROM (SELECT plain.id AS id FROM plain AS plain WHERE (plain.v > 1)) AS plain"
    )


def test_names_in_a_query_of_with_are_those_of_its_place() -> None:
    """A WITH further inside does not change what an outer one reads."""
    text = "WITH a AS (SELECT id FROM plain) SELECT id FROM (WITH plain AS (SELECT id FROM clicks) SELECT id FROM a) q"
    assert "clicks" not in sql(plan(text).tree)


@pytest.mark.parametrize(
    "text",
    [
        "WITH c(x, y, z) AS (SELECT * FROM plain) SELECT y, x FROM c",
        "SELECT y, x FROM plain AS c(x, y, z)",
        "SELECT y, x FROM (SELECT * FROM plain) AS c(x, y, z)",
    ],
)
def test_names_that_are_given_to_columns_hold(text: str) -> None:
    """Of a WITH, a table and a subquery."""
    relation = plan(text)
    assert relation.columns == ("y", "x")
    assert "id AS x, g AS y, v AS z" in sql(relation.tree)


def test_a_view_over_a_view_is_read_through() -> None:
    """Each is planned where it is read."""
    engine = PlanEngine(first="SELECT id, g FROM orders WHERE v > 1", second="SELECT g, id FROM first")
    relation = plan("SELECT id FROM second", engine)
    assert relation.key == (frozenset(["id"]),)
    assert "IF((orders.v > 1), orders._change_type, 'delete')" in sql(relation.tree)


@pytest.mark.parametrize(
    ("query", "inner"),
    [
        ("SELECT v FROM plain WHERE id IN (SELECT id FROM file)", "plain.id IN (SELECT id FROM now:file AS file)"),
        (
            "SELECT v FROM plain WHERE id > (SELECT MAX(id) FROM file)",
            "> (SELECT max(id) AS EXPR$0 FROM now:file AS file)",
        ),
        (
            "SELECT g, COUNT(*) AS n FROM orders GROUP BY g HAVING n > (SELECT COUNT(*) FROM file)",
            "> (SELECT count(*) AS EXPR$0 FROM now:file",
        ),
        (
            "SELECT v, (SELECT COUNT(*) FROM file) AS n FROM plain",
            "(SELECT count(*) AS EXPR$0 FROM now:file AS file) AS n",
        ),
        ("SELECT v FROM plain p WHERE EXISTS (SELECT 1 FROM file WHERE file.id = p.id)", "WHERE file.id = p.id)"),
    ],
)
def test_names_and_aggregates_of_an_inner_query_are_its_own(query: str, inner: str) -> None:
    """Not those of the query around it."""
    assert inner in sql(plan(query).tree)


@pytest.mark.parametrize(
    ("query", "at", "sentence"),
    [
        ("SELECT * FROM plain ORDER BY id", "id", "ORDER BY: rows of a stream never end"),
        ("SELECT * FROM plain LIMIT 3", "", "LIMIT"),
        ("SELECT nix FROM plain", "nix", "no table of this query has a column"),
        ("SELECT id FROM plain JOIN users ON plain.id = users.id", "id FROM", "say which, such as plain.id"),
        ("SELECT * FROM orders JOIN orders ON orders.id = orders.v", "orders ON", "two tables of FROM are called"),
        ("SELECT x FROM plain AS p(x, y)", "plain AS p", "p gives 2 names (x, y) to 3 columns (id, g, v)"),
        ("SELECT id FROM plain WHERE id IN (SELECT id FROM users)", "", "would miss later changes"),
        ("SELECT id, SUM(v) OVER (PARTITION BY g) FROM plain", "", "OVER (…) does not run on a stream"),
        ("SELECT id FROM plain INTERSECT SELECT id FROM users", "", "INTERSECT does not run on a stream"),
    ],
)
def test_what_cannot_be_right_is_refused(query: str, at: str, sentence: str) -> None:
    """With its place."""
    place, said = refusal(query)
    assert place.startswith(at)
    assert sentence in said
