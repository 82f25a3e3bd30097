"""Aggregates of rows with weights have the answers of Spark's own over the rows that are left."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from file_stream import FileStream
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar import parse_script
from lakeward.language.plan.steps.weights import add_up, weigh
from lakeward.language.statements.rows import Select

_WEIGHT = exp.column("w")
#: Values whose sums a DOUBLE holds without rounding, so that the order in which Spark adds them is all the same.
_NUMBERS = {
    "TINYINT": ["-128", "-1", "0", "7", "127"],
    "SMALLINT": ["-32768", "-1", "0", "7", "32767"],
    "INT": ["-2147483648", "-1", "0", "7", "2147483647"],
    "BIGINT": ["-1125899906842624", "-1", "0", "7", "1125899906842624"],
    "FLOAT": ["-1024.5", "-0.25", "0.0", "3.75", "65536.125"],
    "DOUBLE": ["-1024.5", "-0.25", "0.0", "3.75", "1073741824.125"],
    "DECIMAL(5, 2)": ["-999.99", "-0.01", "0", "3.33", "999.99"],
    "DECIMAL(18, 4)": ["-99999999999999.9999", "-0.0001", "0", "3.3333", "99999999999999.9999"],
    "DECIMAL(38, 10)": ["-123456789012345678901234.0000000001", "0.3333333333", "123456789012345678901234"],
    "DECIMAL(28, 28)": ["-0.0000000000000000000000000001", "0", "0.3333333333333333333333333333"],
}
_OTHERS = {
    "BOOLEAN": ["true", "false"],
    "STRING": ["''", "'a'", "'B'", "'é'"],
    "DATE": ["'1969-12-31'", "'2026-11-16'"],
    "TIMESTAMP_NTZ": ["'2026-11-16 03:04:05.678'", "'1969-12-31 23:59:59.999'"],
}
_OF_ALL = (
    "COUNT(*)",
    "COUNT(v)",
    "COUNT(v, u)",
    "COUNT(DISTINCT v)",
    "COUNT(DISTINCT v, u)",
    "MIN(v)",
    "MAX(DISTINCT v)",
    "COUNT(*) FILTER (WHERE u > 1)",
    "COUNT(v) FILTER (WHERE u > 1)",
    "COUNT(DISTINCT v) FILTER (WHERE u > 1)",
    "MIN(v) FILTER (WHERE u > 1)",
    "COUNT_IF(u > 1)",
    "EVERY(u > 0)",
    "SOME(u > 2)",
)
_OF_NUMBERS = (
    "SUM(v)",
    "AVG(v)",
    "SUM(v) FILTER (WHERE u > 1)",
    "AVG(v) FILTER (WHERE u > 1)",
)
_SPREADS = ("VAR_POP(v)", "VAR_SAMP(v)", "STDDEV_POP(v)", "STDDEV(v)")


def _spark_call(text: str, change: Callable[[exp.Expr], exp.Expr]) -> str:
    """The Spark SQL of an aggregate of a script."""
    (statement,) = parse_script(f"SELECT {text} FROM t;")
    assert isinstance(statement, Select)
    tree = change(statement.query.expressions[0])
    assert isinstance(tree, exp.Expression)
    return spark_text(to_spark(tree))


def _by_weights(calls: tuple[str, ...]) -> str:
    return ", ".join(f"{_spark_call(call, lambda tree: weigh(tree, _WEIGHT))} AS c{i}" for i, call in enumerate(calls))


def _by_spark(calls: tuple[str, ...]) -> str:
    return ", ".join(f"{call} AS c{i}" for i, call in enumerate(calls))


def _rows(kind: str, texts: list[str], dice: random.Random) -> tuple[list[str], list[str]]:
    """Rows (k, v, u, w) of inserts and retractions in any order, and those (k, v, u) that are left."""
    changes, left = [], []
    for _ in range(12):
        for text in ("NULL", *texts):
            row = f"{dice.randrange(4)}, CAST({text} AS {kind}), {dice.choice(['NULL', '0', '1', '2', '3'])}"
            changes.append(f"({row}, 1L)")
            if dice.random() < 0.6:
                changes.append(f"({row}, -1L)")
            else:
                left.append(f"({row})")
    changes += [f"(9, CAST({texts[0]} AS {kind}), 1, {w}L)" for w in (1, -1)]  # a group of which nothing is left
    dice.shuffle(changes)
    return changes, left


def _query(spark: SparkSession, rows: list[str], columns: str, calls: str) -> DataFrame:
    return spark.sql(
        f"WITH t AS (SELECT /*+ REPARTITION(3) */ * FROM VALUES {', '.join(rows)} AS t({columns})) "
        f"SELECT {calls} FROM t GROUP BY k ORDER BY k"
    )


def _near(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose DOUBLEs may differ in their last digits."""
    return tuple(pytest.approx(value, rel=1e-9) if isinstance(value, float) else value for value in row)


