"""SQL without Spark: DuckDB over the same plans."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from cli_process import Cli
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

from lakeward.errors import LakewardError

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def rows(start: int, stop: int, **more: Any) -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "name": f"name {i % 3}", **more} for i in range(start, stop)]


def test_a_log_table_is_counted_and_summed(lake: Warehouse, database: str) -> None:
    """Files by DuckDB's own scan, the log as Arrow."""
    log = lake.conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=2, properties=TIERED)
    assert log.query("SELECT count(*) AS n FROM t").to_pylist() == [{"n": 0}]
    log.append(rows(0, 90))
    lake.round(log)
    log.append(rows(90, 120))
    got = log.query("SELECT name, count(*) AS n, sum(id) AS s FROM t WHERE id >= 30 GROUP BY 1 ORDER BY 1").to_pylist()
    assert got == [{"name": f"name {k}", "n": 30, "s": sum(i for i in range(30, 120) if i % 3 == k)} for k in range(3)]
    assert log.query("SELECT count(*) AS n FROM t").to_pylist() == [{"n": 120}]
    assert log.query("SELECT count(*) AS n FROM t a JOIN t b USING (id)").to_pylist() == [{"n": 120}]
    cold = lake.conn.sql(f'SELECT count(*) AS n FROM {database}."log$lake"').to_pylist()
    assert cold == [{"n": 90}]
    assert log.query("SELECT max(id) AS n FROM t", {"scan.tiers": "lake"}).to_pylist() == [{"n": 89}]


def test_a_primary_key_table_with_deletes_in_lake_and_log(lake: Warehouse, database: str) -> None:
    """Rows that files of deletes name are gone, changed keys are as the log says."""
    table = lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=TIERED
    )
    table.upsert(rows(0, 200))
    lake.round(table)
    table.upsert(rows(10, 20, name="second"))
    table.delete([{"id": i} for i in range(50, 60)])
    lake.round(table)
    table.upsert(rows(15, 25, name="third"))
    table.delete([{"id": i} for i in range(60, 70)])
    table.upsert(rows(300, 305))
    got = table.query("SELECT * FROM t ORDER BY id").to_pylist()
    assert got == sorted(table.snapshot().to_pylist(), key=lambda row: row["id"])
    assert table.query("SELECT count(*) AS n FROM t WHERE name = 'third'").to_pylist() == [{"n": 10}]


def test_files_without_a_changed_key_are_read_as_they_are(lake: Warehouse, database: str) -> None:
    """Only the files that may hold one are looked through; the answer is the same."""
    table = lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=2, properties=TIERED
    )
    for start in (0, 1000, 2000):
        table.upsert(rows(start, start + 100))
        lake.round(table)
    table.upsert(rows(1000, 1010, name="changed"))
    table.delete([{"id": 1050}])
    table.upsert(rows(3000, 3005))
    got = table.query("SELECT * FROM t ORDER BY id").to_pylist()
    assert got == sorted(table.snapshot().to_pylist(), key=lambda row: row["id"])
    assert table.query("SELECT count(*) AS n FROM t").to_pylist() == [{"n": 304}]


@pytest.mark.parametrize("lake_format", ["iceberg", "paimon"])
def test_types_are_those_of_the_table(lake: Warehouse, database: str, lake_format: str) -> None:
    """Whether a row comes from a file or from the log."""
    columns = (
        "a TINYINT, b SMALLINT, c DECIMAL(10, 2), d DATE, e TIMESTAMP(3), f TIMESTAMP_LTZ(3), g BYTES, h TIME, "
        "i BOOLEAN, j DOUBLE, k ARRAY<INT>, l MAP<STRING, INT>, m ROW<x INT, y STRING>, n BINARY(3)"
    )
    properties = {**TIERED, "table.datalake.format": lake_format}
    table = lake.conn.create_table(f"{database}.types", columns, buckets=1, properties=properties)
    row = lake_row()
    table.append([row])
    before = table.query("SELECT * FROM t")
    lake.round(table)
    cold = table.query("SELECT * FROM t")
    assert cold.schema.equals(before.schema)
    assert cold.to_pylist() == before.to_pylist()
    table.append([row])
    both = table.query("SELECT * FROM t")
    assert both.schema.equals(before.schema)
    assert both.to_pylist() == before.to_pylist() * 2


