"""Scripts of the kinds that the guide shows: every block of it has one here, in our words."""

from __future__ import annotations

import pytest
from sqlglot import exp

from lakeward.language.grammar import parse_script
from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.statements.create_table import CreateTable
from lakeward.language.statements.define import CreateCatalog, CreateDatabase, CreateView, Use
from lakeward.language.statements.rows import Insert, Select, SetOption, StatementSet
from lakeward.language.statements.statement import Statement

READINGS = "sensor STRING, reader_id BIGINT, taken_at TIMESTAMP(3), note STRING"


def outline(statement: Statement) -> str:
    """A statement in a few words."""
    match statement:
        case CreateTable(query=None):
            key = f" key {','.join(statement.primary_key)}" if statement.primary_key else ""
            parts = f" by {','.join(statement.partitioned_by)}" if statement.partitioned_by else ""
            delay = f" delay {statement.watermark.delay}" if statement.watermark else ""
            return f"table {statement.name}({len(statement.columns)}){key}{parts}{delay}"
        case CreateTable():
            return f"table {statement.name} as query"
        case CreateCatalog():
            return f"catalog {statement.name} {statement.options['type']}"
        case CreateDatabase():
            return f"database {statement.name}{' if absent' if statement.if_not_exists else ''}"
        case CreateView():
            return f"{'temporary ' if statement.is_temporary else ''}view {statement.name}"
        case Use():
            return f"use {statement.catalog or statement.database}"
        case Insert():
            return f"insert {statement.target} from {','.join(t.name for t in statement.query.find_all(exp.Table))}"
        case StatementSet():
            return f"set of {'; '.join(outline(insert) for insert in statement.inserts)}"
        case SetOption():
            return f"set {statement.key}={statement.value}"
        case Select():
            return f"select {','.join(table.name for table in statement.query.find_all(exp.Table))}"
        case _:
            return type(statement).__name__


