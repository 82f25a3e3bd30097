"""What can go wrong with a MariaDB: each is a sentence that says what to do, and no secret is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mariadb import PASSWORD, POOR_PASSWORD, POOR_USER, MariaDb, mariadb_or_skip

from lakeward.capture.mysql.mysql_database import MysqlDatabase
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import TableRows
from lakeward.errors import DeniedError, LakewardError, NotFoundError, RetriableError


@pytest.fixture(scope="module")
def own() -> Iterator[MariaDb]:
    """A server that these tests may stop, restart and set otherwise."""
    with mariadb_or_skip(binlog_row_metadata="NO_LOG", log_bin_compress="1") as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, v VARCHAR(500))")
        yield server


def open_database(server: MariaDb, **options: str) -> MysqlDatabase:
    """The table, with some options set otherwise."""
    return MysqlDatabase(MysqlSettings.of({**server.options, "tables": "shop.t", **options}))


def values(database: MysqlDatabase, start: Any, end: Any) -> list[tuple[int, Any, Any]]:
    """Changes as (kind, id, v)."""
    out = []
    for event in database.changes(start, end, database.tables()):
        assert isinstance(event, TableRows)
        assert event.kinds is not None
        rows = event.rows.to_pylist()
        out += [(kind, *row.values()) for kind, row in zip(event.kinds.to_pylist(), rows, strict=True)]
    return out


def test_a_wrong_password_is_said_without_it(own: MariaDb) -> None:
    """The server's words, and which options to look at."""
    with pytest.raises(DeniedError, match=r"refuses user 'capture'.*Check 'username' and 'password'") as wrong:
        open_database(own, password="guess-me").tables()
    assert "guess-me" not in wrong.value.message
    assert PASSWORD not in repr(MysqlSettings.of({**own.options, "tables": "shop.t"}))


