"""Statements of scripts, by what is there afterwards."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from script_bench import Bench
from server_process import ServerProcess

import lakeward as lw
from lakeward.language.place import Place, ScriptError


def test_a_table_takes_what_its_definition_says(bench: Bench) -> None:
    """Computed columns, LIKE, hints, partial inserts, views with names of their own; DESCRIBE and SHOW tell it."""
    bench.run(
        "CREATE TABLE sold (id BIGINT, price DECIMAL(10, 2), pieces INT, total AS price * pieces, at TIMESTAMP(3),"
        " WATERMARK FOR at AS at - INTERVAL '5' SECOND) COMMENT 'what was sold' WITH ('bucket.num' = '2');"
        "INSERT INTO sold (id, price, pieces) VALUES (1, 2.50, 4), (2, 1.25, 2);"
        "CREATE TABLE again (note STRING) LIKE sold (EXCLUDING OPTIONS);"
        "CREATE VIEW totals (number, amount) AS SELECT id, total FROM sold WHERE pieces > 2;"
    )
    assert bench.rows("SELECT id, total, at FROM sold") == [(1, Decimal("10.00"), None), (2, Decimal("2.50"), None)]
    assert bench.rows("SELECT * FROM totals") == [(1, Decimal("10.00"))]
    assert bench.rows("SELECT id FROM sold /*+ OPTIONS('scan.split.rows' = '1') */ AS s WHERE s.id = 2") == [(2,)]
    described = bench.rows("DESCRIBE again")
    assert [row[:2] for row in described if row[0] in {"note", "price"}] == [
        ("note", "STRING"),
        ("price", "DECIMAL(10, 2)"),
    ]
    assert ("at", "TIMESTAMP(3)", True, "", "", "at - INTERVAL '5' SECOND", "") in described
    assert bench.rows("SHOW TABLES") == [("again",), ("sold",), ("totals",)]
    assert "WATERMARK FOR `at` AS at - INTERVAL '5' SECOND" in bench.rows("SHOW CREATE TABLE sold")[0][0]


def test_a_script_can_be_run_again(bench: Bench) -> None:
    """What is there as it is described is told; what is there and differs is refused by its first difference."""
    create = "CREATE DATABASE twice; CREATE TABLE twice.t (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED)"
    assert [outcome.notices for outcome in bench.run(create)] == [(), ()]
    told = [notice for outcome in bench.run(create) for notice in outcome.notices]
    assert told == ["Database here.twice is there already.", "Table here.twice.t is there already."]
    with pytest.raises(ScriptError, match="v is STRING, not INT"):
        bench.run("CREATE TABLE twice.t (id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    bench.run("DROP TABLE twice.t; DROP DATABASE twice")


@pytest.mark.parametrize(
    ("again", "difference"),
    [
        (
            "CREATE TABLE t (v INT, twice AS v * 3, at TIMESTAMP(3))",
            r"its column is twice AS v \* 2, not twice AS v \* 3",
        ),
        ("CREATE TABLE t (v INT, at TIMESTAMP(3))", r"it has a further column twice AS v \* 2"),
        (
            "CREATE TABLE t (v INT, o BIGINT METADATA FROM 'offset', twice AS v*2, at TIMESTAMP(3))",
            "it has no column o BIGINT METADATA FROM 'offset'",
        ),
        (
            "CREATE TABLE t (v INT, twice AS v * 2, at TIMESTAMP(3), WATERMARK FOR at AS at)",
            "its watermark: none, not FOR at AS at",
        ),
    ],
)
def test_columns_that_are_computed_are_compared_too(bench: Bench, again: str, difference: str) -> None:
    """A script that says other than the table does not go on with the old ones."""
    bench.run("CREATE TABLE t (v INT, twice AS v * 2, at TIMESTAMP(3))")
    bench.run("CREATE TABLE t (v INT, twice AS v*2, at TIMESTAMP(3)); INSERT INTO t (v) VALUES (4)")
    with pytest.raises(ScriptError, match=difference):
        bench.run(again)
    assert bench.rows("SELECT v, twice FROM t") == [(4, 8)]


def test_a_table_like_another_of_the_catalog(bench: Bench) -> None:
    """Columns, key, partitions and options are taken over; rows and place are its own."""
    bench.run(
        "CREATE TABLE a (id BIGINT, v INT, twice AS v * 2, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('bucket.num' = '2', 'table.log.ttl' = '3 d');"
        "INSERT INTO a VALUES (1, 2); CREATE TABLE b LIKE a; INSERT INTO b VALUES (5, 6);"
        "CREATE TABLE c (note STRING) LIKE a (EXCLUDING GENERATED EXCLUDING DISTRIBUTION)"
    )
    assert bench.rows("SELECT * FROM a") == [(1, 2, 4)]
    assert bench.rows("SELECT * FROM b") == [(5, 6, 12)]
    assert "'bucket.num' = '2'" in bench.rows("SHOW CREATE TABLE b")[0][0]
    assert "'table.log.ttl' = '3 d'" in bench.rows("SHOW CREATE TABLE c")[0][0]
    assert [row[0] for row in bench.rows("DESCRIBE c")] == ["id", "note", "v"]


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "CREATE TABLE m (v INT, x STRING METADATA FROM 'y' VIRTUAL)",
            "no METADATA 'y' for column 'x'; there are offset",
        ),
        ("ALTER TABLE t SET ('bucket.num' = '9')", "'bucket.num' is said when a table is made, and cannot be changed"),
        ("ALTER TABLE t SET ('table.name' = 'x.y')", "'table.name' is said by the catalog 'here'"),
    ],
)
def test_what_would_have_no_effect_is_refused(bench: Bench, statement: str, sentence: str) -> None:
    """Rather than told to be done."""
    bench.run("CREATE TABLE t (v INT)")
    with pytest.raises(ScriptError, match=sentence):
        bench.run(statement)


def test_options_of_reads_are_kept_with_the_table(bench: Bench) -> None:
    """As they are when the table is made, and until they are reset."""
    bench.run(
        "CREATE TABLE t (v INT) WITH ('sink.ignore-delete' = 'true'); ALTER TABLE t SET ('scan.split.rows' = '9')"
    )
    told = bench.rows("SHOW CREATE TABLE t")[0][0]
    assert "'scan.split.rows' = '9'" in told
    assert "'sink.ignore-delete' = 'true'" in told
    bench.run("ALTER TABLE t RESET ('scan.split.rows', 'sink.ignore-delete')")
    told = bench.rows("SHOW CREATE TABLE t")[0][0]
    assert "scan.split.rows" not in told
    assert "sink.ignore-delete" not in told


def test_rows_of_primary_key_tables_are_changed(bench: Bench) -> None:
    """Partial inserts, UPDATE, DELETE, MERGE, INSERT OVERWRITE, TRUNCATE; functions are those of the language."""
    bench.run(
        "CREATE TABLE stock (id BIGINT, name STRING, pieces INT, PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO stock VALUES (1, 'pen', 3), (2, 'ink', 5), (3, 'cap', 1);"
        "INSERT INTO stock (id, pieces) VALUES (2, 6);"
        "UPDATE stock SET name = name || IFNULL(CAST(NULL AS STRING), '!') WHERE id = 1;"
        "DELETE FROM stock WHERE CHAR_LENGTH(name) = 3 AND pieces = 1;"
        "MERGE INTO stock AS t USING (SELECT 4 AS id, 'mug' AS name UNION ALL SELECT 2, 'INK') AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)"
    )
    assert bench.table("stock") == [(1, "pen!", 3), (2, "INK", 6), (4, "mug", None)]
    bench.run("INSERT OVERWRITE stock VALUES (9, 'new', 1)")
    assert bench.table("stock") == [(9, "new", 1)]
    bench.run("TRUNCATE TABLE stock")
    assert bench.table("stock") == []


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("SELECT 1, 3.7", "INT, and the query gives DECIMAL(2, 1)"),
        ("SELECT n, d FROM (VALUES (1, CAST(3.7 AS DOUBLE))) AS t (n, d)", "INT, and the query gives DOUBLE"),
    ],
)
def test_a_fraction_is_not_cut_unasked(bench: Bench, rows: str, told: str) -> None:
    """As in Flink: it is to be said with CAST."""
    bench.run("CREATE TABLE whole (id BIGINT, v INT, PRIMARY KEY (id) NOT ENFORCED)")
    with pytest.raises(ScriptError) as wrong:
        bench.run(f"INSERT INTO whole {rows}")
    assert f"column 'v' of here.{bench.database}.whole is {told}: say CAST(… AS INT)" in wrong.value.sentence
    bench.run("INSERT INTO whole SELECT 1, CAST(3.7 AS INT)")
    assert bench.table("whole") == [(1, 3)]


def test_null_in_a_key_is_one_sentence(bench: Bench) -> None:
    """Which column it was, and what to do; nothing is written."""
    bench.run("CREATE TABLE keyed (k1 BIGINT, k2 STRING, v INT, PRIMARY KEY (k1, k2) NOT ENFORCED)")
    with pytest.raises(ScriptError) as wrong:
        bench.run("INSERT INTO keyed VALUES (1, 'a', 1), (CAST(NULL AS BIGINT), 'b', 2)")
    assert wrong.value.sentence == (
        "a row has NULL in column 'k1', which is NOT NULL. Leave such rows out: WHERE k1 IS NOT NULL."
    )
    assert bench.table("keyed") == []


def test_partitions_are_written_and_read(bench: Bench) -> None:
    """A partition is named in the INSERT, or comes with the rows."""
    bench.run(
        "CREATE TABLE days (id BIGINT, dt STRING) PARTITIONED BY (dt);"
        "INSERT INTO days VALUES (1, '2026-01-01');"
        "INSERT INTO days PARTITION (dt = '2026-01-02') SELECT 2;"
    )
    assert bench.table("days") == [(1, "2026-01-01"), (2, "2026-01-02")]


def test_only_the_partition_that_is_named_is_overwritten(bench: Bench) -> None:
    """Without a name those that get rows; the others stay. Without rows, the one that is named is empty."""
    bench.run(
        "CREATE TABLE visits (id BIGINT, page STRING, dt STRING, n INT) PARTITIONED BY (dt, n);"
        "INSERT INTO visits VALUES (1, 'a', '2026-01-01', 1), (2, 'b', '2026-01-01', 2), (3, 'c', '2026-01-02', 1);"
        "INSERT OVERWRITE visits PARTITION (dt = '2026-01-01', n = 1) (id, page) SELECT 4, 'd'"
    )
    kept = [(2, "b", "2026-01-01", 2), (3, "c", "2026-01-02", 1)]
    assert bench.table("visits") == [*kept, (4, "d", "2026-01-01", 1)]
    bench.run("INSERT OVERWRITE visits VALUES (5, 'e', '2026-01-01', 1)")
    assert bench.table("visits") == [*kept, (5, "e", "2026-01-01", 1)]
    bench.run("INSERT OVERWRITE visits PARTITION (dt = '2026-01-01') SELECT 6, 'f', 3")
    assert bench.table("visits") == [kept[1], (6, "f", "2026-01-01", 3)]
    bench.run("INSERT OVERWRITE visits PARTITION (dt = '2026-01-02', n = 1) SELECT 7, 'g' WHERE FALSE")
    assert bench.table("visits") == [(6, "f", "2026-01-01", 3)]


@pytest.mark.long
def test_times_are_cut_to_their_columns(bench: Bench) -> None:
    """Down, before 1970 too; now, a literal, a column of more digits; not so where the script says that it matters."""
    bench.run(
        "CREATE TABLE fine (id BIGINT, ts TIMESTAMP(6), PRIMARY KEY (id) NOT ENFORCED);"
        "CREATE TABLE coarse (id BIGINT, ts TIMESTAMP(3), at TIMESTAMP_LTZ(0), PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO fine VALUES (1, TIMESTAMP '2026-01-01 00:00:00.123456'),"
        " (2, TIMESTAMP '1969-12-31 23:59:59.999999');"
        "SET 'execution.runtime-mode' = 'batch';"
        "INSERT INTO coarse SELECT id, ts, TO_TIMESTAMP_LTZ(1500, 3) FROM fine;"
        "INSERT INTO coarse SELECT 3, LOCALTIMESTAMP, CURRENT_TIMESTAMP"
    )
    first, second, third = bench.table("coarse")
    assert first[1] == datetime(2026, 1, 1, microsecond=123000)
    assert second[1] == datetime(1969, 12, 31, 23, 59, 59, 999000)
    assert (third[1].microsecond % 1000, third[2].microsecond) == (0, 0)
    with pytest.raises(Exception, match="does not fit without loss"):
        bench.run("INSERT INTO coarse /*+ OPTIONS('sink.timestamps.cut' = 'false') */ SELECT id, ts, NULL FROM fine")


def test_windows_of_moments_begin_by_the_local_clock(bench: Bench) -> None:
    """A day of Berlin begins at its midnight, an hour of India at half past in UTC; so they do for CUMULATE."""
    rows = ", ".join(f"({at}, TO_TIMESTAMP_LTZ({at}000, 3))" for at in (1704063600, 1704067199, 1704067200))
    bench.run(
        f"CREATE VIEW moments AS SELECT * FROM (VALUES {rows}) AS x (id, t);"
        "SET 'table.local-time-zone' = 'Europe/Berlin'"
    )
    day = (datetime(2024, 1, 1), 3)
    grouped = "GROUP BY TUMBLE(t, INTERVAL '1' DAY)"
    assert bench.rows(f"SELECT TUMBLE_START(t, INTERVAL '1' DAY), COUNT(*) FROM moments {grouped}") == [day]
    table = "TABLE(TUMBLE(TABLE moments, DESCRIPTOR(t), INTERVAL '1' DAY))"
    assert bench.rows(f"SELECT window_start, COUNT(*) FROM {table} GROUP BY window_start, window_end") == [day]
    steps = "TABLE(CUMULATE(TABLE moments, DESCRIPTOR(t), INTERVAL '12' HOUR, INTERVAL '1' DAY))"
    assert bench.rows(f"SELECT window_start, window_end, COUNT(*) FROM {steps} GROUP BY 1, 2 ORDER BY 2") == [
        (datetime(2024, 1, 1), datetime(2024, 1, 1, 12), 3),
        (datetime(2024, 1, 1), datetime(2024, 1, 2), 3),
    ]
    bench.run("SET 'table.local-time-zone' = 'Asia/Kolkata'")
    hours = "SELECT HOP_START(t, INTERVAL '1' HOUR, INTERVAL '1' HOUR), COUNT(*) FROM moments"
    assert bench.rows(f"{hours} GROUP BY HOP(t, INTERVAL '1' HOUR, INTERVAL '1' HOUR) ORDER BY 1") == [
        (datetime(2024, 1, 1, 4), 1),
        (datetime(2024, 1, 1, 5), 2),
    ]
    bench.run("RESET 'table.local-time-zone'")


@pytest.mark.covering
@pytest.mark.parametrize(
    ("zone", "windows"),
    [
        ("Asia/Kolkata", [(datetime(2026, 1, 1), 3)]),
        ("UTC", [(datetime(2025, 12, 31), 2), (datetime(2026, 1, 1), 1)]),
    ],
)
def test_so_do_those_of_a_stream_without_a_watermark(
    bench: Bench, zone: str, windows: list[tuple[datetime, int]]
) -> None:
    """Spark only needs a time of its own where a watermark is."""
    bench.run(
        "CREATE TABLE seen (id BIGINT, at TIMESTAMP_LTZ(3));"
        "CREATE TABLE days (day_start TIMESTAMP(3), n BIGINT, PRIMARY KEY (day_start) NOT ENFORCED);"
        "INSERT INTO seen VALUES (1, TO_TIMESTAMP_LTZ(1767222000, 0)), (2, TO_TIMESTAMP_LTZ(1767225599, 0)),"
        " (3, TO_TIMESTAMP_LTZ(1767225600, 0));"
        f"SET 'table.local-time-zone' = '{zone}'"
    )
    day = "INTERVAL '1' DAY"
    bench.run(f"INSERT INTO days SELECT TUMBLE_START(at, {day}), COUNT(*) FROM seen GROUP BY TUMBLE(at, {day})")
    assert bench.table("days") == windows
    bench.run("RESET 'table.local-time-zone'")


def test_a_window_without_a_name_is_called_by_its_place(bench: Bench) -> None:
    """As every other expression is."""
    at = "(VALUES (TIMESTAMP '2026-01-01 00:00:01')) AS t (at)"
    minute = "INTERVAL '1' MINUTE"
    (outcome,) = bench.run(f"SELECT COUNT(*), TUMBLE_END(at, {minute}) FROM {at} GROUP BY TUMBLE(at, {minute})")
    assert outcome.rows().column_names == ["EXPR$0", "EXPR$1"]


def test_windows_of_bounded_rows(bench: Bench) -> None:
    """TUMBLE, HOP, SESSION and CUMULATE, as table functions and in GROUP BY."""
    at = "TIMESTAMP '2026-01-01 00:00:{:02d}'"
    values = ", ".join(f"({number}, {at.format(second)})" for number, second in ((1, 1), (2, 9), (3, 31)))
    bench.run(f"CREATE TABLE e (id BIGINT, ts TIMESTAMP(3)); INSERT INTO e VALUES {values}")

    def second(number: int) -> datetime:
        return datetime(2026, 1, 1, 0, number // 60, number % 60)

    assert bench.rows(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end"
    ) == [(second(0), second(10), 2), (second(30), second(40), 1)]
    assert bench.rows(
        "SELECT HOP_START(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND), COUNT(*) FROM e"
        " GROUP BY HOP(ts, INTERVAL '10' SECOND, INTERVAL '20' SECOND)"
    ) == [(datetime(2025, 12, 31, 23, 59, 50), 2), (second(0), 2), (second(20), 1), (second(30), 1)]
    assert bench.rows(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE e, DESCRIPTOR(ts), INTERVAL '15' SECOND))"
        " GROUP BY window_start, window_end"
    ) == [(second(1), second(24), 2), (second(31), second(46), 1)]
    assert bench.rows(
        "SELECT window_start, window_end, COUNT(*) FROM TABLE("
        "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '20' SECOND, INTERVAL '60' SECOND))"
        " GROUP BY window_start, window_end"
    ) == [(second(0), second(20), 2), (second(0), second(40), 3), (second(0), second(60), 3)]
    assert bench.rows("SELECT id, window_time FROM TABLE(TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '1' MINUTE))")[0] == (
        1,
        datetime(2026, 1, 1, 0, 0, 59, 999000),
    )


def test_explain_tells_what_a_statement_becomes(bench: Bench) -> None:
    """The Spark SQL and Spark's plan, of bounded rows and of a stream."""
    bench.run("CREATE TABLE e (id BIGINT); CREATE TABLE n (id BIGINT, c BIGINT, PRIMARY KEY (id) NOT ENFORCED)")
    bounded = [line for (line,) in bench.rows("EXPLAIN SELECT id, COUNT(*) AS c FROM e GROUP BY id")]
    assert "== bounded rows ==" in bounded
    assert any("HashAggregate" in line for line in bounded)
    stream = [line for (line,) in bench.rows("EXPLAIN INSERT INTO n SELECT id, COUNT(*) FROM e GROUP BY id")]
    assert any(line.startswith("== a stream; rows are changes by key") for line in stream)
    assert any("GROUP BY" in line and "_change_type" in line for line in stream)
    assert any("Aggregate" in line for line in stream)


