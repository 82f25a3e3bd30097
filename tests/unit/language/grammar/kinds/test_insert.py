"""INSERT and statement sets by value."""

from __future__ import annotations

import pytest

from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import Explain, Insert, SparkStatement, StatementSet
from lakeward.language.statements.statement import Name, Statement


def only(text: str) -> Statement:
    """The one statement of a script."""
    (statement,) = parse_script(text)
    return statement


def insert(text: str) -> Insert:
    """The one INSERT of a script."""
    statement = only(text)
    assert isinstance(statement, Insert)
    return statement


def test_an_insert_with_everything() -> None:
    """Target, hint, partition, columns and query."""
    found = insert(
        "INSERT OVERWRITE c.d.t /*+ OPTIONS('a' = 'b') */ PARTITION (dt = '2026-01-01', h = 3) (x, `y z`)\n"
        "SELECT x, COUNT(*) FROM u GROUP BY x;"
    )
    assert found.target == Name(("c", "d", "t"))
    assert found.target.place == Place(1, 18)
    assert found.hint == {"a": "b"}
    assert found.partition == (("dt", "2026-01-01"), ("h", "3"))
    assert found.columns == ("x", "y z")
    assert found.is_overwrite
    assert found.query_text == "SELECT x, COUNT(*) FROM u GROUP BY x"
    assert found.query.sql() == "SELECT x, COUNT(*) FROM u GROUP BY x"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("INSERT INTO t SELECT 1", "SELECT 1"),
        ("INSERT INTO TABLE t SELECT 1", "SELECT 1"),
        ("EXECUTE INSERT INTO t SELECT 1", "SELECT 1"),
        ("INSERT INTO t (SELECT 1)", "(SELECT 1)"),
        ("INSERT INTO t WITH a AS (SELECT 1) SELECT * FROM a", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("INSERT INTO t VALUES (1, 'a'), (2, NULL)", "SELECT * FROM (VALUES (1, 'a'), (2, NULL))"),
        ("INSERT INTO t TABLE u", "SELECT * FROM u"),
    ],
)
def test_queries_that_are_inserted(text: str, query: str) -> None:
    """VALUES becomes a query, too."""
    found = insert(text)
    assert (found.target, found.query.sql(), found.hint) == (Name(("t",)), query, None)
    assert (found.is_overwrite, found.columns, found.partition) == (False, (), ())


SET = """EXECUTE STATEMENT SET
BEGIN
  -- the first
  INSERT INTO a SELECT CASE WHEN x THEN 1 END FROM t;
  ;
  INSERT INTO b SELECT ';' FROM t
END"""


def test_a_statement_set_is_its_inserts() -> None:
    """Each with a text and a place of its own."""
    found = only(SET + ";")
    assert isinstance(found, StatementSet)
    assert found.text == SET
    assert [(i.target, i.text, i.place) for i in found.inserts] == [
        (Name(("a",)), "INSERT INTO a SELECT CASE WHEN x THEN 1 END FROM t", Place(4, 3)),
        (Name(("b",)), "INSERT INTO b SELECT ';' FROM t", Place(6, 3)),
    ]


def test_a_statement_set_of_the_shell() -> None:
    """BEGIN STATEMENT SET; … END."""
    found = only("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END;")
    assert isinstance(found, StatementSet)
    assert [str(i.target) for i in found.inserts] == ["a", "b"]


def test_a_statement_set_can_be_explained() -> None:
    """EXPLAIN STATEMENT SET BEGIN … END."""
    found = only("EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;")
    assert isinstance(found, Explain)
    assert isinstance(found.statement, StatementSet)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT OVERWRITE DIRECTORY '/x' USING parquet SELECT 1",
        "INSERT INTO t BY NAME SELECT 1 AS a",
        "INSERT INTO t REPLACE WHERE a = 1 SELECT 1",
        "INSERT INTO t SELECT v:a FROM u",
    ],
)
def test_inserts_that_only_spark_knows_are_spark_s(text: str) -> None:
    """As they were written."""
    assert only(text) == SparkStatement(text=text, place=Place(1, 1))


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("INSERT t SELECT 1", Place(1, 8), "expected INTO or OVERWRITE after INSERT, found 't'."),
        (
            "INSERT INTO t",
            Place(1, 14),
            "expected SELECT, WITH or VALUES after INSERT INTO t, found the end of the statement.",
        ),
        (
            "INSERT INTO t SELET 1",
            Place(1, 15),
            "expected SELECT, WITH or VALUES after INSERT INTO t, found 'SELET'. Did you mean SELECT?",
        ),
        ("INSERT INTO t\nSELECT *\nFORM u", Place(3, 1), "'FORM' is not expected here. Did you mean FROM?"),
        ("INSERT INTO t (a b) SELECT 1", Place(1, 18), "expected ')' or ',' after a, found 'b'."),
        ("INSERT INTO t PARTITION (a) SELECT 1", Place(1, 27), "expected '=' after a, found ')'."),
        (
            "INSERT INTO t /*+ OPTIONS('a' 'b') */ SELECT 1",
            Place(1, 31),
            "expected '=' after 'a', found 'b'.",
        ),
        (
            "INSERT INTO t /*+ OPTION('a'='b') */ SELECT 1",
            Place(1, 19),
            "expected 'OPTIONS' in a table's hint, found 'OPTION'. Did you mean OPTIONS?",
        ),
        (
            "EXECUTE STATEMENT SET BEGIN\n  INSERT INTO a SELECT 1;\n  SELECT 2;\nEND",
            Place(3, 3),
            "expected 'INSERT', found 'SELECT'.",
        ),
        ("EXECUTE STATEMENT SET BEGIN END", Place(1, 29), "expected INSERT INTO in the statement set, found 'END'."),
        (
            "EXECUTE STATEMENT SET INSERT INTO a SELECT 1",
            Place(1, 23),
            "expected 'BEGIN' after STATEMENT SET, found 'INSERT'.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """What was found, and what was expected."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)
