"""What columns of inner questions are called."""

from __future__ import annotations

import duckdb
import pytest

from lakeward.sql_server.postgres.codec.sql_text import statements_of
from lakeward.sql_server.postgres.inner_names import with_inner_names, with_value_names


def respell(sql: str) -> str:
    """A text with names."""
    return with_inner_names(statements_of(sql)[0]).sql


@pytest.mark.parametrize(
    ("inner", "name"),
    [
        ("count(*)", "count"),
        ("COUNT(DISTINCT a)", "count"),
        ("sum(a) FILTER (WHERE a > 1)", "sum"),
        ("row_number() OVER (ORDER BY a)", "row_number"),
        ("max(a) OVER w", "max"),
        ("date_trunc('day', moment)", "date_trunc"),
        ("coalesce(a, 0)", "coalesce"),
        ("t.a::text", "a"),
        ("CAST(a AS decimal(5, 2))", "a"),
        ("CASE WHEN a > 1 THEN 'x' ELSE 'y' END", "case"),
    ],
)
def test_an_outer_question_finds_a_column_by_the_name_that_postgres_gives_it(inner: str, name: str) -> None:
    """As tools do that wrap one question in another, with the names that they were told."""
    window = " WINDOW w AS (ORDER BY a)" if "OVER w" in inner else ""
    duck = duckdb.connect()
    duck.execute("CREATE TABLE t AS SELECT range::int AS a, now()::timestamp AS moment FROM range(3)")
    assert duck.execute(respell(f'SELECT "{name}" FROM (SELECT {inner} FROM t{window}) x')).fetchall()
    assert duck.execute(respell(f'WITH x AS (SELECT {inner} FROM t{window}) SELECT x."{name}" FROM x')).fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM t",
        "SELECT x FROM (SELECT a AS x, sum(b) AS s, t.*, 1, a + 1, (a), 'f(x)' FROM t) y",
        "SELECT * FROM (SELECT max(a), max(b) FROM t) y",
        "SELECT * FROM (SELECT count, count(*) FROM t GROUP BY 1) y",
        'SELECT "count_star()" FROM (SELECT count(*) FROM t) y',
        "SELECT * FROM (SELECT NOT (a), a::int AS b, f(a) + 1 FROM t) y",
        "SELECT (1",
        "SELECT (SELECT",
    ],
)
def test_what_has_a_name_or_could_be_meant_otherwise_stays(sql: str) -> None:
    """Aliases, names that come twice, and the names that DuckDB gives where somebody uses those."""
    assert respell(sql) == sql


@pytest.mark.parametrize(
    "item",
    [
        "$1",
        "$1::int",
        "[$1]::text[]",
        "a * $1",
        "$1 * t.a",
        "COALESCE($1, 5)",
        "CASE WHEN a > $1 THEN 1 END",
        "(SELECT $1)",
        "$1 || 'x'",
    ],
)
def test_what_is_made_of_a_parameter_is_not_called_by_its_value(item: str) -> None:
    """Else a client that was told of its columns before would take an answer for that of another table."""
    named = with_value_names(statements_of(f"SELECT a, {item} FROM t")[0])
    duck = duckdb.connect()
    duck.execute("CREATE TABLE t AS SELECT range::int AS a FROM range(3)")
    names = [
        [column[0] for column in duck.execute(named.with_values([value])).description] for value in ("NULL", "'7'")
    ]
    assert names[0] == names[1]
    assert names[0][0] == "a"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT $1 AS x, a * $1 AS 'y', $1::int z, max(a + $1) \"m\", x: $1, a, 1 + 1 FROM t WHERE a = $2",
        "SELECT * REPLACE ($1 AS a), t.* EXCLUDE (a), COLUMNS(c -> c = $1) FROM t",
        "SELECT count(*) FROM t WHERE a IN ($1, $2)",
        "SELECT",
        "SELECT $1 AS",
    ],
)
def test_what_has_a_name_or_no_parameter_keeps_it(sql: str) -> None:
    """So does what stands for several columns."""
    assert with_value_names(statements_of(sql)[0]).sql == sql