SCRIPTS = {
    "01 a log table": (
        (
            f"-- in line\nCREATE TABLE readings ({READINGS}) WITH ('connector' = 'fluss', 'bootstrap.servers' = 'h:1',"
            " 'bucket.num' = '8');"
        ),
        ["table readings(4)"],
    ),
    "02 10 partitions": (
        (
            f"CREATE TABLE readings ({READINGS}, dt STRING) PARTITIONED BY (dt)\nWITH ('bucket.num' = '4',\n\n"
            "  -- tiering\n  'table.datalake.format' = 'paimon',  -- or 'iceberg'\n  'log.retention.hours' = '24'\n);"
        ),
        ["table readings(5) by dt"],
    ),
    "04 a primary key table": (
        (
            "CREATE TABLE readers (id BIGINT, name STRING, since TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED)"
            " WITH ('connector' = 'fluss');"
        ),
        ["table readers(3) key id"],
    ),
    "05 06 keys of several columns": (
        (
            "CREATE TABLE visits (id BIGINT, fee DECIMAL(10,2), d STRING, PRIMARY KEY (id, d) NOT ENFORCED)"
            " PARTITIONED BY (d)\nWITH ('bucket.num' = '8');"
        ),
        ["table visits(3) key id,d by d"],
    ),
    "08 a catalog": (
        (
            "CREATE CATALOG lab WITH ('type' = 'fluss', 'bootstrap.servers' = 'h:9123');\n\nUSE CATALOG lab;\n"
            f"CREATE DATABASE IF NOT EXISTS stats;\nCREATE TABLE stats.readings ({READINGS}) WITH ('bucket.num' = '8');"
        ),
        ["catalog lab fluss", "use lab", "database stats if absent", "table stats.readings(4)"],
    ),
    "11 12 26 from elsewhere": (
        (
            f"CREATE TABLE incoming ({READINGS}) WITH ('connector' = 'kafka', 'topic' = 'readings');\n"
            f"CREATE TABLE readings ({READINGS}) WITH ('connector' = 'fluss');\n"
            "INSERT INTO readings\nSELECT * FROM incoming;"
        ),
        ["table incoming(4)", "table readings(4)", "insert readings from incoming"],
    ),
    "13 streaming": (
        "SET 'execution.runtime-mode' = 'streaming';\n\nSELECT * FROM readings;\n-- goes on and on",
        ["set execution.runtime-mode=streaming", "select readings"],
    ),
    "14 batch": (
        "SET 'execution.runtime-mode' = 'batch';\nSELECT * FROM readings\nWHERE day = '2026-01-02';",
        ["set execution.runtime-mode=batch", "select readings"],
    ),
    "21 hot and cold": (
        "SELECT reader_id, COUNT(*) as n\nFROM readings\nWHERE taken_at >= '2026-01-01'  -- all\nGROUP BY reader_id;",
        ["select readings"],
    ),
    "22 a pipeline": (
        (
            "CREATE CATALOG lab WITH ('type' = 'fluss', 'bootstrap.servers' = 'h:9123');\nUSE CATALOG lab;\n"
            f"CREATE DATABASE stats;\nCREATE TABLE stats.readings ({READINGS}, dt STRING,\n"
            "  WATERMARK FOR taken_at AS taken_at - INTERVAL '5' SECOND\n) PARTITIONED BY (dt)\nWITH ('a' = '16');\n"
            "CREATE CATALOG default_catalog WITH ('type' = 'generic_in_memory');\nUSE CATALOG default_catalog;\n"
            "INSERT INTO lab.stats.readings SELECT sensor, reader_id, taken_at, note,\n"
            "  DATE_FORMAT(taken_at, 'yyyy-MM-dd') as dt\nFROM incoming;\n"
            "INSERT INTO lab.stats.readers SELECT id, CURRENT_TIMESTAMP as since FROM incoming_readers;"
        ),
        [
            "catalog lab fluss",
            "use lab",
            "database stats",
            "table stats.readings(5) by dt delay 5 seconds",
            "catalog default_catalog generic_in_memory",
            "use default_catalog",
            "insert lab.stats.readings from incoming",
            "insert lab.stats.readers from incoming_readers",
        ],
    ),
    "27 a lake by itself": (
        (
            "CREATE CATALOG lake WITH ('type' = 'paimon', 'warehouse' = 's3://b/lake/');\n"
            "SELECT * FROM lake.stats.readings\nWHERE day < '2026-01-01';  -- old"
        ),
        ["catalog lake paimon", "select readings"],
    ),
    "29 a table as a query": (
        (
            "CREATE TABLE wide AS\nSELECT r.sensor, p.name FROM readings r\n"
            "LEFT JOIN readers FOR SYSTEM_TIME AS OF r.taken_at AS p\n  ON r.reader_id = p.id;\n"
            "INSERT INTO outgoing SELECT * FROM wide;"
        ),
        ["table wide as query", "insert outgoing from wide"],
    ),
    "43 a view between": (
        (
            "CREATE TEMPORARY VIEW per_minute AS\nSELECT TUMBLE_START(taken_at, INTERVAL '1' HOUR) as begun,\n"
            "  COUNT(*) as n\nFROM readings\nGROUP BY reader_id, TUMBLE(taken_at, INTERVAL '1' MINUTE);\n"
            "INSERT INTO search SELECT * FROM per_minute;"
        ),
        ["temporary view per_minute", "insert search from per_minute"],
    ),
    "44 a statement set": (
        (
            "EXECUTE STATEMENT SET\nBEGIN\n  -- totals\n  INSERT INTO totals\n  SELECT reader_id, COUNT(*) as n,"
            " MAX(taken_at) as latest\n  FROM readings\n  GROUP BY reader_id;\nEND;"
        ),
        ["set of insert totals from readings"],
    ),
    "46 one source, three sinks": (
        (
            "INSERT INTO a SELECT * FROM bus WHERE k IN ('x', 'y');\nINSERT INTO b SELECT kind, taken_at\nFROM bus;\n"
            "INSERT INTO c SELECT * FROM bus;\n\n-- and no more"
        ),
        ["insert a from bus", "insert b from bus", "insert c from bus"],
    ),
}
#: Blocks 3, 7, 9, 17, 18, 28, 35 to 39, 41, 45 and 47: what they differ in is options.
OPTIONS = {
    "table.auto-partition.enabled": "true",
    "table.auto-partition.time-unit": "day",
    "table.name": "readings",
    "log.compaction.interval.ms": "60000",
    "log.compaction.min.cleanable.ratio": "0.5",
    "remote.data.dir": "s3://bucket/lake/readings",
    "table.datalake.format": "iceberg",
    "log.segment.bytes": "104857600",
    "table.replication-factor": "3",
}


