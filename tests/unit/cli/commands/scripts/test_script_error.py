"""What is shown of a text."""

from __future__ import annotations

import pytest

from lakeward.cli.commands.scripts.script_error import headline, pointed_at
from lakeward.language.place import Place


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CREATE TABLE shop.orders (id BIGINT) WITH ('connector' = 'fluss')", "CREATE TABLE shop.orders"),
        ("create catalog c with ('type' = 'fluss')", "create catalog c"),
        ("CREATE TEMPORARY VIEW v AS SELECT 1", "CREATE TEMPORARY VIEW v"),
        ("-- why\nINSERT INTO a\n  SELECT *\n  FROM b", "INSERT INTO a"),
        ("INSERT INTO a VALUES (1)", "INSERT INTO a"),
        ("INSERT INTO a(id) SELECT 1", "INSERT INTO a"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END", "EXECUTE STATEMENT SET"),
        ("SELECT a, b FROM t", "SELECT a, b FROM t"),
        ("SET 'sasl.password' = 'hush'", "SET 'sasl.password' = '******'"),
        ("SELECT " + "x, " * 80, ("SELECT " + "x, " * 80)[:99] + "…"),
    ],
)
def test_a_statement_in_a_few_words(text: str, shown: str) -> None:
    """What it is and what it is about; no secrets, no comments, one line."""
    assert headline(text) == shown


def test_a_caret_stands_under_the_column() -> None:
    """In the line that is meant."""
    assert pointed_at("SELECT 1;\nSELECT\tnme FROM t", Place(2, 8)) == "  SELECT nme FROM t\n         ^"
    assert pointed_at("SELECT 1", Place(1, 99)) == "  SELECT 1\n          ^"
    assert pointed_at("SELECT 1", Place(7, 1)) == ""


def test_a_long_line_is_shown_around_the_column() -> None:
    """A screen is not filled with the rest."""
    line, caret = pointed_at("a" * 500 + "!" + "b" * 500, Place(1, 501)).split("\n")
    assert (len(line), line[len(caret) - 1]) == (102, "!")


def test_secrets_are_not_shown_where_it_went_wrong() -> None:
    """Their lines may be the wrong ones."""
    assert "hush" not in pointed_at("WITH ('password' = 'hush', 'nonsense' = '1')", Place(1, 28))
