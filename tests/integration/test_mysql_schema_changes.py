"""Tables that are created, altered, renamed, emptied and dropped while their changes are followed."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from mariadb import MariaDb

from lakeward.capture.mysql.mysql_database import MysqlDatabase
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import SchemaChange, SourceTable, TableRows

_names = (f"ddl{number}" for number in itertools.count())


@pytest.fixture
def name(mariadb: MariaDb) -> str:
    """A database with one table, which holds a row."""
    name = next(_names)
    mariadb.execute(f"CREATE DATABASE {name}")
    mariadb.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10) COMMENT 'a word', n INT NOT NULL)",
        "INSERT INTO t VALUES (1, 'one', 1)",
        database=name,
    )
    return name


def follow(mariadb: MariaDb, name: str, *statements: str, known: list[SourceTable] | None = None) -> list[Any]:
    """What is told of statements: (kind, table, columns after, renamed) and (table, kind of change, row)."""
    database = MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": rf"{name}.\.*"}))
    tables = database.tables()
    start = database.begin()
    mariadb.execute(*statements, database=name)
    told: list[Any] = []
    for event in database.changes(start, database.now(), tables if known is None else known):
        if isinstance(event, SchemaChange):
            after = event.after and [f"{c.name} {c.type}" for c in event.after.schema.columns]
            told.append((event.kind.value, event.id.name, after, dict(event.renamed)))
        else:
            assert isinstance(event, TableRows)
            assert event.kinds is not None
            kinds = event.kinds.to_pylist()
            told += [(event.table.id.name, kind, row) for kind, row in zip(kinds, event.rows.to_pylist(), strict=True)]
    return told


def test_columns_come_go_and_get_other_names_and_types(mariadb: MariaDb, name: str) -> None:
    """Each statement is told where it stands among the rows, and the rows after it have the new columns."""
    told = follow(
        mariadb,
        name,
        "ALTER TABLE t ADD COLUMN d DECIMAL(8, 2) UNSIGNED DEFAULT 1.5 AFTER id, ADD (e ENUM('x', 'y,)'), f BIT(1))",
        "INSERT INTO t VALUES (2, 7.25, 'two', 2, 'y,)', b'1')",
        "/* why */ alter table `t` rename column v to word, modify n bigint unsigned not null first",
        "INSERT INTO t VALUES (3, 3, 1, 'three', 'x', b'0')",
        "ALTER TABLE t CHANGE word w TEXT CHARACTER SET latin1, DROP COLUMN e, DROP f",
        "INSERT INTO t VALUES (4, 4, 2, 'vier é')",
        "ALTER TABLE t ADD INDEX (d), COMMENT 'no column'",
        "UPDATE t SET w = 'four' WHERE id = 4",
    )
    wide = ["id INT NOT NULL", "d DECIMAL(8, 2)", "v STRING", "n INT NOT NULL", "e STRING", "f BOOLEAN"]
    moved = ["n DECIMAL(20, 0) NOT NULL", "id INT NOT NULL", "d DECIMAL(8, 2)", "word STRING", "e STRING", "f BOOLEAN"]
    narrow = ["n DECIMAL(20, 0) NOT NULL", "id INT NOT NULL", "d DECIMAL(8, 2)", "w STRING"]
    rows = [[str(value) for value in event[2].values()] for event in told if len(event) == 3]
    assert [event for event in told if len(event) == 4] == [
        ("alter", "t", wide, {}),
        ("alter", "t", moved, {"v": "word"}),
        ("alter", "t", narrow, {"word": "w"}),
        ("alter", "t", narrow, {}),
    ]
    assert rows == [
        ["2", "7.25", "two", "2", "y,)", "True"],
        ["3", "3", "1.00", "three", "x", "False"],
        ["4", "4", "2.00", "vier é"],
        ["4", "4", "2.00", "vier é"],
        ["4", "4", "2.00", "four"],
    ]
    assert [len(event) for event in told] == [4, 3, 4, 3, 4, 3, 4, 3, 3]


def test_tables_come_and_go(mariadb: MariaDb, name: str) -> None:
    """CREATE, CREATE LIKE, CREATE SELECT, RENAME, TRUNCATE, DROP; with quotes, comments and odd names."""
    told = follow(
        mariadb,
        name,
        "CREATE TABLE `od``d` (a INT UNSIGNED AUTO_INCREMENT, `b c` VARCHAR(3) NOT NULL DEFAULT '(,', PRIMARY KEY (a),"
        " UNIQUE KEY u (`b c`)) DEFAULT CHARSET = latin1 COMMENT = 'a; b'",
        "INSERT INTO `od``d` VALUES (4000000000, 'é')",
        "CREATE TABLE like_t LIKE t",
        "INSERT INTO like_t VALUES (1, 'x', 1)",
        "CREATE TABLE chosen (PRIMARY KEY (id)) SELECT id, v FROM t",
        "CREATE TABLE IF NOT EXISTS t (z INT)",
        "RENAME TABLE like_t TO moved",
        "INSERT INTO moved VALUES (2, 'y', 2)",
        "TRUNCATE TABLE moved",
        f"DROP TABLE moved, {name}.chosen",
        "CREATE TEMPORARY TABLE tmp (a INT)",
    )
    t = ["id INT NOT NULL", "v STRING", "n INT NOT NULL"]
    assert told == [
        ("create", "od`d", ["a BIGINT NOT NULL", "b c STRING NOT NULL"], {}),
        ("od`d", 1, {"a": 4_000_000_000, "b c": "é"}),
        ("create", "like_t", t, {}),
        ("like_t", 1, {"id": 1, "v": "x", "n": 1}),
        ("create", "chosen", ["id INT NOT NULL", "v STRING"], {}),
        ("chosen", 1, {"id": 1, "v": "one"}),
        ("alter", "like_t", t, {}),
        ("moved", 1, {"id": 2, "v": "y", "n": 2}),
        ("truncate", "moved", t, {}),
        ("drop", "moved", None, {}),
        ("drop", "chosen", None, {}),
    ]


def test_a_table_that_a_tool_swaps_is_the_same_table_altered(mariadb: MariaDb, name: str) -> None:
    """Online schema changes copy a table, alter the copy and swap both in one statement."""
    told = follow(
        mariadb,
        name,
        "CREATE TABLE _t_new LIKE t",
        "ALTER TABLE _t_new ADD COLUMN x INT",
        "RENAME TABLE t TO _t_old, _t_new TO t",
        "INSERT INTO t VALUES (9, 'nine', 9, 9)",
    )
    wide = ["id INT NOT NULL", "v STRING", "n INT NOT NULL", "x INT"]
    assert ("alter", "t", wide, {}) in told
    assert told[-1] == ("t", 1, {"id": 9, "v": "nine", "n": 9, "x": 9})


def test_a_table_that_nobody_knew_is_told_with_its_first_rows(mariadb: MariaDb, name: str) -> None:
    """Names, signs and keys come from the binlog's metadata."""
    told = follow(mariadb, name, "INSERT INTO t VALUES (2, 'two', 2)", known=[])
    assert told == [
        ("create", "t", ["id INT NOT NULL", "v STRING", "n INT NOT NULL"], {}),
        ("t", 1, {"id": 2, "v": "two", "n": 2}),
    ]


def test_an_old_table_is_read_though_it_was_altered_since(mariadb: MariaDb, name: str) -> None:
    """Rows from before two ALTERs, copied as of then: names and types as they were."""
    database = MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": f"{name}.t"}))
    table, as_of = database.tables()[0], database.now()
    mariadb.execute(
        "INSERT INTO t VALUES (2, 'two', 2), (3, 'three', 3)",
        "ALTER TABLE t RENAME COLUMN n TO number, ADD COLUMN more INT FIRST",
        "ALTER TABLE t MODIFY number BIGINT",
        "UPDATE t SET number = 5000000000, v = 'uno' WHERE id = 1",
        database=name,
    )
    rows = [row for b in database.read_chunk(table, database.chunks(table, 9)[0], as_of) for row in b.to_pylist()]
    assert rows == [{"id": 1, "v": "one", "n": 1}]
