"""Queries as trees."""

from __future__ import annotations

import pytest
from sqlglot import exp

from lakeward.language.grammar import parse_script, place_of
from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import Select, SparkStatement


def query(text: str) -> exp.Query:
    """The one query of a script."""
    (statement,) = parse_script(text)
    assert isinstance(statement, Select)
    return statement.query


def expression(text: str) -> exp.Expr:
    """An expression that is selected."""
    return query(f"SELECT {text} FROM t").selects[0]


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A function as it is called."""
    return exp.Anonymous(this=name, expressions=list(arguments))


A, B = exp.column("a"), exp.column("b")
ONE = exp.Literal.number(1)


@pytest.mark.parametrize(
    "name",
    [
        *("UPPER", "date_format", "LEFT", "REPLACE", "IF", "COALESCE", "DATE", "TIMESTAMP", "MAP", "ARRAY", "ROW"),
        *("STRUCT", "TUMBLE", "HOP", "SESSION", "TRANSFORM", "LISTAGG", "PERCENTILE", "JSON_VALUE", "SUBSTRING"),
        *("TRIM", "CEIL", "OVERLAY", "POSITION", "FIRST", "TRUNCATE", "CHAR_LENGTH", "CONVERT", "DECODE", "CHR"),
        *("LOG", "YEAR", "MOD", "CONCAT_WS", "REGEXP_EXTRACT", "TO_DATE", "UNIX_TIMESTAMP", "SPLIT", "EXPLODE"),
    ],
)
def test_every_function_is_a_call_as_it_is_written(name: str) -> None:
    """Nothing is made of it that one would have to undo."""
    assert expression(f"{name}(a, b)") == call(name, A, B)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CURRENT_TIMESTAMP", "CURRENT_TIMESTAMP"),
        ("current_date", "CURRENT_DATE"),
        ("LOCALTIMESTAMP", "LOCALTIMESTAMP"),
        ("CURRENT_TIME", "CURRENT_TIME"),
        ("PROCTIME()", "PROCTIME"),
    ],
)
def test_functions_without_arguments_are_calls_too(text: str, name: str) -> None:
    """With brackets or without."""
    assert expression(text) == call(name)


def test_aggregates() -> None:
    """A star, DISTINCT, FILTER and OVER are around or inside the call."""
    assert expression("COUNT(*)") == call("COUNT", exp.Star())
    assert expression("COUNT(DISTINCT a, b)") == call("COUNT", exp.Distinct(expressions=[A, B]))
    filtered = expression("SUM(a) FILTER (WHERE b > 1)")
    assert isinstance(filtered, exp.Filter)
    assert filtered.this == call("SUM", A)
    window = expression("SUM(a) OVER (PARTITION BY b ORDER BY c)")
    assert isinstance(window, exp.Window)
    assert window.this == call("SUM", A)


def test_functions_with_words_between_their_arguments_are_nodes_of_sqlglot() -> None:
    """There is no other way to write them down."""
    assert isinstance(expression("CAST(a AS BIGINT)"), exp.Cast)
    assert isinstance(expression("TRY_CAST(a AS BIGINT)"), exp.TryCast)
    assert isinstance(expression("EXTRACT(HOUR FROM a)"), exp.Extract)
    assert isinstance(expression("TRIM(BOTH 'x' FROM a)"), exp.Trim)
    assert isinstance(expression("SUBSTRING(a FROM 2 FOR 3)"), exp.Substring)
    assert isinstance(expression("POSITION('x' IN a)"), exp.StrPosition)
    assert isinstance(expression("OVERLAY(a PLACING b FROM 1)"), exp.Overlay)
    assert isinstance(expression("CEIL(a TO DAY)"), exp.Ceil)
    assert isinstance(expression("FLOOR(a TO HOUR)"), exp.Floor)
    assert isinstance(expression("JSON_VALUE(a, '$.x' RETURNING INT)"), exp.JSONValue)
    assert isinstance(expression("CASE WHEN a THEN b END"), exp.Case)


def test_arrays_maps_and_rows() -> None:
    """Square brackets make calls, or take an element."""
    assert expression("ARRAY[a, b]") == call("ARRAY", A, B)
    assert expression("MAP['k', a]") == call("MAP", exp.Literal.string("k"), A)
    assert expression("ROW(a, b)") == call("ROW", A, B)
    assert expression("ARRAY[a, b][1]") == exp.Bracket(this=call("ARRAY", A, B), expressions=[ONE])
    assert expression("array(a, b)[1]") == exp.Bracket(this=call("array", A, B), expressions=[ONE])
    assert expression("a[1]") == exp.Bracket(this=A, expressions=[ONE])


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("INTERVAL '5' SECOND", "5", "SECOND"),
        ("INTERVAL 5 MINUTES", "5", "MINUTES"),
        ("INTERVAL '1:30' HOUR TO MINUTE", "1:30", "HOUR TO MINUTE"),
        ("INTERVAL '1 02:03:04' DAY TO SECOND", "1 02:03:04", "DAY TO SECOND"),
    ],
)
def test_intervals(text: str, value: str, unit: str) -> None:
    """The number as text, and its unit."""
    interval = expression(text)
    assert isinstance(interval, exp.Interval)
    assert (interval.this.name, interval.args["unit"].sql()) == (value, unit)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("TIMESTAMP(3)", "TIMESTAMP(3)"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMPLTZ(3)"),
        ("VARCHAR(10)", "VARCHAR(10)"),
        ("BYTES", "VARBINARY"),
        ("ROW<a INT, b ARRAY<STRING NOT NULL>>", "STRUCT<a INT, b ARRAY<TEXT>>"),
        ("ROW(a INT)", "STRUCT<a INT>"),
        ("MAP<STRING, ROW<x DECIMAL(3, 1)>>", "MAP<TEXT, STRUCT<x DECIMAL(3, 1)>>"),
    ],
)
def test_types_of_a_cast(text: str, type_: str) -> None:
    """As sqlglot names them; lengths and precisions are kept."""
    cast = expression(f"CAST(a AS {text})")
    assert isinstance(cast, exp.Cast)
    assert cast.to.sql() == type_


def test_literals_with_a_type() -> None:
    """DATE '…' and TIMESTAMP '…' are casts of a text."""
    for text, type_ in (("DATE '2026-01-02'", "DATE"), ("TIMESTAMP '2026-01-02 03:04:05'", "TIMESTAMP")):
        literal = expression(text)
        assert isinstance(literal, exp.Cast)
        assert (literal.to.sql(), literal.this.name) == (type_, text.split("'")[1])


@pytest.mark.parametrize(
    "text",
    [
        "users FOR SYSTEM_TIME AS OF o.ts AS u",
        "users FOR SYSTEM_TIME AS OF o.ts u",
        "users AS u FOR SYSTEM_TIME AS OF o.ts",
    ],
)
@pytest.mark.parametrize(
    "join", ["o LEFT JOIN {} ON o.id = u.id", "o JOIN {} ON o.id = u.id", "o, {} WHERE o.id = u.id"]
)
def test_system_time_is_the_version_of_its_table(text: str, join: str) -> None:
    """Before the alias or behind it, in a join or behind a comma."""
    table = next(t for t in query(f"SELECT * FROM {join.format(text)}").find_all(exp.Table) if t.name == "users")
    assert table.alias == "u"
    version = table.args["version"]
    assert isinstance(version, exp.Version)
    assert version.expression == exp.column("ts", table="o")


@pytest.mark.parametrize(
    "text",
    [
        "t /*+ OPTIONS('a' = 'b', 'c' = 'd') */ AS u",
        "t AS u /*+ OPTIONS('a'='b','c'='d') */",
        "t /*+options('a'='b', 'c'='d')*/ u",
    ],
)
def test_a_hint_is_its_table_s_options(text: str) -> None:
    """Before the alias or behind it."""
    (table,) = query(f"SELECT * FROM {text} WHERE a = 1").find_all(exp.Table)
    assert table.meta["options"] == {"a": "b", "c": "d"}
    assert table.alias == "u"


def test_a_hint_of_spark_s_stays_with_its_select() -> None:
    """And one that nobody knows where it stands is a comment."""
    assert query("SELECT /*+ BROADCAST(u) */ a FROM t /*+ x */").sql() == "SELECT /*+ BROADCAST(u) */ a FROM t"


@pytest.mark.parametrize(
    ("text", "kind", "intervals", "partition"),
    [
        ("TUMBLE(TABLE c.d.t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "TUMBLE", ["5"], []),
        ("tumble(table t, descriptor(`ts`), interval '5' minute, interval '1' minute)", "TUMBLE", ["5", "1"], []),
        ("HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)", "HOP", ["1", "5"], []),
        (
            "HOP(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '5' DAY, SLIDE => INTERVAL '1' DAY)",
            "HOP",
            ["1", "5"],
            [],
        ),
        ("SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "SESSION", ["5"], ["k"]),
        ("SESSION(TABLE t PARTITION BY (k, l), DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "SESSION", ["5"], ["k", "l"]),
        ("SESSION(TABLE t PARTITION BY k, l, DESCRIPTOR(ts), INTERVAL '5' MINUTE)", "SESSION", ["5"], ["k", "l"]),
        ("CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE)", "CUMULATE", ["2", "10"], []),
    ],
)
def test_window_tables(text: str, kind: str, intervals: list[str], partition: list[str]) -> None:
    """Arguments by place or by name; intervals in the order of their meaning."""
    (window,) = query(f"SELECT * FROM TABLE({text}) AS w WHERE w.a = 1").find_all(WindowTable)
    assert window.kind == kind
    assert window.this.name == "t"
    assert window.args["time"].name == "ts"
    assert [interval.this.name for interval in window.args["intervals"]] == intervals
    assert [column.name for column in window.args["partition"]] == partition
    assert window.alias == "w"


def test_a_window_table_over_a_query_or_with_a_hint() -> None:
    """Its table may be anything that has rows."""
    window = query("SELECT * FROM TABLE(TUMBLE((SELECT * FROM t), DESCRIPTOR(ts), INTERVAL '5' MINUTE))").find(
        WindowTable
    )
    assert window is not None
    assert isinstance(window.this, exp.Subquery)
    hint = "TABLE t /*+ OPTIONS('a'='b') */"
    window = query(f"SELECT * FROM TABLE(TUMBLE({hint}, DESCRIPTOR(ts), INTERVAL '5' MINUTE))").find(WindowTable)
    assert window is not None
    assert window.this.meta["options"] == {"a": "b"}


def test_window_tables_are_joined_as_any_other() -> None:
    """Two of them in one query."""
    found = query(
        "SELECT * FROM TABLE(TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) x"
        " JOIN TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) y ON x.window_start = y.window_start"
    )
    assert [window.alias for window in found.find_all(WindowTable)] == ["x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT TRANSFORM(a, x -> x + 1), FILTER(a, (x, i) -> i > 0) FROM t",
        "SELECT * FROM t LATERAL VIEW EXPLODE(a) e AS x LATERAL VIEW OUTER POSEXPLODE(b) p AS i, y",
        "SELECT * FROM t TABLESAMPLE (10 PERCENT) AS s",
        "SELECT a, SUM(b) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())",
        "SELECT a, SUM(b) FROM t GROUP BY ROLLUP (a, b)",
        "SELECT * FROM t PIVOT(SUM(x) AS s FOR y IN ('a' AS a, 'b'))",
        "SELECT * FROM t UNPIVOT(v FOR n IN (a, b))",
        "SELECT a FROM t DISTRIBUTE BY a SORT BY b",
        "SELECT * EXCEPT (a) FROM t",
        "SELECT * FROM RANGE(10)",
        "SELECT a || b, a <> b, a IS DISTINCT FROM b, a IN (SELECT c FROM u), a BETWEEN 1 AND 2 FROM t",
        "SELECT * FROM `my-db`.`orders$changelog` AS o CROSS JOIN orders$changelog",
        "SELECT LISTAGG(a, ',') WITHIN GROUP (ORDER BY a) FROM t",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a UNION ALL SELECT 2 ORDER BY 1 LIMIT 3",
        "SELECT t.key, t.value, t.timestamp, date, name, rank, `order` FROM t",
        "SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a FULL OUTER JOIN v USING (b)",
        "SELECT * FROM t CROSS JOIN LATERAL (SELECT * FROM u WHERE u.a = t.a) AS x",
    ],
)
def test_queries_of_spark_come_back_as_they_were(text: str) -> None:
    """The parser reads Spark's SQL, and its generator writes the same."""
    assert query(text).sql("spark") == text


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("a = b IN (1)", "a = (b IN (1))"),
        ("a <> b NOT BETWEEN 1 AND 2", "a <> (NOT b BETWEEN 1 AND 2)"),
        ("a = (b LIKE 'x')", "a = (b LIKE 'x')"),
        ("a + 1 IN (1) AND b = 2", "a + 1 IN (1) AND b = 2"),
    ],
)
def test_a_predicate_that_is_compared_gets_brackets(text: str, bound: str) -> None:
    """Spark would compare first."""
    assert expression(text).sql() == bound


