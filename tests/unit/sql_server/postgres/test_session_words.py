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
