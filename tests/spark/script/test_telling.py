"""SHOW, DESCRIBE and EXPLAIN; views that change; what is refused in our own words."""

from __future__ import annotations

import pytest
from script_bench import Bench
from server_process import ServerProcess

from lakeward.language.place import Place, ScriptError


def test_columns_and_partitions_are_shown(bench: Bench) -> None:
    """By pattern, and by some of the partition's keys."""
    bench.run(
        "CREATE TABLE days (id BIGINT, dt STRING, hr STRING, twice AS id * 2) PARTITIONED BY (dt, hr);"
        "ALTER TABLE days ADD PARTITION (dt = 'a', hr = '1') PARTITION (dt = 'a', hr = '2');"
        "INSERT INTO days VALUES (1, 'b', '1')"
    )
    assert bench.rows("SHOW PARTITIONS days") == [("dt=a/hr=1",), ("dt=a/hr=2",), ("dt=b/hr=1",)]
    assert bench.rows("SHOW PARTITIONS days PARTITION (hr = '1')") == [("dt=a/hr=1",), ("dt=b/hr=1",)]
    bench.run("ALTER TABLE days DROP PARTITION (dt = 'a', hr = '1'), PARTITION (dt = 'a', hr = '2')")
    assert bench.rows("SHOW PARTITIONS days") == [("dt=b/hr=1",)]
    assert [row[:2] for row in bench.rows("SHOW COLUMNS FROM days")] == [
        ("dt", "STRING"),
        ("hr", "STRING"),
        ("id", "BIGINT"),
        ("twice", ""),
    ]
    assert [row[0] for row in bench.rows("SHOW COLUMNS IN days NOT LIKE '%r'")] == ["dt", "id", "twice"]
    bench.run("CREATE TABLE plain (id BIGINT)")
    with pytest.raises(ScriptError, match=r"plain has no partitions that could be shown\."):
        bench.run("SHOW PARTITIONS plain")


def test_catalogs_and_databases_are_described(bench: Bench, server: ServerProcess) -> None:
    """Their options with EXTENDED; a database that there is not is named."""
    bench.run("CREATE DATABASE told COMMENT 'of orders' WITH ('owner' = 'me')")
    assert dict(bench.rows("DESCRIBE CATALOG here")) == {"name": "here", "type": "fluss", "default database": "fluss"}
    assert ("option:bootstrap.servers", server.bootstrap) in bench.rows("DESC CATALOG EXTENDED here")
    assert bench.rows("SHOW CREATE CATALOG here") == [
        (f"CREATE CATALOG `here` WITH (\n  'type' = 'fluss',\n  'bootstrap.servers' = '{server.bootstrap}'\n)",)
    ]
    assert dict(bench.rows("DESCRIBE DATABASE EXTENDED here.told")) == {
        "catalog": "here",
        "name": "told",
        "comment": "of orders",
        "option:owner": "me",
    }
    assert ("name", "default_database") in bench.rows("DESCRIBE DATABASE default_catalog.default_database")
    with pytest.raises(ScriptError, match=r"there is no database here\.nowhere; there are") as wrong:
        bench.run("DESCRIBE DATABASE nowhere")
    assert wrong.value.place == Place(1, 19)
    bench.run("DROP DATABASE told")


def test_functions_of_users_are_not_ours(bench: Bench) -> None:
    """What we put into the session is nobody's concern."""
    bench.run("CREATE TEMPORARY FUNCTION f(x INT) RETURNS INT RETURN x + 1")
    shown = bench.rows("SHOW USER FUNCTIONS")
    assert [name for (name,) in shown if "lakeward" in name] == []
    assert any(name.endswith("f") for (name,) in shown)
    bench.run("DROP TEMPORARY FUNCTION f")