def test_a_missing_right_names_the_grant(own: MariaDb) -> None:
    """A user who may only SELECT learns what to ask the administrator for."""
    poor = open_database(own, username=POOR_USER, password=POOR_PASSWORD)
    with pytest.raises(DeniedError, match=f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT .* TO '{POOR_USER}'"):
        poor.check()
    own.execute(f"GRANT REPLICATION CLIENT ON *.* TO '{POOR_USER}'@'%'")
    with pytest.raises(DeniedError, match=r"REPLICATION SLAVE privilege.*GRANT SELECT, REPLICATION SLAVE"):
        poor.begin()


def test_a_server_without_tls_is_no_server_where_tls_is_required(own: MariaDb) -> None:
    """It is not waited for: it will not have any later either."""
    with pytest.raises(DeniedError, match=r"no safe connection to .* as 'ssl.mode' = 'required' wants it"):
        open_database(own, **{"ssl.mode": "required"}).tables()


def test_no_table_of_that_name_is_an_error_that_names_the_pattern(own: MariaDb) -> None:
    """The usual mistake: a name that is wrong."""
    with pytest.raises(NotFoundError, match=r"matches shop\.orders"):
        open_database(own, tables="shop.orders").tables()


@pytest.mark.parametrize(
    ("name", "value", "right"), [("binlog_format", "STATEMENT", "ROW"), ("binlog_row_image", "MINIMAL", "FULL")]
)
def test_a_binlog_that_does_not_tell_rows_is_refused(own: MariaDb, name: str, value: str, right: str) -> None:
    """With the statement that makes it tell them."""
    own.execute(f"SET GLOBAL {name} = '{value}'")
    try:
        with pytest.raises(LakewardError, match=f"{name} = {value}.*SET GLOBAL {name} = '{right}'"):
            open_database(own).check()
    finally:
        own.execute(f"SET GLOBAL {name} = '{right}'")


def test_a_row_that_is_told_in_part_is_refused(own: MariaDb) -> None:
    """A session may choose another row image than the server."""
    database = open_database(own)
    own.execute("REPLACE INTO shop.t VALUES (7, 'seven')")
    start = database.begin()
    own.execute("SET SESSION binlog_row_image = 'MINIMAL'", "UPDATE shop.t SET v = 'x' WHERE id = 7")
    with pytest.raises(LakewardError, match=r"change of shop\.t does not tell the whole row.*binlog_row_image"):
        values(database, start, database.now())


@pytest.mark.long
def test_compressed_events_without_metadata_are_read(own: MariaDb) -> None:
    """log_bin_compress, and names that come from the table as it was known."""
    database = open_database(own)
    start = database.begin()
    long = "long " * 90
    own.execute(
        "REPLACE INTO shop.t VALUES (1, 'one')", f"REPLACE INTO shop.t VALUES (2, '{long}')", "DELETE FROM shop.t"
    )
    told = values(database, start, database.now())
    assert told[:2] == [(1, 1, "one"), (1, 2, long)]
    assert {row[:2] for row in told[2:]} >= {(4, 1), (4, 2)}


@pytest.mark.long
def test_rows_that_agree_with_no_known_table_need_metadata(own: MariaDb) -> None:
    """Two ALTERs that the stream was never told of: an error, not a guess."""
    database = open_database(own)
    start = database.begin()
    own.execute("CREATE TABLE shop.u (a INT, b INT)")
    known_later = MysqlDatabase(MysqlSettings.of({**own.options, "tables": "shop.u"}))
    table = known_later.tables()
    own.execute("ALTER TABLE shop.u ADD COLUMN c INT")
    begin = known_later.begin()
    own.execute("INSERT INTO shop.u VALUES (1, 2, 3)", "ALTER TABLE shop.u DROP COLUMN a, DROP COLUMN b")
    with pytest.raises(LakewardError, match=r"rows of shop\.u with 3 columns.*SET GLOBAL binlog_row_metadata = 'FULL'"):
        list(known_later.changes(begin, known_later.now(), table))
    assert values(database, start, database.now()) == []


def test_a_server_that_is_away_can_be_asked_again(own: MariaDb) -> None:
    """It stops, its port refuses, it comes back with its binlog, and the stream goes on where it was."""
    database = open_database(own)
    start = database.begin()
    own.execute("REPLACE INTO shop.t VALUES (10, 'before')")
    own.kill()
    with pytest.raises(RetriableError, match=r"cannot be reached|broke"):
        database.now()
    own.start()
    own.execute("REPLACE INTO shop.t VALUES (11, 'after')")
    end = database.now()
    assert end["file"] > start["file"]
    assert values(database, start, end) == [(1, 10, "before"), (1, 11, "after")]


def test_a_purged_binlog_says_what_to_do(own: MariaDb) -> None:
    """Nothing is skipped in silence."""
    database = open_database(own)
    start = database.begin()
    own.execute("REPLACE INTO shop.t VALUES (20, 'gone')", "FLUSH BINARY LOGS", "FLUSH BINARY LOGS")
    last = own.query("SHOW MASTER STATUS")[0][0]
    while any(row[0] == start["file"] for row in own.query("SHOW BINARY LOGS")):
        own.execute(f"PURGE BINARY LOGS TO '{last}'")  # not while the server believes that somebody reads it
    with pytest.raises(LakewardError, match=r"no longer has the place where this stream stopped.*fresh checkpoint"):
        values(database, start, database.now())


def test_after_a_failover_the_stream_goes_on_by_its_gtid(own: MariaDb) -> None:
    """Files of another server mean nothing here; the transactions do."""
    database = open_database(own)
    own.execute("REPLACE INTO shop.t VALUES (30, 'old')")
    start = database.begin()
    own.execute("FLUSH BINARY LOGS", "REPLACE INTO shop.t VALUES (31, 'new')")
    elsewhere = {**start, "file": "other.000777", "pos": 12345, "server": "99"}
    end = database.now()
    assert database.is_after(end, elsewhere)
    assert not database.is_after(elsewhere, end)
    assert values(database, elsewhere, end) == [(1, 31, "new")]
    with pytest.raises(LakewardError, match="knows no GTID"):
        values(database, {**elsewhere, "gtid": ""}, end)
