"""Translation of functions: what is refused and where, and what the text says."""

from __future__ import annotations

import pytest
from sqlglot import exp

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import Select


def query_of(text: str) -> exp.Expression:
    """The tree of a query."""
    (statement,) = parse_script(f"{text};")
    assert isinstance(statement, Select)
    return statement.query


def translate(text: str) -> str:
    """Spark's text of an expression over a table."""
    whole = spark_text(to_spark(query_of(f"SELECT {text} AS x FROM t")))
    return whole.removeprefix("SELECT ").removesuffix(" AS `x` FROM `t`")


@pytest.mark.parametrize(
    ("text", "spark"),
    [
        ("LISTAGG(a)", "listagg(`a`, ',')"),
        ("LISTAGG(DISTINCT a, '-')", "listagg(DISTINCT `a`, '-')"),
        ("COUNT(DISTINCT a)", "count(DISTINCT `a`)"),
        ("COUNT(*) FILTER (WHERE b > 1)", "count(*) FILTER(WHERE `b` > 1)"),
        ("TO_TIMESTAMP_LTZ(a, 3)", "timestamp_millis(CAST(`a` AS BIGINT))"),
        ("a[1]", "try_element_at(`a`, 1)"),
        ("PROCTIME()", "current_timestamp()"),
        ("LOCALTIMESTAMP", "localtimestamp()"),
        ("TIMESTAMP '2026-01-01 00:00:00'", "CAST('2026-01-01 00:00:00' AS TIMESTAMP_NTZ)"),
        ("CAST(a AS ROW<x INT, y TIMESTAMP_LTZ(3)>)", "CAST(`a` AS STRUCT<`x`: INT, `y`: TIMESTAMP>)"),
        ("INTERVAL '2' WEEK", "INTERVAL '14' DAY"),
        ("COUNT(*) / 2", "(count(*) DIV 2)"),
        ("a * 1.0 / b", "((`a` * 1.0) / `b`)"),
        ("MOD(a + 1, b)", "((`a` + 1) % `b`)"),
        ("DATEDIFF(DAY, a, b)", "datediff(DAY, `a`, `b`)"),
    ],
)
def test_a_function_becomes_spark_s(text: str, spark: str) -> None:
    """By its row, with arguments in the places where they belong."""
    assert translate(text) == spark


@pytest.mark.parametrize("clause", ["ROLLUP (`a` > 3, `b`)", "CUBE (`a` IS NULL, `b`)"])
def test_groups_are_of_any_expressions(clause: str) -> None:
    """Comparisons, too."""
    text = f"SELECT count(*) AS `n` FROM `t` GROUP BY {clause}"
    assert spark_text(to_spark(query_of(text))) == text


@pytest.mark.parametrize(
    "text", ["xxhash64(`a`, `b`)", "transform(`a`, `x` -> `x` + 1)", "regexp_replace(`a`, 'x', 'y', 2)"]
)
def test_what_is_spark_s_own_stays(text: str) -> None:
    """A name that is not in the table, and a call with arguments that only Spark knows."""
    assert translate(text) == text


def test_the_tree_that_was_given_is_not_changed() -> None:
    """A planner may need it again."""
    tree = query_of("SELECT IFNULL(a, 1) / 2 FROM t")
    before = repr(tree)
    to_spark(tree)
    assert repr(tree) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("HASH_CODE(a)", "XXHASH64(value)"),
        ("CURRENT_WATERMARK(a)", "late rows are counted"),
        ("SPLIT_INDEX(a, ',')", "it is SPLIT_INDEX(text, separator, index)"),
        ("TIMESTAMPDIFF(FORTNIGHT, a, b)", "FORTNIGHT is no unit of TIMESTAMPDIFF"),
        ("TO_TIMESTAMP_LTZ(a, 6)", "0, for seconds, or 3, for milliseconds"),
        ("DATE_FORMAT(a, 'YYYY')", "y is the year"),
        ("JSON_VALUE(a, 'name')", "A path begins with $"),
        ("JSON_VALUE(a, '$.x[*]')", "use JSON_QUERY"),
        ("a SIMILAR TO b", "use REGEXP"),
        ("(a, b) OVERLAPS (c, d)", "start1 <= end2"),
        ("CAST(a AS TIMESTAMP(3) WITH TIME ZONE)", "TIMESTAMP_LTZ(3)"),
    ],
)
def test_what_cannot_be_right_is_refused_with_a_way_that_works(text: str, sentence: str) -> None:
    """No wrong value is shown."""
    with pytest.raises(ScriptError) as caught:
        translate(text)
    assert sentence in caught.value.sentence


def test_a_refusal_names_the_place_of_the_function() -> None:
    """By its offset in the statement: line 0 says so."""
    with pytest.raises(ScriptError) as caught:
        to_spark(query_of("SELECT a,\n  UPPER(HASH_CODE(b))\nFROM t"))
    assert caught.value.place == Place(0, 18)


def test_columns_without_a_name_are_numbered() -> None:
    """As in the guide's SQL, so that a query around can name them."""
    text = spark_text(to_spark(query_of("SELECT a, b + 1, COUNT(*), explode(c), t.* FROM t")))
    assert text == "SELECT `a`, `b` + 1 AS `EXPR$1`, count(*) AS `EXPR$2`, explode(`c`), `t`.* FROM `t`"


def test_a_query_keeps_its_clauses() -> None:
    """All that is not a function is printed as it was."""
    written = "WITH `x` AS (SELECT `a` FROM `t`) SELECT `x`.`a` FROM `x` LEFT JOIN `u` ON `x`.`a` = `u`.`a` "
    written += "WHERE NOT (`x`.`a` OR `u`.`b`) GROUP BY `x`.`a` HAVING `x`.`a` > 1 ORDER BY `x`.`a` DESC LIMIT 3"
    assert spark_text(to_spark(query_of(written))) == written
