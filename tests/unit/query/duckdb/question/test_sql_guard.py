"""What SQL of people at a browser may say."""

from __future__ import annotations

import pytest

from lakeward.errors import LakewardError
from lakeward.query.duckdb.question.question_error import QuestionError
from lakeward.query.duckdb.question.sql_guard import check_condition, check_question

READS = [
    "SELECT 1",
    "FROM shop.orders",
    "VALUES (1), (2)",
    "TABLE shop.orders",
    "EXPLAIN SELECT * FROM shop.orders",
    "WITH big AS (SELECT * FROM shop.orders WHERE price > 5) SELECT count(*) FROM big",
    "SELECT * FROM range(3) r(a), unnest([1, 2]) u(b)",
    "PIVOT shop.orders ON item USING sum(price)",
    "SUMMARIZE shop.orders",
    "DESCRIBE shop.orders",
    "SELECT 1; -- and no more",
]
REFUSED = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "FROM glob('/*')",
    "FROM duckdb_settings()",
    "FROM query('SELECT 1')",
    "SELECT (SELECT max(content) FROM read_text('/etc/passwd'))",
    "WITH a AS (FROM read_parquet('https://example.org/x.parquet')) FROM a",
    "SELECT current_setting('temp_directory')",
    "SELECT json_serialize_plan('FROM read_csv(''/etc/passwd'')')",
    "FROM system.information_schema.tables",
    "SHOW TABLES",
    'FROM (WITH "/tmp/x.csv" AS (SELECT 1) FROM "/tmp/x.csv"), \'/tmp/x.csv\'',
    "FROM (WITH duckdb_settings AS (SELECT 1) FROM duckdb_settings), duckdb_settings",
    "COPY (SELECT 1) TO '/tmp/x.csv'",
    "ATTACH '/tmp/x.db'",
    "INSTALL httpfs",
    "EXPLAIN (costs off) SELECT 1",
    "LOAD httpfs",
    "SET memory_limit = '100GB'",
    "CREATE TABLE t AS SELECT 1",
    "DROP TABLE shop.orders",
    "SELECT 1; SELECT 2",
    "PIVOT shop.orders ON item; COPY (SELECT 1) TO '/tmp/x.csv'",
    "CREATE TABLE t AS SELECT 1; PIVOT shop.orders ON item",
    "",
    ";",
]


@pytest.mark.parametrize("sql", READS)
def test_what_only_reads_tables_may_be_asked(sql: str) -> None:
    """A question over tables, or over rows that it makes itself, passes."""
    check_question(sql)


@pytest.mark.parametrize("sql", REFUSED)
def test_what_reaches_for_files_network_or_settings_is_refused(sql: str) -> None:
    """Nothing but tables of the cluster is read, and nothing is changed."""
    with pytest.raises(LakewardError):
        check_question(sql)


def test_a_refusal_says_where_it_found_what_it_refuses() -> None:
    """People see the place in a long text; that of an EXPLAIN counts from its own beginning."""
    for sql in ("SELECT 'ä', * FROM read_csv('/x')", "EXPLAIN SELECT 'ä', * FROM read_csv('/x')"):
        with pytest.raises(QuestionError, match="no files") as refused:
            check_question(sql)
        assert refused.value.position is not None
        assert sql.encode()[refused.value.position :].startswith(b"read_csv")


@pytest.mark.parametrize(
    "where", ["amount > 10 AND country = 'DE'", "a IS NULL -- all", "lower(name) LIKE '%x'", "true"]
)
def test_a_condition_is_taken(where: str) -> None:
    """What may stand after WHERE and looks at one row."""
    check_condition(where, ("amount", "country", "a", "name"))


@pytest.mark.parametrize(
    "where",
    [
        "nope = 1",
        "amount >",
        "",
        "amount = 1; DROP TABLE t",
        "amount = 1 UNION SELECT 2",
        "amount = 1 LIMIT 5",
        "amount = 1 ORDER BY amount",
        "amount = 1 GROUP BY 1",
        "amount IN (SELECT 1)",
        "amount = (SELECT count(*) FROM read_csv('/etc/passwd'))",
        "current_setting('threads') = '1'",
        "row_number() OVER () < 5",
        "1) OR (1 = 1",
    ],
)
def test_what_is_no_condition_is_refused(where: str) -> None:
    """No query, no second statement, no unknown column."""
    with pytest.raises(LakewardError):
        check_condition(where, ("amount",))
