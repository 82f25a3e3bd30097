"""MySQL capture against other Python clients: `python -m bench.ingest.mysql_capture [--rows N] [--peers DIRECTORY]`.

A real MariaDB (Debian's, see tests/support/mariadb.py). Reads a table into Arrow, and decodes the binlog; each beside
every other client that can be imported: connectorx, mysql-connector-python, PyMySQL; mysql-replication. They are no
dependencies of ours: `--peers` names a site-packages directory to look in. Best of the rounds, one after the other.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pymysql
import pymysql.cursors

from lakeward.capture.mysql.mysql_database import MysqlDatabase
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import ChangeKind, TableRows

_ROWS_PER_INSERT = 5000
_PEER_ROWS = 50_000
_QUERY = "SELECT * FROM bench.orders"
_COLUMNS = (
    "id BIGINT PRIMARY KEY, customer INT NOT NULL, name VARCHAR(40), amount DECIMAL(12, 2), created DATETIME(3),"
    " changed TIMESTAMP NULL, score DOUBLE, note VARCHAR(100)"
)
Reader = Callable[[], int]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.ingest.mysql_capture", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the table (default 1,000,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the best counts (default 3)")
    parser.add_argument("--peers", help="a directory with more libraries to compare with")
    arguments = parser.parse_args()
    if arguments.peers:
        sys.path.append(arguments.peers)
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))
    from mariadb import MariaDb

    with MariaDb(innodb_buffer_pool_size="512M", max_allowed_packet="64M") as server:
        server.execute("CREATE DATABASE bench", f"CREATE TABLE bench.orders ({_COLUMNS})")
        database = MysqlDatabase(MysqlSettings.of({**server.options, "tables": "bench.orders"}))
        start = database.begin()
        fill(server, arguments.rows)
        end = database.now()
        compare("snapshot into Arrow", arguments.rounds, snapshot_readers(server, database, arguments.rows))
        whole = {"Lakeward": (lambda: count_changes(database, start, end), arguments.rows)}
        compare("binlog, inserts of 5,000 rows", arguments.rounds, {**whole, **replication_peer(server, start)})
        start = database.now()
        single_changes(server, _PEER_ROWS)
        end = database.now()
        single = {"Lakeward": (lambda: count_changes(database, start, end), _PEER_ROWS)}
        compare("binlog, one update a transaction", arguments.rounds, {**single, **replication_peer(server, start)})


def fill(server: Any, rows: int) -> None:
    """The table's rows, some thousand a transaction."""
    with server.connect("bench") as connection, connection.cursor() as cursor:
        for begin in range(0, rows, _ROWS_PER_INSERT):
            values = ",".join(
                f"({i}, {i % 5000}, 'customer {i % 5000}', {i % 100000}.{i % 100:02},"
                f" '2026-01-01 10:{i % 60:02}:00.{i % 1000:03}',"
                f" '2026-01-02 00:00:{i % 60:02}', {i / 7}, 'a note of some length about order {i}')"
                for i in range(begin, min(begin + _ROWS_PER_INSERT, rows))
            )
            cursor.execute(f"INSERT INTO orders VALUES {values}")


def single_changes(server: Any, count: int) -> None:
    """Updates of one row, each committed by itself."""
    with server.connect("bench") as connection, connection.cursor() as cursor:
        for i in range(count):
            cursor.execute(f"UPDATE orders SET amount = amount + 1 WHERE id = {i}")


def count_changes(database: MysqlDatabase, start: Any, end: Any) -> int:
    """Rows that were changed, read as a stream reads them; an update counts once."""
    rows = 0
    for event in database.changes(start, end, database.tables()):
        assert isinstance(event, TableRows)
        assert event.kinds is not None
        rows += int((event.kinds.to_numpy() != ChangeKind.UPDATE_BEFORE).sum())
    return rows


def snapshot_readers(server: Any, database: MysqlDatabase, rows: int) -> dict[str, tuple[Reader, int]]:
    """Every client that reads the table into Arrow."""

    def ours() -> int:
        table, as_of = database.tables()[0], database.now()
        batches = [
            batch for chunk in database.chunks(table, 250_000) for batch in database.read_chunk(table, chunk, as_of)
        ]
        return pa.Table.from_batches(batches).num_rows

    def by_connectorx() -> int:
        import connectorx

        uri = f"mysql://root@127.0.0.1:{server.port}/bench"
        return int(connectorx.read_sql(uri, _QUERY, return_type="arrow").num_rows)

    def by_connector() -> int:
        import mysql.connector

        with mysql.connector.connect(host="127.0.0.1", port=server.port, user="root", password="") as connection:
            cursor = connection.cursor()
            cursor.execute(_QUERY)
            return arrow_of(cursor).num_rows

    def by_pymysql() -> int:
        with server.connect("bench") as connection, connection.cursor(pymysql.cursors.SSCursor) as cursor:
            cursor.execute(_QUERY)
            return arrow_of(cursor).num_rows

    peers = {"connectorx": by_connectorx, "mysql": by_connector, "pymysql": by_pymysql}
    found = {name: (read, rows) for name, read in peers.items() if importlib.util.find_spec(name)}
    return {"Lakeward": (ours, rows), **found}


def arrow_of(cursor: Any) -> pa.Table:
    """What a cursor gives, as Arrow."""
    tables = []
    names = [column[0] for column in cursor.description]
    while rows := cursor.fetchmany(50_000):
        tables.append(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))))
    return pa.concat_tables(tables, promote_options="permissive")


def replication_peer(server: Any, start: Any) -> dict[str, tuple[Reader, int]]:
    """mysql-replication from the same place, for as many rows as it reads in some seconds."""
    if importlib.util.find_spec("pymysqlreplication") is None:
        return {}

    def read() -> int:
        from pymysqlreplication import BinLogStreamReader
        from pymysqlreplication.row_event import UpdateRowsEvent, WriteRowsEvent

        stream = BinLogStreamReader(
            connection_settings={"host": "127.0.0.1", "port": server.port, "user": "root", "passwd": ""},
            server_id=4711,
            log_file=start["file"],
            log_pos=start["pos"],
            resume_stream=True,
            blocking=False,
            only_events=[WriteRowsEvent, UpdateRowsEvent],
        )
        rows = 0
        for event in stream:
            rows += len(event.rows)
            if rows >= _PEER_ROWS:
                break
        stream.close()
        return rows

    return {"mysql-replication": (read, _PEER_ROWS)}


def compare(title: str, rounds: int, readers: dict[str, tuple[Reader, int]]) -> None:
    """Run every reader in every round and print the best of each; a wrong number of rows is no figure."""
    best: dict[str, float] = {}
    for number in range(rounds + 1):
        for name, (read, rows) in readers.items():
            begin = time.perf_counter()
            found = read()
            seconds = time.perf_counter() - begin
            assert found >= rows if name == "mysql-replication" else found == rows, f"{name}: {found} of {rows} rows"
            if number:  # the first round compiles and warms
                best[name] = max(best.get(name, 0), found / seconds)
    print(f"\n{title}")
    for name, speed in best.items():
        print(f"  {name:<20} {speed / 1000:>8.1f} krow/s   ours is {best['Lakeward'] / speed:.2f} ×")


if __name__ == "__main__":
    main()
