"""lakeward_min, lakeward_max and lakeward_count_distinct: right under retractions, in batches and on streams."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from file_stream import FileStream
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "k INT, v INT, s STRING, at TIMESTAMP, w BIGINT"
_AGGREGATES = (
    "lakeward_min(v, w) AS least, lakeward_max(s, w) AS greatest, lakeward_count_distinct(v, w) AS n, "
    "lakeward_count_distinct(v, s, w) AS pairs, CAST(SUM(w) AS BIGINT) AS weight"
)
_STORE = "spark.sql.streaming.stateStore.providerClass"
_STORES = {
    "files": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "rocksdb": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
_VALUES = {
    "BOOLEAN": ["true", "false"],
    "TINYINT": ["-128", "0", "127"],
    "SMALLINT": ["-32768", "1", "32767"],
    "INT": ["-2147483648", "7", "2147483647"],
    "BIGINT": ["-9223372036854775808", "7", "9223372036854775807"],
    "FLOAT": ["'-Infinity'", "-0.0", "0.0", "1.5", "'NaN'", "'Infinity'"],
    "DOUBLE": ["'-Infinity'", "-0.0", "0.0", "1e300", "'NaN'", "'Infinity'"],
    "DECIMAL(18, 4)": ["-12345678901234.5678", "0", "99999999999999.9999"],
    "DECIMAL(38, 10)": ["-1234567890123456789012345678.0123456789", "0.1", "9999999999999999999999999999"],
    "STRING": ["''", "'a'", "'B'", "'é'", "'\U0001f600'", "'\uffee'"],
    "BINARY": ["X''", "X'00'", "X'7F'", "X'80FF'"],
    "DATE": ["'0001-01-01'", "'1969-12-31'", "'9999-12-31'"],
    "TIMESTAMP": ["'1900-01-01 00:00:00'", "'2026-11-16 03:04:05.678901'", "'9999-12-30 23:59:59.999999'"],
    "TIMESTAMP_NTZ": ["'0001-01-01 00:00:00'", "'2026-11-16 03:04:05.678901'", "'9999-12-31 23:59:59.999999'"],
    "INTERVAL DAY TO SECOND": ["INTERVAL '1' DAY", "INTERVAL '-5' HOUR"],
    "ARRAY<DOUBLE>": ["ARRAY()", "ARRAY(0.0D, NULL)", "ARRAY(-0.0D, NULL)", "ARRAY(DOUBLE('NaN'))"],
    "STRUCT<a: INT, b: STRING>": ["STRUCT(1, 'x')", "STRUCT(1, NULL)", "STRUCT(2, 'a')"],
}


@pytest.fixture(params=_STORES)
def store(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    """Each kind of state store that Spark has."""
    before = spark.conf.get(_STORE)
    spark.conf.set(_STORE, _STORES[request.param])
    yield request.param
    spark.conf.set(_STORE, str(before))


@pytest.fixture
def changes(spark: SparkSession, tmp_path: Path) -> FileStream:
    """No rows yet."""
    return FileStream(spark, tmp_path, _SCHEMA)


def _random_changes(dice: random.Random, alive: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Inserts and retractions in any order: a row may be taken back before it came."""
    made = []
    for _ in range(count):
        if alive and dice.random() < 0.45:
            made.append({**alive.pop(dice.randrange(len(alive))), "w": -1})
        else:
            v = dice.choice([None, *range(6)])
            s = dice.choice([None, "a", "B", "é", "zz"])
            alive.append({"k": dice.randrange(4), "v": v, "s": s})
            made.append({**alive[-1], "w": 1})
    dice.shuffle(made)
    return made


def _model(rows: list[dict[str, Any]]) -> dict[int, tuple[Any, ...]]:
    """The answers for each key, from the weights of its values."""
    answers = {}
    for k in {row["k"] for row in rows}:
        values: Counter[Any] = Counter()
        texts: Counter[Any] = Counter()
        pairs: Counter[Any] = Counter()
        weight = 0
        for row in (row for row in rows if row["k"] == k):
            values[row["v"]] += row["w"]
            texts[row["s"]] += row["w"]
            pairs[row["v"], row["s"]] += row["w"]
            weight += row["w"]
        there = [v for v, n in values.items() if v is not None and n > 0]
        words = [s.encode() for s, n in texts.items() if s is not None and n > 0]
        both = [p for p, n in pairs.items() if None not in p and n > 0]
        greatest = max(words).decode() if words else None
        answers[k] = (min(there, default=None), greatest, len(there), len(both), weight)
    return answers


def test_a_stream_has_the_answers_of_a_model_after_every_restart(
    store: str, spark: SparkSession, changes: FileStream
) -> None:
    """Random inserts and retractions, some taken back before they came, over three runs of two micro-batches."""
    dice = random.Random(store)
    changes.stream().createOrReplaceTempView("multiset_changes")
    query = f"SELECT k, {_AGGREGATES} FROM multiset_changes GROUP BY k"
    alive: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    answers: dict[int, tuple[Any, ...]] = {}
    for _ in range(3):
        made = _random_changes(dice, alive, 80)
        for part in (made[:40], made[40:]):
            changes.drop(part)
        rows += made
        answers |= {row[0]: row[1:] for row in changes.run(spark.sql(query))}
        assert answers == _model(rows)


