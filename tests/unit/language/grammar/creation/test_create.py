"""CREATE CATALOG, DATABASE and VIEW by value."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.define import CreateCatalog, CreateDatabase, CreateView
from lakeward.language.statements.rows import SparkStatement
from lakeward.language.statements.statement import Name

HERE = Place(1, 1)


def test_a_catalog() -> None:
    """Its name and its options."""
    text = "CREATE CATALOG IF NOT EXISTS `my-shop` WITH (\n'type' = 'fluss', 'bootstrap.servers' = 'h:9123')"
    assert parse_script(text + ";") == (
        CreateCatalog(
            text=text,
            place=HERE,
            name="my-shop",
            options={"type": "fluss", "bootstrap.servers": "h:9123"},
            if_not_exists=True,
        ),
    )


def test_a_database() -> None:
    """With a comment and options, in a catalog."""
    text = "CREATE DATABASE a.b COMMENT 'it''s' WITH ('k' = 'v')"
    assert parse_script(text) == (
        CreateDatabase(text=text, place=HERE, name=Name(("a", "b")), comment="it's", options={"k": "v"}),
    )
    text = "create schema if not exists b"
    assert parse_script(text) == (CreateDatabase(text=text, place=HERE, name=Name(("b",)), if_not_exists=True),)


def test_a_view() -> None:
    """Its query as a tree and as text."""
    (view,) = parse_script("CREATE OR REPLACE TEMPORARY VIEW v (a, b COMMENT 'x') COMMENT 'c' AS SELECT 1, 2 -- end\n;")
    assert isinstance(view, CreateView)
    assert (view.name, view.columns, view.comment) == (Name(("v",)), ("a", "b"), "c")
    assert (view.query_text, view.query.sql()) == ("SELECT 1, 2", "SELECT 1, 2")
    assert (view.is_temporary, view.or_replace, view.if_not_exists) == (True, True, False)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE DATABASE d LOCATION '/x'",
        "CREATE DATABASE d WITH DBPROPERTIES ('a' = 'b')",
        "CREATE FUNCTION f AS 'x.Y'",
        "CREATE TEMPORARY FUNCTION f() RETURNS INT RETURN 1",
        "CREATE OR REPLACE TEMPORARY FUNCTION f() RETURNS INT RETURN 1",
        "CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1",
        "CREATE VIEW v TBLPROPERTIES ('a' = 'b') AS SELECT 1",
        "CREATE TEMPORARY VIEW v USING csv OPTIONS (path '/x')",
        "CREATE TEMPORARY VIEW v AS SELECT TRANSFORM (a) USING 'cat' FROM t",
    ],
)
def test_what_only_spark_makes_is_spark_s(text: str) -> None:
    """As it was written."""
    assert parse_script(text) == (SparkStatement(text=text, place=HERE),)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        (
            "CREATE TABEL t (a INT)",
            Place(1, 8),
            "expected CATALOG, DATABASE, TABLE or VIEW after CREATE, found 'TABEL'. Did you mean TABLE?",
        ),
        ("CREATE CATALOG c", Place(1, 17), "expected 'WITH' after CREATE CATALOG c, found the end of the statement."),
        ("CREATE VIEW v SELECT 1", Place(1, 15), "expected 'AS' after CREATE VIEW v, found 'SELECT'."),
        ("CREATE VIEW v AS\nSELECT a FORM t", Place(2, 10), "'FORM' is not expected here. Did you mean FROM?"),
        ("CREATE VIEW v AS", Place(1, 17), "expected an expression or a query, found the end of the statement."),
        (
            "CREATE TEMPORARY CATALOG c WITH ()",
            Place(1, 18),
            "expected TABLE or VIEW after OR REPLACE and TEMPORARY, found 'CATALOG'.",
        ),
        (
            "CREATE DATABASE d WHIT ('a' = 'b')",
            Place(1, 19),
            "expected COMMENT or WITH after CREATE DATABASE d, found 'WHIT'. Did you mean WITH?",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, and what was expected."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)
