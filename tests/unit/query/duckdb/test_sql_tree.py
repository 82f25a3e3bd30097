"""What a SELECT wants of its tables."""

from __future__ import annotations

import datetime as dt

import pytest

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.query.duckdb.sql_tree import SqlTree, TableRef, error_position, where_filters
from lakeward.query.request.filters import And, Compare, Filter, In, IsNull, Or

SCHEMA = Schema.of(*parse_columns("id BIGINT, Name STRING, dt DATE, amount DOUBLE, made TIMESTAMP(3)"))


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT count(*) FROM t", ()),
        ("SELECT name FROM t WHERE id > 1", ("id", "Name")),
        ("SELECT * FROM t", SCHEMA.names),
        ("SELECT t FROM t", SCHEMA.names),
        ("SELECT o.id FROM t o JOIN u USING (dt)", ("id", "dt")),
        ("SELECT COLUMNS('a.*') FROM t", SCHEMA.names),
        ("SELECT sum(x.amount) FROM (SELECT amount, id FROM t) x", ("id", "amount")),
        ("SELECT id FROM t NATURAL JOIN u", SCHEMA.names),
    ],
)
def test_columns_that_a_query_may_look_at(sql: str, columns: tuple[str, ...]) -> None:
    """None that it needs is missing."""
    assert SqlTree(sql).columns(SCHEMA) == columns


def test_where_a_text_makes_no_sense() -> None:
    """Where DuckDB says so; of some texts it does not."""
    assert error_position("SELECT 1 FRM t x") == 13
    assert error_position("SELECT U&'d'") is None
    assert error_position("SELECT 1") is None


def test_tables_but_not_names_of_its_own() -> None:
    """WITH makes names that are no tables; a table that is named twice is there twice."""
    tree = SqlTree('WITH w AS (SELECT * FROM shop.orders) SELECT * FROM w, t a, t b, shop."orders$lake"')
    orders, short = TableRef("shop", "orders"), TableRef("", "t")
    assert sorted(tree.tables(), key=str) == sorted([orders, short, short, TableRef("shop", "orders$lake")], key=str)


@pytest.mark.parametrize(
    ("sql", "times"),
    [
        ("WITH t AS (SELECT 1) SELECT * FROM t", 0),
        ("WITH T AS (SELECT * FROM t) SELECT * FROM t", 1),
        ("WITH a AS (SELECT * FROM t), t AS (SELECT * FROM a) SELECT * FROM a, t", 1),
        ("WITH t AS (SELECT 1), a AS (SELECT * FROM t) SELECT * FROM (SELECT * FROM a, t)", 0),
        ("SELECT (WITH t AS (SELECT 1) SELECT count(*) FROM t) FROM t", 1),
        ("SELECT * FROM (WITH t AS (SELECT 1) SELECT * FROM t), t", 1),
        ("WITH t AS (SELECT 1) SELECT (SELECT max(x) FROM t) UNION ALL SELECT * FROM t", 0),
        ("WITH RECURSIVE t AS (SELECT 1 n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t", 0),
        ("WITH RECURSIVE t AS (SELECT n FROM t UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t", 1),
    ],
)
def test_a_with_hides_a_table_only_where_it_is_seen(sql: str, times: int) -> None:
    """In its own text, before it and beside it the name is the table's, as DuckDB and Postgres have it."""
    assert SqlTree(sql).tables() == [TableRef("", "t")] * times


@pytest.mark.parametrize(
    ("where", "filters"),
    [
        ("id = 5 AND name <> 'x'", (Compare("=", "id", 5), Compare("<>", "Name", "x"))),
        ("5 < id", (Compare(">", "id", 5),)),
        ("dt >= DATE '2026-11-01'", (Compare(">=", "dt", dt.date(2026, 11, 1)),)),
        ("dt = '2026-11-01'", (Compare("=", "dt", dt.date(2026, 11, 1)),)),
        ("made < '2026-11-01 10:00'", (Compare("<", "made", dt.datetime(2026, 11, 1, 10)),)),
        ("id IN (1, 2)", (In("id", (1, 2)),)),
        ("id BETWEEN 1 AND 2", (Compare(">=", "id", 1), Compare("<=", "id", 2))),
        ("name IS NULL OR id = 1", (Or((IsNull("Name"), Compare("=", "id", 1))),)),
        ("name IS NULL OR lower(name) = 'x'", ()),
        ("lower(name) = 'x' AND id = 1", (Compare("=", "id", 1),)),
        ("id = 1.5", ()),
        ("amount > 5", ()),
        ("id = NULL", ()),
        ("id = 1 OR (id = 2 AND name = 'x')", None),
    ],
)
def test_conditions_that_make_a_read_smaller(where: str, filters: tuple[Filter, ...] | None) -> None:
    """What is understood exactly; the rest is left to DuckDB."""
    found = where_filters(where, SCHEMA)
    if filters is None:
        filters = (Or((Compare("=", "id", 1), And((Compare("=", "id", 2), Compare("=", "Name", "x"))))),)
    assert found == filters


def test_no_filters_where_a_table_is_not_the_only_one() -> None:
    """A condition of a join, or of a query around another, is not the table's."""
    assert SqlTree("SELECT * FROM t JOIN u USING (id) WHERE t.id = 1").filters(SCHEMA) == ()
    assert SqlTree("SELECT * FROM (SELECT id + 1 AS id FROM t) WHERE id = 1").filters(SCHEMA) == ()
    assert SqlTree("SELECT * FROM t WHERE id = (SELECT max(id) FROM t)").filters(SCHEMA) == ()


@pytest.mark.parametrize("sql", ["SELEC", "DELETE FROM t", "SELECT 1; SELECT 2", ""])
def test_what_is_no_query_is_refused(sql: str) -> None:
    """One SELECT, nothing else."""
    with pytest.raises(LakewardError, match=r"no query|One query"):
        SqlTree(sql)


@pytest.mark.parametrize("where", ["id IN (SELECT id FROM u)", "id > 5 LIMIT 1", "id > 5 GROUP BY id"])
def test_what_is_more_than_a_condition_is_refused(where: str) -> None:
    """A plan would pass it over."""
    with pytest.raises(LakewardError, match="one condition on a row"):
        where_filters(where, SCHEMA)


def test_a_condition_on_a_column_that_is_not_there() -> None:
    """It is named, with those that are."""
    with pytest.raises(LakewardError, match="no column 'nope'; there are id, Name"):
        where_filters("nope = 1", SCHEMA)


@pytest.mark.parametrize(
    "where",
    [
        "r.a = 5",
        "s < DATE '2026-01-01'",
        "ts < '2026-01-01 00:00:00.123456789'",
        "ts < TIMESTAMP '2026-01-01 00:00:00.123456789'",
        "ts = DATE '2026-01-01 12:00:00'",
        "d < TIMESTAMP '2026-01-01 12:00:00'",
    ],
)
def test_conditions_that_duckdb_compares_in_another_way(where: str) -> None:
    """A field of a ROW with a column's name, a text compared as a day, digits that Python would cut off."""
    columns = parse_columns("a INT, r ROW<a INT>, s STRING, ts TIMESTAMP(9), d DATE")[0]
    assert where_filters(where, Schema.of(columns)) == ()


def test_a_text_with_quotes_and_a_nul_is_read_as_it_stands() -> None:
    """Quotes are part of a text, and it ends where C ends it."""
    assert [ref.name for ref in SqlTree("SELECT 'it''s' AS \"a'b\" FROM t WHERE x = '''' \0 rest").tables()] == ["t"]