def test_a_view_is_renamed_and_written_anew(bench: Bench) -> None:
    """Temporary or not; SHOW CREATE VIEW gives a statement that makes it again."""
    bench.run(
        "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 2);"
        "CREATE TEMPORARY VIEW v (x, y) COMMENT 'both' AS SELECT a, b FROM t;"
        "CREATE VIEW w AS SELECT a FROM t"
    )
    assert bench.rows("SHOW CREATE VIEW v") == [
        ("CREATE TEMPORARY VIEW v (`x`, `y`) COMMENT 'both' AS\nSELECT a, b FROM t",)
    ]
    bench.run("ALTER VIEW v RENAME TO u; ALTER VIEW w AS SELECT b AS c FROM t")
    assert bench.rows("SELECT x, y FROM u") == [(1, 2)]
    assert bench.rows("SELECT c FROM w") == [(2,)]
    assert bench.rows("SHOW VIEWS") == [("u",), ("w",)]
    for statement, sentence in (
        ("ALTER VIEW v RENAME TO x", "there is no table 'v'"),
        ("ALTER VIEW t RENAME TO x", "t is a table: say ALTER TABLE"),
        ("ALTER VIEW u RENAME TO t", "there is a table or view .*t already"),
    ):
        with pytest.raises(ScriptError, match=sentence):
            bench.run(statement)


def test_a_change_that_cannot_be_made_points_at_its_clause(bench: Bench) -> None:
    """In our words, and the table stays as it is."""
    bench.run("CREATE TABLE t (a INT, b INT)")
    with pytest.raises(ScriptError, match="DROP of a column cannot be done") as wrong:
        bench.run("ALTER TABLE t\n  DROP b")
    assert wrong.value.place == Place(2, 8)
    assert [row[0] for row in bench.rows("DESCRIBE t")] == ["a", "b"]


def test_a_table_is_replaced_but_not_by_itself(bench: Bench) -> None:
    """It would be gone before its rows are read."""
    bench.run(
        "CREATE TABLE t (a INT); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a FROM t;"
        "CREATE TABLE s (a INT); INSERT INTO s VALUES (7); SET 'execution.runtime-mode' = 'batch'"
    )
    for query in ("SELECT a FROM t", "SELECT s.a FROM s JOIN v ON s.a = v.a"):
        with pytest.raises(ScriptError, match="which it replaces: it would be dropped before its rows are read"):
            bench.run(f"REPLACE TABLE t AS {query}")
    assert bench.table("t") == [(1,)]
    bench.run("REPLACE TABLE t AS SELECT a, a + 1 AS b FROM s")
    assert bench.table("t") == [(7, 8)]


def test_a_statement_set_is_explained(bench: Bench) -> None:
    """Each of its inserts."""
    bench.run("CREATE TABLE t (a INT); CREATE TABLE u (a INT); CREATE TABLE v (a INT)")
    lines = [
        line
        for (line,) in bench.rows(
            "EXPLAIN STATEMENT SET BEGIN INSERT INTO u SELECT a FROM t; INSERT INTO v SELECT a + 1 FROM t; END"
        )
    ]
    assert [line for line in lines if line.startswith("== INSERT")] == ["== INSERT INTO u ==", "== INSERT INTO v =="]


def test_a_time_zone_has_to_be_one(bench: Bench) -> None:
    """A name that is none is refused where it is set."""
    with pytest.raises(ScriptError, match="'Mars/X' is no time zone"):
        bench.run("SET 'table.local-time-zone' = 'Mars/X'")
    bench.run("SET 'table.local-time-zone' = '+02:00'; RESET 'table.local-time-zone'")


def test_current_names_are_the_script_s(bench: Bench) -> None:
    """And not those of Spark's own catalog."""
    assert bench.rows("SELECT CURRENT_DATABASE(), CURRENT_CATALOG") == [(bench.database, "here")]
    (outcome,) = bench.run("SELECT CURRENT_DATABASE()")
    assert outcome.rows().column_names == ["EXPR$0"]