@pytest.mark.long
def test_a_retraction_may_come_before_its_insert(spark: SparkSession, changes: FileStream) -> None:
    """The count is below zero for a micro-batch; the insert that follows balances it, a second one shows."""
    changes.stream().createOrReplaceTempView("multiset_early")
    query = "SELECT k, lakeward_min(v, w), lakeward_count_distinct(v, w) FROM multiset_early GROUP BY k"
    for weights in ([-1], [1], [1]):
        changes.drop([{"k": 1, "v": 5, "w": w} for w in weights])
    assert changes.run(spark.sql(query)) == [(1, None, 0), (1, None, 0), (1, 5, 1)]


@pytest.mark.covering("rocksdb")
def test_windows_close_with_what_is_left_in_them(store: str, spark: SparkSession, changes: FileStream) -> None:
    """Append mode: a window comes once, when the watermark has passed it, a restart between or not."""
    changes.stream().withWatermark("at", "5 minutes").createOrReplaceTempView("multiset_windows")
    query = (
        "SELECT minute(window.start), k, lakeward_min(v, w), lakeward_max(v, w), lakeward_count_distinct(v, w) "
        "FROM multiset_windows GROUP BY window(at, '10 minutes'), k"
    )

    def row(minute: int, v: int, w: int = 1) -> dict[str, Any]:
        return {"k": 1, "v": v, "at": f"2026-11-16T12:{minute:02}:00Z", "w": w}

    changes.drop([row(1, 5), row(2, 3), row(3, 9), row(12, 4)])
    assert changes.run(spark.sql(query), "append") == []
    changes.drop([row(9, 3, -1), row(8, 9, -1), row(4, 6), row(30, 1)])
    assert sorted(changes.run(spark.sql(query), "append")) == [(0, 1, 5, 6, 2), (10, 1, 4, 4, 1)]


def test_sessions_are_merged_with_their_values(spark: SparkSession, changes: FileStream) -> None:
    """A row between two sessions makes one of them; what was taken back in either stays away."""
    changes.stream().withWatermark("at", "30 minutes").createOrReplaceTempView("multiset_sessions")
    query = (
        "SELECT minute(session_window.start), lakeward_min(v, w), lakeward_max(v, w) "
        "FROM multiset_sessions GROUP BY session_window(at, '5 minutes'), k"
    )

    def row(minute: int, v: int, w: int = 1) -> dict[str, Any]:
        return {"k": 1, "v": v, "at": f"2026-11-16T12:{minute:02}:00Z", "w": w}

    changes.drop([row(1, 5), row(2, 1), row(9, 7), row(9, 8)])
    changes.drop([row(5, 6), row(3, 1, -1), row(9, 8, -1)])
    changes.drop([row(59, 0)])
    assert changes.run(spark.sql(query), "append") == [(1, 5, 7)]


def _texts(frame: DataFrame) -> list[str]:
    """Rows as texts, in which NaN equals NaN; which of two equal zeros is the least one, Spark leaves open."""
    return [str(tuple(row)).replace("-0.0", "0.0") for row in frame.collect()]


@pytest.mark.covering("BIGINT", "DOUBLE]", "DECIMAL(38", "STRING]", "TIMESTAMP]", "STRUCT")
@pytest.mark.parametrize("kind", _VALUES)
def test_every_type_has_spark_s_own_answers(kind: str, spark: SparkSession) -> None:
    """Over what is left after retractions, in an order and with an equality that are Spark's."""
    dice = random.Random(kind)
    left, rows = [], []
    for text in ["NULL", *_VALUES[kind]] * 3:
        value = f"CAST({text} AS {kind})"
        group = dice.randrange(3)
        went = dice.randrange(2)
        rows += [f"({group}, {value}, 1L)"] + [f"({group}, {value}, 1L)", f"({group}, {value}, -1L)"] * went
        if dice.random() < 0.6:
            left.append(f"({group}, {value})")
        else:
            rows.append(f"({group}, {value}, -1L)")
    dice.shuffle(rows)
    groups = "SELECT * FROM VALUES (0), (1), (2) AS g(k)"
    mine = spark.sql(
        f"WITH t AS (SELECT /*+ REPARTITION(4) */ * FROM VALUES {', '.join(rows)} AS t(k, v, w)), g AS ({groups}) "
        "SELECT g.k, lakeward_min(v, w), lakeward_max(v, w), lakeward_count_distinct(v, w), "
        "lakeward_count_distinct(v, g.k, w) FROM g LEFT JOIN t ON t.k = g.k GROUP BY g.k ORDER BY g.k"
    )
    theirs = spark.sql(
        f"WITH t AS (SELECT * FROM VALUES {', '.join(left)} AS t(k, v)), g AS ({groups}) "
        "SELECT g.k, MIN(v), MAX(v), COUNT(DISTINCT v), COUNT(DISTINCT v, g.k) "
        "FROM g LEFT JOIN t ON t.k = g.k GROUP BY g.k ORDER BY g.k"
    )
    assert [field.dataType for field in mine.schema] == [field.dataType for field in theirs.schema]
    assert _texts(mine) == _texts(theirs)