@pytest.mark.long
def test_spark_sql_stays_usable(bench: Bench, server: ServerProcess) -> None:
    """Tables of Spark's own, and the cluster's under Spark's catalog, beside those of the script."""
    bench.run(
        "CREATE TABLE ours (id BIGINT); INSERT INTO ours VALUES (1), (2);"
        "CREATE TABLE sparks (id BIGINT, v STRING) USING parquet;"
        "INSERT INTO sparks SELECT id, UPPER('v' || id) FROM ours;"
    )
    assert bench.rows("SELECT s.v FROM sparks s JOIN ours o ON s.id = o.id WHERE o.id > 1") == [("V2",)]
    assert bench.rows("SELECT transform(sequence(1, 3), x -> x * 2) AS doubled") == [([2, 4, 6],)]
    bench.run("DROP TABLE sparks")
    with lw.connect(server.bootstrap) as conn:
        conn.create_table("fluss.seen_by_name", "id BIGINT").append([{"id": 7}])
    bench.run("USE CATALOG default_catalog")
    assert bench.rows("SELECT * FROM fluss.seen_by_name") == [(7,)]
    assert bench.rows("SELECT * FROM seen_by_name") == [(7,)]
    bench.run("DROP TABLE fluss.fluss.seen_by_name")


def test_an_error_stops_the_script_and_says_where(bench: Bench) -> None:
    """Statements before it stand; the message has the line, the column, and what to do."""
    text = (
        "CREATE TABLE a (id BIGINT);\nINSERT INTO a VALUES (1);\nINSERT INTO a VALUES (2);\n"
        "SELECT 1;\nSELECT 2;\nSELECT 3;\nSELECT idd\n  FROM a;\nINSERT INTO a VALUES (3);"
    )
    with pytest.raises(ScriptError) as caught:
        bench.run(text)
    assert caught.value.place == Place(7, 8)
    assert "idd" in caught.value.sentence
    assert bench.table("a") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("SELECT * FROM nowhere", 1, "there is no table 'nowhere'"),
        ("CREATE TEMPORARY TABLE k (id BIGINT) WITH ('connector' = 'prnt')", 1, "did you mean 'print'?"),
        ("CREATE TABLE k (id BIGINT, PRIMARY KEY (no) NOT ENFORCED)", 1, "the primary key names 'no'"),
        ("CREATE TABLE k (id STRING, WATERMARK FOR id AS id)", 1, "TIMESTAMP"),
        ("\nINSERT INTO t SELECT 'x', 1", 2, "the query gives 2 columns"),
        ("INSERT INTO t SELECT 'x'", 1, "column 'id' of"),
        ("SET 'execution.runtime-mood' = 'batch'", 1, "'execution.runtime-mode'"),
        ("SET 'execution.runtime-mode' = 'quick'", 1, "quick"),
        ("CREATE TEMPORARY TABLE k (id BIGINT) WITH (\n'conector' = 'print')", 2, "Did you mean 'connector'?"),
        ("CREATE TABLE my-table (id BIGINT)", 1, "`backticks`"),
        ("USE CATALOG nope", 1, "There is no catalog 'nope'"),
        ("DROP VIEW t", 1, "say DROP TABLE"),
        ("UPDATE t SET id = 3", 1, "rows are only appended"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(bench: Bench, text: str, line: int, words: str) -> None:
    """One sentence each, at the line of the mistake."""
    bench.run("CREATE TABLE t (id BIGINT)")
    with pytest.raises(ScriptError) as caught:
        bench.run(text)
    assert words in caught.value.sentence
    assert caught.value.place.line == line


@pytest.mark.covering("name DESC")
@pytest.mark.parametrize(
    ("order", "newest"),
    [
        ("amount DESC, id", [("a", 2), ("b", 5)]),
        ("amount DESC, name", [("a", 3), ("b", 5)]),
        ("amount, at DESC", [("a", 1), ("b", 4)]),
        ("amount DESC NULLS FIRST, price", [("a", 2), ("b", 4)]),
        ("amount NULLS LAST, name DESC", [("a", 1), ("b", 5)]),
    ],
)
def test_the_first_row_by_several_columns(bench: Bench, order: str, newest: list[tuple[str, int]]) -> None:
    """Up and down, with NULLs where they are said to be; right after changes, too, and as bounded rows have it."""
    bench.run(
        "CREATE TABLE sold (id BIGINT, g STRING, amount INT, name STRING, at TIMESTAMP(3), price DECIMAL(6, 2),"
        " PRIMARY KEY (id) NOT ENFORCED); CREATE TABLE best (g STRING, id BIGINT, PRIMARY KEY (g) NOT ENFORCED);"
        "INSERT INTO sold VALUES (1, 'a', 1, 'x', TIMESTAMP '2026-01-01 00:00:02', 1.00),"
        " (2, 'a', 9, 'ab', TIMESTAMP '2026-01-01 00:00:01', 2.00), (3, 'a', 9, 'a', NULL, 3.00),"
        " (4, 'b', NULL, 'm', NULL, 1.50), (5, 'b', 0, 'n', NULL, 0.50), (6, 'a', 99, 'z', NULL, 0.00)"
    )
    number = f"ROW_NUMBER() OVER (PARTITION BY g ORDER BY {order}) AS rn"
    query = f"SELECT g, id FROM (SELECT *, {number} FROM sold) WHERE rn = 1"
    bench.run(f"INSERT INTO best {query}")
    bench.run("DELETE FROM sold WHERE id = 6")
    bench.settle()
    assert bench.table("best") == newest
    assert bench.rows(query) == newest