@pytest.mark.covering("BIGINT", "DOUBLE", "DECIMAL(38", "STRING", "TIMESTAMP]")
@pytest.mark.parametrize("kind", [*_NUMBERS, *_OTHERS])
def test_every_aggregate_of_every_type_has_spark_s_own_answer(kind: str, spark: SparkSession) -> None:
    """Types and values, of random inserts and retractions in random order."""
    dice = random.Random(kind)
    changes, left = _rows(kind, {**_NUMBERS, **_OTHERS}[kind], dice)
    calls = (*_OF_ALL, *(_OF_NUMBERS if kind in _NUMBERS else ()))
    mine = _query(spark, changes, "k, v, u, w", f"k, {_by_weights(calls)}")
    theirs = _query(spark, left, "k, v, u", f"k, {_by_spark(calls)}")
    assert [each.dataType for each in mine.schema] == [each.dataType for each in theirs.schema]
    *answers, gone = map(tuple, mine.collect())
    assert answers == [tuple(row) for row in theirs.collect()]
    # No row is left, but Spark has seen the group: the answers of no rows at all.
    nothing = spark.sql(f"SELECT {_by_spark(calls)} FROM VALUES (CAST(NULL AS {kind}), 1) AS t(v, u) WHERE u > 1")
    assert gone[1:] == tuple(nothing.collect()[0])


@pytest.mark.covering("BIGINT", "DOUBLE", "DECIMAL(38")
@pytest.mark.parametrize("kind", _NUMBERS)
def test_variances_have_spark_s_own_answers(kind: str, spark: SparkSession) -> None:
    """Up to the last digits: Spark adds up rounded squares."""
    changes, left = _rows(kind, _NUMBERS[kind], random.Random(kind))
    mine = _query(spark, changes, "k, v, u, w", _by_weights(_SPREADS)).collect()[:-1]
    theirs = _query(spark, left, "k, v, u", _by_spark(_SPREADS)).collect()
    assert [tuple(row) for row in mine] == [_near(row) for row in theirs]


def _double(dice: random.Random) -> float:
    """Any double that is a number, small and tiny ones among them."""
    kinds: tuple[Callable[[], float], ...] = (
        lambda: struct.unpack("<d", struct.pack("<Q", dice.getrandbits(64)))[0],
        lambda: dice.randrange(-(1 << 20), 1 << 20) * 5e-324,
        lambda: round(dice.uniform(-1000, 1000), 2),
        lambda: dice.uniform(-1, 1) * 2.0 ** dice.randrange(-1074, 1000),
    )
    found = dice.choice(kinds)()
    return found if math.isfinite(found) else _double(dice)


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def test_sums_of_doubles_are_the_nearest_to_the_true_ones(spark: SparkSession) -> None:
    """Against fractions: what was taken back has left no trace, however large it was."""
    dice = random.Random(7)
    rows: list[tuple[int, float, int]] = []
    true: dict[int, tuple[float, float]] = {}
    for k in range(200):
        left = [_double(dice) for _ in range(dice.randrange(1, 12))]
        gone = [_double(dice) for _ in range(6)]
        rows += [(k, v, 1) for v in (*left, *gone)] + [(k, v, -1) for v in gone]
        total = sum(map(Fraction, left), Fraction(0))
        mean = total / len(left)
        true[k] = (_nearest(total), _nearest(sum((Fraction(v) - mean) ** 2 for v in left) / len(left)))
    dice.shuffle(rows)
    spark.createDataFrame(rows, "k INT, v DOUBLE, w BIGINT").repartition(3).createOrReplaceTempView("weighted_doubles")
    calls = _by_weights(("SUM(v)", "VAR_POP(v)"))
    answers = spark.sql(f"SELECT k, {calls} FROM weighted_doubles GROUP BY k").collect()
    assert {row[0]: (row[1], row[2]) for row in answers} == true


