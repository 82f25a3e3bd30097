"""Words that a session answers for itself, and what DuckDB would read otherwise."""

from __future__ import annotations

import pytest

from lakeward.sql_server.postgres.codec.pg_types import plain_names
from lakeward.sql_server.postgres.codec.sql_text import statements_of
from lakeward.sql_server.postgres.session_words import session_values, with_duck_spellings, with_session_words
from lakeward.sql_server.postgres.states import StateError
from lakeward.sql_server.postgres.variables import Variables


def spelled(sql: str) -> str:
    """The text for DuckDB."""
    variables = Variables({"search_path": "shop"})
    statement = with_duck_spellings(statements_of(sql)[0])
    return with_session_words(statement, session_values("ann", "db", variables, 7), variables)


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT current_user", "SELECT 'ann' AS current_user"),
        ("SELECT t.current_user FROM t", "SELECT t.current_user FROM t"),
        ("SELECT pg_catalog.current_setting('search_path')", "SELECT 'shop'"),
        ("SELECT current_setting('no.such', true)", "SELECT NULL"),
        (r"SELECT * FROM t WHERE b = '\x00ff'::bytea", "SELECT * FROM t WHERE b = from_hex('00ff')"),
        ("SELECT '2026-01-01'::date", "SELECT '2026-01-01'::date"),
    ],
)
def test_words_become_values(sql: str, text: str) -> None:
    """Where they stand for the session, and nowhere else."""
    assert spelled(sql) == text


def test_a_setting_that_is_not_there_is_an_error() -> None:
    """As SHOW has it."""
    with pytest.raises(StateError) as caught:
        spelled("SELECT current_setting('no.such')")
    assert caught.value.state == "42704"


def test_columns_are_called_by_their_functions() -> None:
    """Unless somebody wants the long name."""
    assert plain_names(["count_star()", "max(x)", "x", "(1 + 1)"], "") == ["count", "max", "x", "(1 + 1)"]
    assert plain_names(["sum(x)"], 'SELECT sum(x) AS "sum(x)"') == ["sum(x)"]


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT 1 WHERE a = ANY('{1,2}')", "SELECT 1 WHERE a  IN ('1', '2')"),
        ("""SELECT 1 WHERE a = any('{"x, y",NULL}')""", "SELECT 1 WHERE a  IN ('x, y', NULL)"),
        ("SELECT 1 WHERE a = ANY('{}')", "SELECT 1 WHERE a  IN (SELECT NULL WHERE false)"),
        ("SELECT 1 WHERE a <> ALL('{1}')", "SELECT 1 WHERE a  NOT IN ('1')"),
        ("SELECT 1 WHERE a != ALL('{1}')", "SELECT 1 WHERE a  NOT IN ('1')"),
        ("SELECT 1 WHERE a != ANY('{1}')", "SELECT 1 WHERE a != ANY('{1}')"),
        ("SELECT 1 WHERE a >= ANY('{1}')", "SELECT 1 WHERE a >= ANY('{1}')"),
        ("""SELECT '{"1","2"}'::int[]""", "SELECT ['1', '2']::int[]"),
        ("SELECT '{1}'", "SELECT '{1}'"),
        ("SELECT current_schemas(false)", "SELECT ['shop']"),
        ("SELECT pg_catalog.current_schemas(true)", "SELECT ['pg_catalog', 'shop']"),
    ],
)
def test_arrays_that_are_texts_become_lists(sql: str, text: str) -> None:
    """Where Postgres would take them for arrays; elsewhere a text stays a text."""
    assert spelled(sql) == text


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("SELECT to_char(a, 'YYYY-MM-DD HH24:MI:SS')", "SELECT strftime(a, '%Y-%m-%d %H:%M:%S')"),
        ("SELECT TO_CHAR(date_trunc('day', a), 'Mon YY')", "SELECT strftime(date_trunc('day', a), '%b %y')"),
        ("SELECT to_char(a, '999')", "SELECT to_char(a, '999')"),
    ],
)
def test_moments_are_written_as_postgres_writes_them(sql: str, text: str) -> None:
    """By the parts that people use; numbers are not."""
    assert spelled(sql) == text


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("EXPLAIN SELECT 1", "EXPLAIN SELECT 1"),
        ("EXPLAIN (SELECT 1)", "EXPLAIN (SELECT 1)"),
        ("explain analyze verbose SELECT 1", "EXPLAIN ANALYZE SELECT 1"),
        ("EXPLAIN (FORMAT JSON, ANALYZE false, COSTS off) SELECT 1", "EXPLAIN (FORMAT json) SELECT 1"),
        ("EXPLAIN (BUFFERS, analyze, format 'text') SELECT 1", "EXPLAIN ANALYZE SELECT 1"),
    ],
)
def test_explain_is_asked_for_what_duckdb_knows(sql: str, text: str) -> None:
    """As pgAdmin, DBeaver and DataGrip ask; what Postgres does not know either is refused."""
    assert spelled(sql) == text
    with pytest.raises(StateError, match="smell"):
        spelled("EXPLAIN (SMELL) SELECT 1")