@pytest.mark.parametrize("block", SCRIPTS)
def test_scripts_of_the_guide_s_kinds(block: str) -> None:
    """Each is read into the statements that it is made of."""
    script, expected = SCRIPTS[block]
    assert [outline(statement) for statement in parse_script(script)] == expected


@pytest.mark.parametrize(("key", "value"), OPTIONS.items())
def test_options_are_kept_as_they_are_written(key: str, value: str) -> None:
    """A comment behind an option is none of its value."""
    (table,) = parse_script(f"CREATE TABLE readings ({READINGS}) WITH (\n  '{key}' = '{value}'  -- or 'another'\n);")
    assert isinstance(table, CreateTable)
    assert table.options == {key: value}


def test_15_22_a_lookup_join() -> None:
    """The dimension is as of the time of the stream's row."""
    (select,) = parse_script(
        "SELECT o.id, u.name FROM orders o\nLEFT JOIN lab.stats.readers FOR SYSTEM_TIME AS OF o.at AS u\n"
        "  ON o.reader_id = u.id\nWHERE u.tier = 'gold';"
    )
    assert isinstance(select, Select)
    (join,) = select.query.args["joins"]
    assert (join.side, join.this.name, join.this.alias) == ("LEFT", "readers", "u")
    assert join.this.args["version"].expression.sql() == "o.at"
    assert join.args["on"].sql() == "o.reader_id = u.id"


def test_16_time_travel_by_hint() -> None:
    """The hint is its table's."""
    for key in ("scan.snapshot-id", "scan.timestamp-millis"):
        (select,) = parse_script(f"SELECT * FROM readings /*+ OPTIONS('{key}'='12345') */;")
        assert isinstance(select, Select)
        (table,) = select.query.find_all(exp.Table)
        assert table.meta["options"] == {key: "12345"}


def test_32_windows_as_group_functions() -> None:
    """They stay calls, in the list and in GROUP BY."""
    (select,) = parse_script(
        "SELECT TUMBLE_START(at, INTERVAL '1' MINUTE) as start, COUNT(*) as n FROM t\n"
        "GROUP BY TUMBLE(at, INTERVAL '1' MINUTE), reader_id;"
    )
    assert isinstance(select, Select)
    group = select.query.args["group"].expressions
    assert [select.query.selects[0].this.name, select.query.selects[0].alias] == ["TUMBLE_START", "start"]
    assert [type(part) for part in group] == [exp.Anonymous, exp.Column]
    assert group[0].sql() == "TUMBLE(at, INTERVAL '1' MINUTE)"


def test_33_windows_as_tables() -> None:
    """The last semicolon may be missing, and a comment may follow."""
    (select,) = parse_script(
        "SELECT\n  window_start,\n  COUNT(*) as n\nFROM TABLE(\n"
        "  TUMBLE(TABLE readings, DESCRIPTOR(taken_at), INTERVAL '5' MINUTE)\n)\n"
        "GROUP BY window_start, window_end\n-- late ones count"
    )
    assert isinstance(select, Select)
    (window,) = select.query.find_all(WindowTable)
    assert (window.kind, window.this.name, window.args["time"].name) == ("TUMBLE", "readings", "taken_at")