@pytest.mark.parametrize(
    ("left", "total", "mean"),
    [
        ([], None, None),
        ([1.5, 2.5], 4.0, 2.0),
        ([math.inf, 1.0], math.inf, math.inf),
        ([-math.inf], -math.inf, -math.inf),
        ([math.inf, -math.inf], math.nan, math.nan),
        ([math.nan, math.inf], math.nan, math.nan),
    ],
)
def test_infinities_and_nan_go_as_they_came(
    left: list[float], total: float | None, mean: float | None, spark: SparkSession
) -> None:
    """A sum that held them is a number again when they are gone."""
    gone = [math.inf, -math.inf, math.nan, 1e308, 1e308]
    rows = [(v, 1) for v in (*gone, *left)] + [(v, -1) for v in gone]
    spark.createDataFrame(rows, "v DOUBLE, w BIGINT").createOrReplaceTempView("weighted_infinities")
    (row,) = spark.sql(f"SELECT {_by_weights(('SUM(v)', 'AVG(v)'))} FROM weighted_infinities").collect()
    assert str(tuple(row)) == str((total, mean))


_MANY = (1 << 63) - 1
_LONG = Decimal("9" * 38)
_FINE = Decimal("0." + "9" * 38)


@pytest.mark.parametrize(
    ("kind", "changes", "answer"),
    [
        ("BIGINT", [(_MANY, 1), (_MANY, 1), (_MANY, 1), (_MANY, -1), (_MANY, -1)], _MANY),
        ("BIGINT", [(-_MANY - 1, -1), (-_MANY - 1, 1), (5, 1)], 5),
        ("INT", [(-(1 << 31), -1), (-(1 << 31), 1), (5, 1)], 5),
        ("DECIMAL(38, 0)", [(_LONG, 1), (_LONG, 1), (_LONG, -1)], _LONG),
        ("DECIMAL(38, 38)", [(_FINE, 1), (_FINE, 1), (_FINE, -1)], _FINE),
    ],
)
def test_a_sum_may_be_too_large_on_the_way(
    kind: str, changes: list[tuple[Any, int]], answer: Any, spark: SparkSession
) -> None:
    """Only the result has to fit."""
    spark.createDataFrame(changes, f"v {kind}, w BIGINT").createOrReplaceTempView("weighted_large")
    assert spark.sql(f"SELECT {_by_weights(('SUM(v)',))} FROM weighted_large").collect()[0][0] == answer


@pytest.mark.parametrize(
    ("kind", "value", "call", "sentence"),
    [
        ("BIGINT", _MANY, "SUM(v)", "lakeward_sum is 18446744073709551614, which does not fit bigint"),
        ("DECIMAL(38, 0)", _LONG, "SUM(v)", "which does not fit decimal"),
        ("DECIMAL(38, 0)", _LONG, "AVG(v)", "which does not fit decimal"),
        ("STRING", "1", "SUM(v)", "lakeward_sum: the value must be a number, not string"),
    ],
)
def test_a_result_that_does_not_fit_is_an_error(
    kind: str, value: Any, call: str, sentence: str, spark: SparkSession
) -> None:
    """It is never wrapped, and never NULL."""
    spark.createDataFrame([(value, 1), (value, 1)], f"v {kind}, w BIGINT").createOrReplaceTempView("weighted_larger")
    with pytest.raises(PySparkException, match=sentence):
        spark.sql(f"SELECT {_by_weights((call,))} FROM weighted_larger").collect()


def test_a_filter_keeps_a_value_from_being_computed(spark: SparkSession) -> None:
    """As Spark's FILTER does: a division by zero that is filtered out is none."""
    spark.createDataFrame([(0, 1), (2, 1), (4, 1), (4, -1)], "v INT, w BIGINT").createOrReplaceTempView("weighted_zero")
    call = _by_weights(("SUM(8 % v) FILTER (WHERE v <> 0)", "COUNT(8 % v) FILTER (WHERE v <> 0)"))
    assert tuple(spark.sql(f"SELECT {call} FROM weighted_zero").collect()[0]) == (0, 1)