def lake_row() -> dict[str, Any]:
    """A row with a value in every column."""
    import datetime as dt
    from decimal import Decimal

    moment = dt.datetime(2026, 11, 1, 10, 0, 0, 123000)
    return {
        "a": 1,
        "b": 2,
        "c": Decimal("1.20"),
        "d": dt.date(2026, 11, 1),
        "e": moment,
        "f": moment.replace(tzinfo=dt.UTC),
        "g": b"\x00\x01",
        "h": dt.time(12, 34, 56),
        "i": True,
        "j": 0.5,
        "k": [1, None],
        "l": [("k", 1)],
        "m": {"x": 1, "y": "z"},
        "n": b"abc",
    }


def test_what_is_wrong_is_said_in_a_sentence(lake: Warehouse, database: str) -> None:
    """No query, no table, no column."""
    log = lake.conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=TIERED)
    with pytest.raises(LakewardError, match="This is no query"):
        log.query("SELEC 1")
    with pytest.raises(LakewardError, match="not exist"):
        lake.conn.sql(f"SELECT * FROM {database}.nothing")
    with pytest.raises(LakewardError, match="DuckDB refused the query"):
        log.query("SELECT nothing FROM t")
    two = lake.conn.create_table(f"{database}.two", "a INT, b INT, A INT", buckets=1)
    two.append([{"a": 1, "b": 2, "A": 3}])
    with pytest.raises(LakewardError, match="'a' and 'A', which DuckDB does not tell apart"):
        two.query('SELECT "A" FROM t')
    assert two.query("SELECT b FROM t").to_pylist() == [{"b": 2}]


def test_ctrl_c_ends_a_query_as_it_ends_anything_else(lake: Warehouse) -> None:
    """DuckDB makes a RuntimeError of it, which loops over queries take for a failure of one; the next one works."""
    assert lake.conn.sql("SELECT 1 AS n").num_rows == 1  # DuckDB is there
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupt = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        interrupt.start()
        with pytest.raises(KeyboardInterrupt):
            lake.conn.sql("SELECT count(*) FROM range(1000000000000)")
    finally:
        signal.signal(signal.SIGINT, before)
    assert lake.conn.sql("SELECT 1 AS n").to_pylist() == [{"n": 1}]


def test_nothing_that_plans_remember_makes_an_answer_stale(lake: Warehouse, database: str) -> None:
    """After one's own write, round, change of the table: the next answer has it."""
    log = lake.conn.create_table(f"{database}.log", "id BIGINT", buckets=1, properties=TIERED)
    users = lake.conn.create_table(
        f"{database}.users", "id BIGINT NOT NULL, v INT", primary_key=["id"], buckets=1, properties=TIERED
    )
    count = "SELECT count(*) AS n FROM t"
    for number in range(1, 6):
        log.append([{"id": number}])
        users.upsert([{"id": number, "v": 0}, {"id": 1, "v": number}])
        assert log.query(count).to_pylist() == users.query(count).to_pylist() == [{"n": number}]
        assert users.query("SELECT v FROM t WHERE id = 1").to_pylist() == [{"v": number}]
        for table in (log, users):
            lake.round(table)
            assert table.query(count).to_pylist() == [{"n": number}]
            assert table.query(count, {"scan.tiers": "lake"}).to_pylist() == [{"n": number}]
    users.delete([{"id": 1}])
    assert users.query(count).to_pylist() == [{"n": 4}]
    lake.conn.alter_table(str(log.path), add_columns="name STRING")
    assert log.query("SELECT count(*) AS n, count(name) AS m FROM t").to_pylist() == [{"n": 5, "m": 0}]
    lake.conn.drop_table(str(users.path))
    again = lake.conn.create_table(str(users.path), "id BIGINT", buckets=1, properties=TIERED)
    again.append([{"id": 1}])
    with pytest.raises(LakewardError, match="earlier table of this name"):
        again.query(count, {"scan.tiers": "lake"})
    assert again.query(count).to_pylist() == [{"n": 1}]


