"""Every type of MariaDB: a SELECT, the binlog and the server's own answer give the same values."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from mariadb import MariaDb
from mysql_matrix import MATRIX, ROWS, create_table, read, written

from lakeward.capture.mysql.mysql_database import MysqlDatabase
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import TableId, TableRows
from lakeward.errors import LakewardError


@pytest.fixture(scope="module")
def matrix(mariadb: MariaDb) -> tuple[MysqlDatabase, Any, TableId]:
    """A table with a column of every type, and where the stream began before its rows."""
    mariadb.execute("CREATE DATABASE matrix", create_table("matrix.t"))
    options = {**mariadb.options, "database-name": "matrix", "table-name": "t", "time-as-text": "true"}
    database = MysqlDatabase(MysqlSettings.of(options))
    start = database.begin()
    with mariadb.connect("matrix", sql_mode="") as connection, connection.cursor() as cursor:
        cursor.execute("SET time_zone = '+00:00'")
        for row in range(ROWS):
            cursor.execute(f"INSERT INTO t VALUES ({row}{', %s' * len(MATRIX)})", written(row))
        cursor.execute("UPDATE t SET id = id + 100")
    return database, start, TableId("matrix", "t")


def test_types_are_what_the_table_says(matrix: tuple[MysqlDatabase, Any, TableId]) -> None:
    """Each type of the server has one of ours, which holds all its values."""
    table = matrix[0].tables()[0]
    types = [str(column.type) for column in table.schema.columns[1:]]
    assert dict(zip(MATRIX, types, strict=True)) == {native: ours for native, (ours, _) in MATRIX.items()}


def test_a_select_and_the_binlog_give_the_same_values(matrix: tuple[MysqlDatabase, Any, TableId]) -> None:
    """Both are what was written, NULLs and extremes included."""
    database, start, _ = matrix
    tables, end = database.tables(), database.now()
    copied = [
        row
        for batch in database.read_chunk(tables[0], database.chunks(tables[0], 10)[0], end)
        for row in batch.to_pylist()
    ]
    followed: dict[int, dict[str, Any]] = {}
    for event in database.changes(start, end, tables):
        assert isinstance(event, TableRows)
        assert event.kinds is not None
        for kind, row in zip(event.kinds.to_pylist(), event.rows.to_pylist(), strict=True):
            if kind == 4:
                assert followed.pop(row["id"]) == row
            else:
                followed[row["id"]] = row
    right = [read(row) for row in range(ROWS)]
    for number, native in enumerate(MATRIX):
        expected = [row[number] for row in right]
        assert [row[f"c{number}"] for row in copied] == expected, native
        assert [followed[row + 100][f"c{number}"] for row in range(ROWS)] == expected, native


def test_a_time_of_no_day_is_refused_unless_times_are_texts(mariadb: MariaDb) -> None:
    """Neither a wrong time nor NULL: an error that names the column and the option."""
    mariadb.execute("CREATE DATABASE times", "CREATE TABLE times.t (id INT PRIMARY KEY, t TIME(3))")
    mariadb.execute("INSERT INTO times.t VALUES (1, '12:30:00.125')")
    database = MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": "times.t"}))
    table, chunk = database.tables()[0], database.chunks(database.tables()[0], 10)[0]
    rows = [row for batch in database.read_chunk(table, chunk, database.now()) for row in batch.to_pylist()]
    assert rows == [{"id": 1, "t": dt.time(12, 30, 0, 125000)}]
    mariadb.execute("INSERT INTO times.t VALUES (2, '-01:00:00')")
    with pytest.raises(LakewardError, match=r"times\.t\.t holds a time below zero.*'time-as-text' = 'true'"):
        list(database.read_chunk(table, chunk, database.now()))


def test_zero_dates_are_null_the_epoch_or_an_error(mariadb: MariaDb) -> None:
    """As the option says; the type allows NULL where a zero date may become one."""
    mariadb.execute("CREATE DATABASE zeros", "CREATE TABLE zeros.t (id INT PRIMARY KEY, d DATE NOT NULL)")
    with mariadb.connect("zeros", sql_mode="") as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO t VALUES (1, '0000-00-00')")
    found = {}
    for rule in ("null", "epoch", "error"):
        database = MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": "zeros.t", "zero-dates": rule}))
        table = database.tables()[0]
        try:
            rows = [
                r
                for b in database.read_chunk(table, database.chunks(table, 9)[0], database.now())
                for r in b.to_pylist()
            ]
            found[rule] = (rows[0]["d"], table.schema.column("d").type.nullable)
        except LakewardError as wrong:
            found[rule] = (wrong.message.split(",")[0], None)
    assert found == {
        "null": (None, True),
        "epoch": (dt.date(1970, 1, 1), False),
        "error": ("The column zeros.t.d holds a date that is none", None),
    }


def test_generated_and_hidden_columns_are_columns(mariadb: MariaDb) -> None:
    """Virtual, stored and invisible ones, from the binlog as from a SELECT."""
    columns = "id INT PRIMARY KEY, v INT, g INT AS (v + 1) VIRTUAL, s INT AS (v * 2) STORED, h INT INVISIBLE DEFAULT 7"
    mariadb.execute("CREATE DATABASE made", f"CREATE TABLE made.t ({columns})")
    database = MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": "made.t"}))
    start, table = database.begin(), database.tables()[0]
    mariadb.execute("INSERT INTO made.t (id, v) VALUES (1, 10)")
    end = database.now()
    followed = [row for event in database.changes(start, end, [table]) for row in event.rows.to_pylist()]
    copied = [row for b in database.read_chunk(table, database.chunks(table, 9)[0], end) for row in b.to_pylist()]
    assert followed == copied == [{"id": 1, "v": 10, "g": 11, "s": 20, "h": 7}]