def test_a_function_that_there_is_not_is_named(bench: Bench) -> None:
    """With one that is like it, and without Spark's ways to look for it."""
    with pytest.raises(ScriptError) as wrong:
        bench.run("SELECT 1,\n  CHAR_LENGHT('x')")
    assert (wrong.value.place, wrong.value.sentence) == (
        Place(2, 3),
        "there is no function `CHAR_LENGHT`; did you mean CHAR_LENGTH?",
    )


def test_a_column_that_is_not_grouped_by_is_told_without_a_plan(bench: Bench) -> None:
    """Spark prints its tree behind the sentence."""
    with pytest.raises(ScriptError, match="not participating in the GROUP BY") as wrong:
        bench.run("SELECT g, COUNT(*) FROM (VALUES ('a', 1)) AS t (g, n) GROUP BY n")
    assert "Aggregate" not in wrong.value.sentence


def test_a_catalog_in_use_stays(bench: Bench) -> None:
    """As in Flink."""
    with pytest.raises(ScriptError, match="the catalog here is in use: say USE CATALOG default_catalog first"):
        bench.run("DROP CATALOG here")
    bench.run("USE CATALOG default_catalog; DROP CATALOG here")
    with pytest.raises(ScriptError, match="no catalog 'here'"):
        bench.run("USE CATALOG here")
    bench.restart()


def test_a_definition_that_is_forgotten_says_what_stays(bench: Bench) -> None:
    """And how that is dropped, which makes room for another table."""
    bench.run(
        f"USE CATALOG default_catalog; CREATE DATABASE {bench.database}; USE {bench.database}; CREATE TABLE t (a INT)"
    )
    with pytest.raises(ScriptError, match=r"is there already, and is another: its columns are a INT, not a BIGINT\."):
        bench.run("CREATE TABLE t (a BIGINT)")
    (outcome,) = bench.run("DROP TABLE t")
    way = f"DROP TABLE fluss.{bench.database}.t"
    full = f"default_catalog.{bench.database}.t"
    assert outcome.notices == (f"{full} is forgotten; table {bench.database}.t stays on the cluster: {way} drops it.",)
    with pytest.raises(ScriptError, match=f"or drop it: {way}\\."):
        bench.run("CREATE TABLE t (a BIGINT)")
    bench.run(f"{way}; CREATE TABLE t (a BIGINT); {way}; USE CATALOG here")


def test_an_update_cuts_no_fraction_unasked(bench: Bench) -> None:
    """As an INSERT does not."""
    bench.run("CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED); INSERT INTO t VALUES (1, 2)")
    with pytest.raises(ScriptError, match=r"column 'v' of .* is INT, and the query gives DECIMAL.*: say CAST") as wrong:
        bench.run("UPDATE t SET v = v * 1.9 WHERE id = 1")
    assert wrong.value.place == Place(1, 18)
    bench.run("UPDATE t SET v = CAST(v * 1.9 AS INT) WHERE id = 1")
    assert bench.table("t") == [(1, 3)]


def test_a_streaming_select_shows_its_first_rows(bench: Bench) -> None:
    """ORDER BY and LIMIT are of what is shown; by another column they are refused."""
    bench.run(
        "CREATE TABLE t (id INT, g STRING, PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'b'), (4, 'c'), (5, 'c'), (6, 'c');"
        "SET 'execution.runtime-mode' = 'streaming'"
    )
    (outcome,) = bench.script.run("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY 2 DESC, g LIMIT 2")
    live = outcome.live
    assert live is not None
    assert live.query is not None
    live.query.processAllAvailable()
    assert live.rows == [("c", 3), ("b", 2)]
    live.stop()
    with pytest.raises(ScriptError, match="names a column that is shown, or its number: g, n") as wrong:
        bench.script.run("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY id LIMIT 2")
    assert wrong.value.place == Place(1, 52)
    bench.run("SET 'execution.runtime-mode' = 'automatic'")
