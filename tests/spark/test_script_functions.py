"""Functions of scripts, one by one against known answers: over columns, and with the values written in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from script_function_cases import CASES, COLUMNS, FAILURES, ROWS_CASES
from sqlglot import exp

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.statements.rows import Select

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCH = 60
_NAMES = [f"{section}: {text}" for section, cases in CASES.items() for text, _ in cases]
_EXPECTED = [expected for cases in CASES.values() for _, expected in cases]
_TEXTS = [text for cases in CASES.values() for text, _ in cases]


def query_of(text: str) -> exp.Expression:
    """The tree of a query."""
    (statement,) = parse_script(f"{text};")
    assert isinstance(statement, Select), text
    return statement.query


def with_values(tree: exp.Expression) -> exp.Expression:
    """The same with the values of the columns in their places."""

    def value(node: exp.Expression) -> exp.Expression:
        name = node.table or node.name if isinstance(node, exp.Column) else ""
        if name not in COLUMNS:
            return node
        written = query_of(f"SELECT {COLUMNS[name]}").expressions[0]
        return exp.Dot(this=written, expression=node.this) if node.table else written

    return tree.transform(value)


@pytest.fixture(scope="module", params=["columns", pytest.param("values", marks=pytest.mark.long)])
def answers(request: pytest.FixtureRequest, session_with_jar: SparkSession) -> list[Any]:
    """What Spark says to all cases, in a few queries: over columns, or over values."""
    spark = session_with_jar
    trees = [query_of(f"SELECT {text} AS it").expressions[0].this for text in _TEXTS]
    if request.param == "values":
        return list(answer(spark, [to_spark(with_values(tree)) for tree in trees], ""))
    made = ", ".join(f"{value} AS {name}" for name, value in COLUMNS.items())
    frame = spark.sql(spark_text(to_spark(query_of(f"SELECT {made}"))))
    # A frame of an RDD: the optimizer cannot see its values, so nothing is computed before rows come.
    spark.createDataFrame(frame.rdd, frame.schema).createOrReplaceTempView("function_values")
    return list(answer(spark, [to_spark(tree) for tree in trees], " FROM function_values"))


def answer(spark: SparkSession, trees: list[exp.Expression], source: str) -> Iterator[Any]:
    """The values of the trees, or what Spark has against one."""
    for start in range(0, len(trees), _BATCH):
        texts = [spark_text(tree) for tree in trees[start : start + _BATCH]]
        listed = ", ".join(f"{text} AS c{index}" for index, text in enumerate(texts))
        try:
            yield from spark.sql(f"SELECT {listed}{source}").first() or []
        except PySparkException:
            for text in texts:
                try:
                    yield (spark.sql(f"SELECT {text} AS c{source}").first() or [None])[0]
                except PySparkException as error:
                    yield RuntimeError(f"{text}: {str(error)[:400]}")


def is_same(found: Any, expected: Any) -> bool:
    """Whether a value of Spark's is the one that is known; numbers by value, times as they are read."""
    if isinstance(expected, float) and isinstance(found, float | Decimal):
        return math.isclose(float(found), expected, rel_tol=1e-12)
    if isinstance(found, datetime) and isinstance(expected, str):
        return found.isoformat(sep=" ") == expected
    if isinstance(found, date) and isinstance(expected, str):
        return found.isoformat() == expected
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    return bool(found == expected)


@pytest.mark.parametrize("number", range(len(_NAMES)), ids=_NAMES)
def test_a_function_gives_what_the_guide_s_sql_gives(answers: list[Any], number: int) -> None:
    """A value, known before."""
    found = answers[number]
    assert is_same(found, _EXPECTED[number]), f"{found!r}, not {_EXPECTED[number]!r}"


@pytest.mark.parametrize(("text", "expected"), ROWS_CASES, ids=[text for text, _ in ROWS_CASES])
def test_a_query_gives_rows(spark: SparkSession, text: str, expected: list[tuple[Any, ...]]) -> None:
    """Aggregates and UNNEST, in whole queries."""
    spark.sql(
        "SELECT * FROM VALUES (1, 'a', 10, true), (1, 'b', 5, false), (2, 'c', NULL, true), (2, NULL, 4, false)"
        " AS t(k, s, n, f)"
    ).createOrReplaceTempView("function_rows")
    found = [tuple(row) for row in spark.sql(spark_text(to_spark(query_of(text)))).collect()]
    assert found == expected


@pytest.mark.parametrize("text", FAILURES)
def test_what_is_wrong_fails(spark: SparkSession, text: str) -> None:
    """Rather than NULL or a wrong number."""
    with pytest.raises(PySparkException):
        spark.sql(spark_text(to_spark(with_values(query_of(f"SELECT {text}"))))).collect()


def test_times_are_right_in_a_zone_with_summer_time(spark: SparkSession) -> None:
    """A TIMESTAMP has no zone: the session's must not move it, not even in the hour that is skipped."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    skipped = "TIMESTAMP '2026-03-08 02:30:15'"
    texts = {
        "TIMESTAMPDIFF(HOUR, TIMESTAMP '2026-03-08 00:00:00', TIMESTAMP '2026-03-09 00:00:00')": 24,
        "EXTRACT(EPOCH FROM TIMESTAMP '1970-01-02 00:00:00')": 86400,
        "EXTRACT(EPOCH FROM TO_TIMESTAMP_LTZ(0, 3))": 0,
        "TO_TIMESTAMP('2026-03-08 02:30:15')": "2026-03-08 02:30:15",
        "TO_TIMESTAMP('08.03.2026 02:30', 'dd.MM.yyyy HH:mm')": "2026-03-08 02:30:00",
        f"{skipped} + INTERVAL '1' DAY": "2026-03-09 02:30:15",
        f"FLOOR({skipped} TO HOUR)": "2026-03-08 02:00:00",
        f"FLOOR({skipped} TO MINUTE)": "2026-03-08 02:30:00",
        f"CEIL({skipped} TO MINUTE)": "2026-03-08 02:31:00",
        f"EXTRACT(HOUR FROM {skipped})": 2,
    }
    try:
        listed = ", ".join(f"{text} AS c{index}" for index, text in enumerate(texts))
        found = spark.sql(spark_text(to_spark(query_of(f"SELECT {listed}")))).first() or ()
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert [text for text, value in zip(texts, found, strict=True) if not is_same(value, texts[text])] == []