_STREAMED = (
    "COUNT(*)",
    "COUNT(v)",
    "SUM(v)",
    "AVG(v)",
    "SUM(d)",
    "MIN(v)",
    "MAX(d)",
    "COUNT(DISTINCT v)",
    "VAR_POP(v)",
)


def test_a_stream_has_the_answers_of_what_is_left_after_every_restart(spark: SparkSession, tmp_path: Path) -> None:
    """All kinds of state in one query: Spark's own sums, exact sums and multisets."""
    dice = random.Random(11)
    changes = FileStream(spark, tmp_path, "k INT, v INT, d DECIMAL(10, 2), w BIGINT")
    changes.stream().createOrReplaceTempView("weighted_stream")
    query = f"SELECT k, {_by_weights(_STREAMED)} FROM weighted_stream GROUP BY k"
    left: list[dict[str, Any]] = []
    answers: dict[int, tuple[Any, ...]] = {}
    for _ in range(2):
        made = []
        for _ in range(100):
            if left and dice.random() < 0.4:
                made.append({**left.pop(dice.randrange(len(left))), "w": -1})
            else:
                left.append({"k": dice.randrange(3), "v": dice.choice([None, 1, 2, 4, 8]), "d": dice.randrange(99) / 4})
                made.append({**left[-1], "w": 1})
        dice.shuffle(made)
        changes.drop(made[:50])
        changes.drop(made[50:])
        answers |= {row[0]: row[1:] for row in changes.run(spark.sql(query))}
        rows = [(row["k"], row["v"], Decimal(str(row["d"]))) for row in left]
        spark.createDataFrame(rows, "k INT, v INT, d DECIMAL(10, 2)").createOrReplaceTempView("weighted_left")
        theirs = spark.sql(f"SELECT k, {_by_spark(_STREAMED)} FROM weighted_left GROUP BY k").collect()
        assert answers == {row[0]: _near(row[1:]) for row in theirs}


def test_another_aggregate_does_not_read_the_state(spark: SparkSession, tmp_path: Path) -> None:
    """Spark sees bytes in both: MIN that became SUM, and SUM of another scale, would be other numbers."""
    changes = FileStream(spark, tmp_path, "k INT, v INT, w BIGINT")
    changes.stream().createOrReplaceTempView("weighted_other")
    changes.drop([{"k": 1, "v": 3, "w": 1}])
    changes.run(spark.sql("SELECT k, lakeward_sum(v, w) FROM weighted_other GROUP BY k"))
    changes.drop([{"k": 1, "v": 4, "w": 1}])
    for call in ("lakeward_min(v, w)", "lakeward_sum(DECIMAL(v) / 10, w)", "lakeward_var_pop(v, w)"):
        with pytest.raises(PySparkException, match="begin with a new checkpoint"):
            changes.run(spark.sql(f"SELECT k, {call} FROM weighted_other GROUP BY k"))
    assert changes.run(spark.sql("SELECT k, lakeward_avg(v, w) FROM weighted_other GROUP BY k")) == [(1, 3.5)]


@pytest.mark.long
def test_a_stream_of_added_rows_runs_spark_s_own(spark: SparkSession, tmp_path: Path) -> None:
    """Those that Spark has on streams, and DISTINCT, which it has not."""
    calls = ("COUNT(DISTINCT v)", "MIN(DISTINCT v)", "LISTAGG(s, '-')", "COLLECT(v)", "LAST_VALUE(v)", "STDDEV_POP(v)")
    rows = FileStream(spark, tmp_path, "k INT, v INT, s STRING")
    rows.stream().createOrReplaceTempView("weighted_added")
    told = ", ".join(_spark_call(call, add_up) for call in (*calls, "COUNT(DISTINCT v) FILTER (WHERE v > 1)"))
    for v, s in ((1, "a"), (1, "a"), (3, None)):
        rows.drop([{"k": 1, "v": v, "s": s}])
    given = rows.run(spark.sql(f"SELECT k, {told} FROM weighted_added GROUP BY k"))
    assert given[0] == (1, 1, 1, "a", [1], 1, 0.0, 0)
    assert given[-1] == (1, 2, 1, "a-a", [1, 1, 3], 3, pytest.approx(8**0.5 / 3), 1)