def test_rows_of_values_may_say_row() -> None:
    """ROW(1, 'a') is (1, 'a'): two columns."""
    assert query("VALUES ROW(1, 'a'), (2, 'b')").sql() == "SELECT * FROM (VALUES (1, 'a'), (2, 'b'))"


def test_unnest() -> None:
    """Rows of an array."""
    unnest = query("SELECT x FROM t CROSS JOIN UNNEST(t.a) AS u (x)").find(exp.Unnest)
    assert unnest is not None
    assert unnest.expressions == [exp.column("a", table="t")]
    assert unnest.alias_column_names == ["x"]


def test_a_node_knows_its_place_in_the_script() -> None:
    """Wherever the statement begins."""
    (first, second) = parse_script("SELECT 1;  SELECT a,\n  UPPER(b) FROM t")
    assert isinstance(second, Select)
    assert isinstance(first, Select)
    columns = list(second.query.find_all(exp.Column))
    assert sorted(place_of(second, column) for column in columns) == [Place(1, 19), Place(2, 9)]
    assert place_of(second, second.query.selects[1]) == Place(2, 3)
    assert place_of(first, first.query) == Place(1, 8)


@pytest.mark.parametrize(
    "text",
    ["SELECT v:a.b FROM t", "SELECT TRANSFORM (a) USING 'cat' FROM t", "SELECT ${x}", "SELECT a::VARIANT:b FROM t"],
)
def test_a_query_that_only_spark_reads_is_spark_s(text: str) -> None:
    """It has a word or a sign of Spark's."""
    assert parse_script(text) == (SparkStatement(text=text, place=Place(1, 1)),)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("SELECT a FORM t", Place(1, 10), "'FORM' is not expected here. Did you mean FROM?"),
        ("SELECT a FROM t\nWEHRE a = 1", Place(2, 1), "'WEHRE' is not expected here. Did you mean WHERE?"),
        ("SELECT * FROM t LEFT JION u ON t.a = u.a", Place(1, 22), "'JION' is not expected here. Did you mean JOIN?"),
        ("WITH a AS (SELECT 1) SELCT * FROM a", Place(1, 22), "'SELCT' is not expected here. Did you mean SELECT?"),
        ("SELECT FROM t", Place(1, 8), "expected '*' or a column after SELECT, found 'FROM'."),
        ("SELECT a, FROM t", Place(1, 11), "expected something after ',', found 'FROM'."),
        (
            "SELECT a FROM t WHERE",
            Place(1, 22),
            "expected an expression after 'WHERE', found the end of the statement.",
        ),
        ("SELECT a FROM t GROUP BY", Place(1, 25), "expected a column after GROUP BY, found the end of the statement."),
        ("SELECT a FROM t JOIN", Place(1, 21), "expected a table's name after 'JOIN', found the end of the statement."),
        ("SELECT a FROM t JOIN u ON", Place(1, 26), "expected a condition after ON, found the end of the statement."),
        ("SELECT a FROM t WHERE a = = 1", Place(1, 27), "'=' is not expected here after '='."),
        ("SELECT a b c FROM t", Place(1, 12), "'c' is not expected here after 'b'."),
        ("SELECT UPPER(a 'x') FROM t", Place(1, 16), "expected ')' after 'a', found 'x'."),
        ("SELECT 1,\n CASE WHEN a THEN 1 FROM t", Place(2, 2), "CASE without its END; expected END."),
        ("SELECT CAST(a AS INTT) FROM t", Place(1, 18), "expected a type after 'AS', found 'INTT'."),
        ("SELECT INTERVAL '5' SECND", Place(1, 21), "expected a unit such as SECOND, found 'SECND'."),
        ("SELECT INTERVAL '5' FROM t", Place(1, 21), "expected a unit such as SECOND, found 'FROM'."),
        (
            "SELECT * FROM a.b.c.d",
            Place(1, 21),
            "expected [catalog.][database.]name, which is three names at most, found 'd'.",
        ),
        (
            "SELECT * FROM a LEFT JOIN u FOR SYSTEM_TIME AS OF ON a.x = u.x",
            Place(1, 51),
            "expected a time after AS OF, found 'ON'.",
        ),
        ("SELECT * FROM t /*+ OPTIONS(a='b') */", Place(1, 29), "expected a key in single quotes, found 'a'."),
        (
            "SELECT * FROM t /*+ OPTIONS('a'='b' */",
            Place(1, 36),
            "expected ')' or ',' after the value of 'a', found the end of the hint.",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(TABLE t, ts, INTERVAL '5' MINUTE))",
            Place(1, 37),
            "expected DESCRIPTOR(column), found 'ts'.",
        ),
        (
            "SELECT * FROM TABLE(TUMBLE(t, DESCRIPTOR(ts), INTERVAL '5' MINUTE))",
            Place(1, 28),
            "expected TABLE name as the data of TUMBLE, found 't'.",
        ),
        (
            "SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE))",
            Place(1, 69),
            "expected the size of HOP as an INTERVAL, found ')'.",
        ),
        (
            "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a)",
            Place(1, 17),
            "Spark has no MATCH_RECOGNIZE; expected windows, joins or functions OVER (…) instead.",
        ),
        ("SELECT a FROM t WHERE b = :x", Place(1, 27), "':' is not expected here after '='."),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, place: Place, sentence: str) -> None:
    """Where a person looks, in plain words, without colours."""
    with pytest.raises(ScriptError) as raised:
        parse_script(text)
    assert (raised.value.place, raised.value.sentence) == (place, sentence)