def test_many_groups_are_sorted_and_merged(spark: SparkSession) -> None:
    """More groups than Spark keeps in its hash table, each in several partitions."""
    rows = spark.range(0, 20000, 1, 4).selectExpr("id % 500 AS k", "id DIV 500 AS v", "IF(id % 3 = 0, -1L, 1L) AS w")
    rows.unionAll(rows.where("w < 0").selectExpr("k", "v", "1L")).createOrReplaceTempView("multiset_many")
    mine = spark.sql("SELECT k, lakeward_min(v, w), lakeward_count_distinct(v, w) FROM multiset_many GROUP BY k")
    left = "SELECT id % 500 AS k, id DIV 500 AS v FROM range(20000) WHERE id % 3 <> 0"
    theirs = spark.sql(f"SELECT k, MIN(v), COUNT(DISTINCT v) FROM ({left}) GROUP BY k")
    assert sorted(map(tuple, mine.collect())) == sorted(map(tuple, theirs.collect()))


@pytest.mark.covering("v-")
@pytest.mark.parametrize(
    ("value", "state"),
    [("v", "01 00 01 97 ef 02 00 00 01 02 03"), ("s", "01 ca d5 60 11 02 06 68 c3 a9 03")],
)
def test_the_bytes_of_a_state_stay_as_they_are(
    value: str, state: str, spark: SparkSession, changes: FileStream
) -> None:
    """Version, hash of the type's name, how many; then each value with its count, -2 as 3."""
    changes.stream().createOrReplaceTempView("multiset_bytes")
    changes.drop([{"k": 1, "v": 258, "s": "hé", "w": -2}])
    changes.run(spark.sql(f"SELECT k, lakeward_min({value}, w) FROM multiset_bytes GROUP BY k"))
    (row,) = spark.read.format("statestore").load(changes.checkpoint).select("value.*").collect()
    assert bytes(row[0]).hex(" ") == state


def test_a_state_of_another_type_is_refused(spark: SparkSession, changes: FileStream) -> None:
    """Spark sees bytes in both; read as another type they would be other numbers."""
    changes.stream().createOrReplaceTempView("multiset_changed")
    changes.drop([{"k": 1, "v": 1, "w": 1}])
    changes.run(spark.sql("SELECT k, lakeward_min(v, w) FROM multiset_changed GROUP BY k"))
    changes.drop([{"k": 1, "v": 2, "w": 1}])
    with pytest.raises(PySparkException, match="values of another type than bigint; begin with a new checkpoint"):
        changes.run(spark.sql("SELECT k, lakeward_min(BIGINT(v), w) FROM multiset_changed GROUP BY k"))


def test_a_group_of_too_many_values_is_refused(spark: SparkSession) -> None:
    """The limit is a setting, and the error names it."""
    setting = "spark.lakeward.aggregate.values.max"
    try:
        spark.conf.set(setting, "100")
        few = spark.sql("SELECT lakeward_max(id % 100, 1) FROM range(1000)").collect()
        assert few[0][0] == 99
        with pytest.raises(PySparkException, match=f"more than 100 different values in one group.*{setting}"):
            spark.sql("SELECT lakeward_max(id, 1) FROM range(1000)").collect()
        spark.conf.set(setting, "many")
        with pytest.raises(PySparkException, match="must be a number from 1 to 999999999, not 'many'"):
            spark.sql("SELECT lakeward_max(id, 1) FROM range(1000)")
    finally:
        spark.conf.unset(setting)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("lakeward_min(id)", "a value and a weight are expected"),
        ("lakeward_count_distinct(1L)", "one or more values and a weight are expected"),
        ("lakeward_min(id, 1.5)", "the weight must be a BIGINT"),
        ("lakeward_max(map(id, 1), 1)", "does not support ordering"),
        ("lakeward_count_distinct(array(map(id, 1)), 1)", "maps cannot be compared"),
        ("lakeward_count_distinct(parse_json('1'), 1)", "does not support ordering"),
        ("lakeward_count_distinct(string(id) COLLATE UTF8_LCASE, 1)", r"give collation_key\(value\)"),
    ],
)
def test_calls_that_mean_nothing_are_refused(call: str, sentence: str, spark: SparkSession) -> None:
    """Before anything runs, with what was expected."""
    with pytest.raises(PySparkException, match=sentence):
        spark.sql(f"SELECT {call} FROM range(3)")


def test_an_empty_input_has_no_least_value_and_no_values(spark: SparkSession) -> None:
    """As Spark's own aggregates have it."""
    query = "SELECT lakeward_min(id, 1), lakeward_max(id, 1), lakeward_count_distinct(id, 1) FROM range(3) WHERE id > 9"
    assert [tuple(row) for row in spark.sql(query).collect()] == [(None, None, 0)]