def test_partitions_come_and_go_between_queries(lake: Warehouse, database: str) -> None:
    """A partition is there with its first row; what the lake has of one that was dropped stays."""
    log = lake.conn.create_table(
        f"{database}.days", "id BIGINT, dt STRING", buckets=1, partition_by=["dt"], properties=TIERED
    )
    count = "SELECT dt, count(*) AS n FROM t GROUP BY 1 ORDER BY 1"
    for day in ("a", "b", "c"):
        log.append([{"id": 1, "dt": day}])
        assert [row["dt"] for row in log.query(count).to_pylist()][-1] == day
        lake.round(log)
        log.append([{"id": 2, "dt": day}])
        assert log.query(count).to_pylist()[-1] == {"dt": day, "n": 2}
    lake.round(log)
    assert [row["n"] for row in log.query(count).to_pylist()] == [2, 2, 2]
    log.drop_partition({"dt": "a"})
    assert [row["n"] for row in log.query(count).to_pylist()] == [2, 2, 2]


# -- the command line --------------------------------------------------------------------------------------------------


def test_the_command_line_asks_and_plans(lake: Warehouse, database: str, server: ServerProcess, tmp_path: Path) -> None:
    """`lakeward sql` and `lakeward plan` see what the library sees; the plan in JSON is what its schema says."""
    log = lake.conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=1, properties=TIERED)
    log.append(rows(0, 90))
    lake.round(log)
    log.append(rows(90, 100))
    cli = Cli(server.bootstrap, tmp_path)
    where = ("--warehouse", str(lake.directory))
    assert cli.rows("sql", f"SELECT count(*) AS n FROM {log.path}", *where) == [{"n": 100}]
    told = cli.ok("plan", str(log.path), *where)
    assert "90 rows in 1 of 1 file" in told
    assert "10 offsets" in told
    document = cli.document("plan", str(log.path), "--where", "id < 5", *where)
    schema = json.loads((ROOT / "docs/reference/plan.schema.json").read_text(encoding="utf-8"))
    assert document.keys() == schema["properties"].keys()
    for split in document["splits"]:
        assert split.keys() == schema["$defs"][split["kind"]]["properties"].keys()
    assert {split["tier"] for split in document["splits"]} == {"LAKE_ONLY", "LOG_ONLY"}
    assert document["filters"] == ["id < 5"]


def test_explain_pivot_and_names_in_any_case(lake: Warehouse, database: str) -> None:
    """What people type into a SQL prompt, beside SELECT."""
    table = lake.conn.create_table(
        f"{database}.Sales", "city STRING, year INT, units BIGINT", buckets=1, properties=TIERED
    )
    table.append([{"city": c, "year": y, "units": y - 2000 + len(c)} for c in ("Oslo", "Rom") for y in (2001, 2002)])
    lake.round(table)
    table.append([{"city": "Bern", "year": 2003, "units": 7}])
    assert lake.conn.sql(f"SELECT sum(UNITS) AS n FROM {database}.sales").to_pylist() == [{"n": 27}]
    both = lake.conn.sql(f"SELECT count(*) AS n FROM {database}.SALES a JOIN {database}.sales b USING (City)")
    assert both.to_pylist() == [{"n": 9}]
    turned = lake.conn.sql(f"PIVOT {database}.sales ON year USING sum(units) GROUP BY city ORDER BY city").to_pylist()
    assert turned == [
        {"city": "Bern", "2001": None, "2002": None, "2003": 7},
        {"city": "Oslo", "2001": 5, "2002": 6, "2003": None},
        {"city": "Rom", "2001": 4, "2002": 5, "2003": None},
    ]
    for explain in ("EXPLAIN", "explain analyze"):
        told = lake.conn.sql(f"{explain} SELECT count(*) FROM {database}.sales").to_pylist()
        assert "PARQUET" in told[0]["explain_value"].upper()


def test_a_statement_that_writes_is_refused_by_name(lake: Warehouse, database: str) -> None:
    """SQL only reads here, and says who writes."""
    for sql in (f"INSERT INTO {database}.t VALUES (1)", "DROP TABLE x", "COPY t TO '/tmp/x.csv'"):
        with pytest.raises(LakewardError, match=rf"only reads.*{sql.split()[0]} is no query.*lakeward append"):
            lake.conn.sql(sql)
