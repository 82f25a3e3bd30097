"""Scripts as a whole, and statements without a query by value."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script, read_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.create_table import CreateTable
from lakeward.language.statements.define import AlterView, CreateCatalog, Describe, Drop, Show, Use
from lakeward.language.statements.rows import Explain, Reset, Select, SetOption, SparkStatement
from lakeward.language.statements.statement import Name, Statement

HERE = Place(1, 1)


def only(text: str) -> Statement:
    """The one statement of a script."""
    (statement,) = parse_script(text)
    return statement


def test_statements_carry_their_number_place_and_text() -> None:
    """So that a message can point at them."""
    found = parse_script("USE a;;\n\n  -- x\n  USE b ;\nUSE c")
    assert [(s.number, s.place, s.text) for s in found] == [
        (1, Place(1, 1), "USE a"),
        (2, Place(4, 3), "USE b"),
        (3, Place(5, 1), "USE c"),
    ]


def test_statements_in_front_of_a_wrong_one_come_first() -> None:
    """They may run before the script fails."""
    statements = read_script("CREATE CATALOG c WITH ('type' = 'fluss');\nUSE CATALOG c;\nSELEC 1;\nSELECT 2")
    assert isinstance(next(statements), CreateCatalog)
    assert isinstance(next(statements), Use)
    with pytest.raises(ScriptError) as raised:
        next(statements)
    assert str(raised.value) == (
        "Line 3, column 1: expected a statement such as CREATE, INSERT or SELECT, found 'SELEC'. Did you mean SELECT?"
    )


@pytest.mark.parametrize(
    ("text", "catalog", "database"),
    [
        ("USE CATALOG c", "c", None),
        ("use `my db`", None, Name(("my db",))),
        ("USE c.d", None, Name(("c", "d"))),
        ("USE DATABASE d", None, Name(("d",))),
        ("USE catalog", None, Name(("catalog",))),
    ],
)
def test_use(text: str, catalog: str | None, database: Name | None) -> None:
    """A catalog, or a database."""
    assert only(text) == Use(text=text, place=HERE, catalog=catalog, database=database)


@pytest.mark.parametrize(
    ("text", "what", "name", "like", "is_negated"),
    [
        ("SHOW CATALOGS", "CATALOGS", None, None, False),
        ("SHOW CURRENT CATALOG", "CURRENT CATALOG", None, None, False),
        ("SHOW DATABASES", "DATABASES", None, None, False),
        ("SHOW CURRENT DATABASE", "CURRENT DATABASE", None, None, False),
        ("SHOW TABLES", "TABLES", None, None, False),
        ("SHOW TABLES FROM a.b LIKE 'o%'", "TABLES", ("a", "b"), "o%", False),
        ("SHOW TABLES IN b NOT LIKE 'o%'", "TABLES", ("b",), "o%", True),
        ("show views", "VIEWS", None, None, False),
        ("SHOW COLUMNS FROM t", "COLUMNS", ("t",), None, False),
        ("SHOW COLUMNS IN t FROM d LIKE 'a%'", "COLUMNS", ("d", "t"), "a%", False),
        ("SHOW CREATE TABLE a.t", "CREATE TABLE", ("a", "t"), None, False),
        ("SHOW CREATE VIEW v", "CREATE VIEW", ("v",), None, False),
        ("SHOW PARTITIONS t", "PARTITIONS", ("t",), None, False),
        ("SHOW FUNCTIONS", "FUNCTIONS", None, None, False),
        ("SHOW USER FUNCTIONS", "USER FUNCTIONS", None, None, False),
        ("SHOW CREATE CATALOG c", "CREATE CATALOG", ("c",), None, False),
        ("SHOW JOBS", "JOBS", None, None, False),
    ],
)
def test_show(text: str, what: str, name: tuple[str, ...] | None, like: str | None, is_negated: bool) -> None:
    """What, of what, and like what."""
    expected = Show(
        text=text, place=HERE, what=what, name=Name(name) if name else None, like=like, is_negated=is_negated
    )
    assert only(text) == expected


@pytest.mark.parametrize(
    ("text", "is_extended"),
    [("DESCRIBE a.t", False), ("desc a.t", False), ("DESCRIBE EXTENDED a.t", True), ("DESC TABLE a.t", False)],
)
def test_describe(text: str, is_extended: bool) -> None:
    """A table."""
    assert only(text) == Describe(text=text, place=HERE, name=Name(("a", "t")), is_extended=is_extended)


def test_show_one_partition() -> None:
    """By some of its keys."""
    shown = only("SHOW PARTITIONS t PARTITION (a = 1)")
    assert isinstance(shown, Show)
    assert (shown.what, shown.partition) == ("PARTITIONS", (("a", "1"),))


@pytest.mark.parametrize(
    ("text", "what", "name", "is_extended"),
    [
        ("DESCRIBE CATALOG c", "CATALOG", ("c",), False),
        ("DESC CATALOG EXTENDED c", "CATALOG", ("c",), True),
        ("DESCRIBE DATABASE c.d", "DATABASE", ("c", "d"), False),
        ("DESC SCHEMA EXTENDED d", "DATABASE", ("d",), True),
        ("DESCRIBE catalog", "TABLE", ("catalog",), False),
        ("DESCRIBE database.t", "TABLE", ("database", "t"), False),
    ],
)
def test_describe_what_holds_tables(text: str, what: str, name: tuple[str, ...], is_extended: bool) -> None:
    """A catalog or a database; a table may be called so, too."""
    assert only(text) == Describe(text=text, place=HERE, name=Name(name), is_extended=is_extended, what=what)


def test_alter_view() -> None:
    """Another name, or another query."""
    renamed = only("ALTER VIEW a.v RENAME TO w")
    assert isinstance(renamed, AlterView)
    assert (renamed.name, renamed.new_name, renamed.query) == (Name(("a", "v")), Name(("w",)), None)
    changed = only("ALTER VIEW v AS SELECT 1 AS x")
    assert isinstance(changed, AlterView)
    assert (changed.new_name, changed.query_text) == (None, "SELECT 1 AS x")


def test_replace_table_is_create_or_replace() -> None:
    """With a query, or with columns."""
    made = only("REPLACE TABLE t AS SELECT 1 AS x")
    assert isinstance(made, CreateTable)
    assert made.or_replace


@pytest.mark.parametrize(
    ("text", "what", "flags"),
    [
        ("DROP CATALOG x", "CATALOG", {}),
        ("DROP DATABASE IF EXISTS x CASCADE", "DATABASE", {"if_exists": True, "is_cascade": True}),
        ("DROP SCHEMA x RESTRICT", "DATABASE", {}),
        ("DROP TABLE IF EXISTS x", "TABLE", {"if_exists": True}),
        ("DROP TEMPORARY TABLE x", "TABLE", {"is_temporary": True}),
        ("DROP TEMPORARY VIEW IF EXISTS x", "VIEW", {"if_exists": True, "is_temporary": True}),
    ],
)
def test_drop(text: str, what: str, flags: dict[str, bool]) -> None:
    """Each thing that can be made."""
    expected = Drop(
        text=text,
        place=HERE,
        what=what,
        name=Name(("x",)),
        if_exists=flags.get("if_exists", False),
        is_temporary=flags.get("is_temporary", False),
        is_cascade=flags.get("is_cascade", False),
    )
    assert only(text) == expected


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("SET", None, None),
        ("SET 'a.b' = 'c;d'", "a.b", "c;d"),
        ("SET execution.runtime-mode = batch", "execution.runtime-mode", "batch"),
        ("SET spark.sql.shuffle.partitions=4", "spark.sql.shuffle.partitions", "4"),
        ("SET a.b = 10 s, and more", "a.b", "10 s, and more"),
        ("SET 'a.b'", "a.b", None),
    ],
)
def test_set(text: str, key: str | None, value: str | None) -> None:
    """With quotes or without; alone it shows."""
    assert only(text) == SetOption(text=text, place=HERE, key=key, value=value)


@pytest.mark.parametrize(("text", "key"), [("RESET", None), ("RESET 'a.b'", "a.b"), ("RESET a.b-c", "a.b-c")])
def test_reset(text: str, key: str | None) -> None:
    """One key, or all."""
    assert only(text) == Reset(text=text, place=HERE, key=key)


@pytest.mark.parametrize(
    ("head", "details"),
    [
        ("EXPLAIN ", ()),
        ("EXPLAIN PLAN FOR\n", ()),
        ("EXPLAIN ESTIMATED_COST, CHANGELOG_MODE ", ("ESTIMATED_COST", "CHANGELOG_MODE")),
        ("EXPLAIN FORMATTED ", ("FORMATTED",)),
    ],
)
def test_explain(head: str, details: tuple[str, ...]) -> None:
    """The statement inside has a text and a place of its own."""
    explained = only(f"{head}SELECT a FROM t")
    assert isinstance(explained, Explain)
    assert explained.details == details
    inner = explained.statement
    assert isinstance(inner, Select)
    assert inner.text == "SELECT a FROM t"
    assert inner.place == (Place(2, 1) if "\n" in head else Place(1, len(head) + 1))


@pytest.mark.parametrize(
    "text",
    [
        "ADD JAR '/x.jar'",
        "CACHE TABLE t",
        "REFRESH TABLE t",
        "ANALYZE TABLE t COMPUTE STATISTICS",
        "MSCK REPAIR TABLE t",
        "COMMENT ON TABLE t IS 'x'",
        "CALL catalog.system.expire('t')",
        "DECLARE VARIABLE x INT DEFAULT 1",
        "SET TIME ZONE 'UTC'",
        "SET VAR x = 1",
        "SET CATALOG c",
        "SET -v",
        "SHOW TBLPROPERTIES t",
        "DESCRIBE FUNCTION upper",
        "DESCRIBE t a",
        "DESCRIBE QUERY SELECT 1",
        "DROP FUNCTION f",
        "EXECUTE IMMEDIATE 'SELECT 1'",
        "BEGIN SELECT 1; SELECT 2; END",
        "FROM a INSERT INTO b SELECT c INSERT INTO d SELECT e",
        "WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a",
    ],
)
def test_spark_s_own_statements_are_handed_over(text: str) -> None:
    """As they were written."""
    assert only(text + ";") == SparkStatement(text=text, place=HERE)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("hello", HERE, "expected a statement such as CREATE, INSERT or SELECT, found 'hello'."),
        ("SHOW TABELS", Place(1, 6), "expected what to show, such as TABLES, found 'TABELS'. Did you mean TABLES?"),
        ("SELECT INTERVAL '1' FORTNIGHT", Place(1, 21), "expected a unit such as SECOND, found 'FORTNIGHT'."),
        ("SHOW CREATE t", Place(1, 13), "expected TABLE, VIEW or CATALOG after SHOW CREATE, found 't'."),
        ("ALTER VIEW v RENAME w", Place(1, 21), "expected 'TO' after RENAME, found 'w'."),
        ("SHOW TABLES t", Place(1, 13), "expected LIKE or the end of the statement, found 't'."),
        ("USE", Place(1, 4), "expected CATALOG, or the database's name, found the end of the statement."),
        ("DESCRIBE 'x'", Place(1, 10), "expected a table's name, found 'x'."),
        (
            "DROP TABEL t",
            Place(1, 6),
            "expected CATALOG, DATABASE, TABLE or VIEW after DROP, found 'TABEL'. Did you mean TABLE?",
        ),
        ("DROP TABLE IF EXIST t", Place(1, 15), "expected 'EXISTS', found 'EXIST'. Did you mean EXISTS?"),
        ("SET 'a' 'b'", Place(1, 9), "expected '=' after SET a, found 'b'."),
        ("SET 'a' =", Place(1, 10), "expected the value of 'a', found the end of the statement."),
        ("RESET 'a' 'b'", Place(1, 11), "expected the end of the statement, found 'b'."),
        ("EXPLAIN", Place(1, 8), "expected a statement, found the end."),
        (
            "EXECUTE STATMENT SET",
            Place(1, 9),
            "expected STATEMENT or INSERT after EXECUTE, found 'STATMENT'. Did you mean STATEMENT?",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, and what was expected."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)


def test_a_long_piece_is_shown_short() -> None:
    """A message is one line."""
    with pytest.raises(ScriptError) as raised:
        parse_script("USE 'a text that goes on and on and on and so on'")
    assert raised.value.sentence == "expected CATALOG, or the database's name, found 'a text that goes on and on an…."


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("CREATE TABLE t (a INT)", "expected COMMENT, DISTRIBUTED, PARTITIONED, WITH, LIKE or AS, found {}."),
        ("USE a", "expected the end of the statement, found {}."),
        ("CREATE CATALOG c WITH ('type' = 'fluss')", "expected the end of the statement, found {}."),
        ("SELECT * FROM t", "{} is not expected here."),
        ("SELECT * FROM t WHERE a = 1", "{} is not expected here."),
        ("INSERT INTO t VALUES (1)", "{} is not expected here."),
    ],
)
@pytest.mark.parametrize(
    "second", ["SELECT * FROM u", "INSERT INTO u SELECT 1", "USE b", "CREATE DATABASE d", "SHOW TABLES"]
)
def test_a_missing_semicolon_is_asked_for(first: str, expected: str, second: str) -> None:
    """At the word that begins the next statement."""
    with pytest.raises(ScriptError) as raised:
        parse_script(f"{first}\n{second};")
    word = second.split(" ", maxsplit=1)[0]
    assert raised.value.place == Place(2, 1)
    assert raised.value.sentence == expected.format(f"'{word}'") + " Is a ';' missing before it?"
