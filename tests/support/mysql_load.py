"""Somebody who changes a MariaDB at random while it is captured, and tables put together from what was captured."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import pyarrow as pa
import pymysql
from mariadb import MariaDb

from lakeward.capture.port import Event, SchemaChange, TableId, TableRows

#: One integer, several columns with a collation, no key, an engine without transactions, and keys that are texts.
TABLES = {
    "one": "id INT PRIMARY KEY, v VARCHAR(40), n DECIMAL(12, 2)",
    "two": "a VARCHAR(20) COLLATE utf8mb4_general_ci, b SMALLINT UNSIGNED, v TEXT, PRIMARY KEY (a, b)",
    "bag": "x INT, v VARCHAR(10)",
    "plain": "id BIGINT PRIMARY KEY, v VARCHAR(40)",
    "texts": "k VARCHAR(30) CHARACTER SET latin1 PRIMARY KEY, d DATETIME(3)",
}
_ENGINES = {"plain": "MyISAM"}
_WORDS = ("a", "A", "b", "ä", "É", "zz", "o'h", "x\\y", "")
_EXPECTED = (1062, 1213, 1205, 1020)


class RandomChanges(threading.Thread):
    """Inserts, updates, deletes, changes of keys and rollbacks until it is told to stop."""

    def __init__(self, server: MariaDb, database: str, seed: int) -> None:
        super().__init__(daemon=True)
        self._server, self._database = server, database
        self._random = random.Random(seed)
        self._over = threading.Event()
        self.transactions = 0
        self.failure: Exception | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        """Change until the end."""
        try:
            with self._server.connect(self._database, autocommit=False) as connection:
                while not self._over.is_set():
                    self.change(connection)
        except Exception as wrong:  # noqa: BLE001 - told in the test's own thread
            self.failure = wrong

    def wait_for(self, transactions: int) -> None:
        """Until so many were made."""
        while self.transactions < transactions and self.is_alive():
            self._over.wait(0.01)

    def change(self, connection: pymysql.connections.Connection[Any]) -> None:
        """One transaction."""
        with connection.cursor() as cursor:
            for _ in range(self._random.randrange(1, 6)):
                try:
                    cursor.execute(self._statement())
                except pymysql.err.MySQLError as wrong:
                    if wrong.args[0] not in _EXPECTED:
                        raise
        if self._random.random() < 0.15:
            connection.rollback()
        else:
            connection.commit()
        self.transactions += 1

    def _statement(self) -> str:
        """Any change of any table."""
        roll, r = self._random.random(), self._random
        id_, other, word = r.randrange(400), r.randrange(400), r.choice(_WORDS).replace("\\", "\\\\").replace("'", "''")
        match r.choice(list(TABLES)):
            case "one" if roll < 0.4:
                return f"INSERT INTO one VALUES ({id_}, '{word}', {other}.25), ({other + 400}, NULL, -1)"
            case "one" if roll < 0.6:
                return f"UPDATE one SET v = '{word}{other}', n = n + 1 WHERE id BETWEEN {id_} AND {id_ + 9}"
            case "one" if roll < 0.8:
                return f"UPDATE one SET id = {other + 200} WHERE id = {id_}"
            case "one":
                return f"DELETE FROM one WHERE id BETWEEN {id_} AND {id_ + 4}"
            case "two" if roll < 0.5:
                return f"INSERT INTO two VALUES ('{word}{id_ % 9}', {other}, '{word}')"
            case "two" if roll < 0.7:
                return f"UPDATE two SET a = UPPER(a) WHERE b = {other}"
            case "two" if roll < 0.8:
                return f"UPDATE two SET b = b + 1000 WHERE b = {other}"
            case "two":
                return f"DELETE FROM two WHERE b < {id_ % 40}"
            case "bag" if roll < 0.5:
                return f"INSERT INTO bag VALUES ({id_ % 7}, '{word}'), ({id_ % 5}, NULL)"
            case "bag" if roll < 0.8:
                return f"UPDATE bag SET v = '{word}' WHERE x = {id_ % 7} LIMIT 2"
            case "bag":
                return f"DELETE FROM bag WHERE x = {id_ % 7} LIMIT 3"
            case "plain" if roll < 0.6:
                return f"REPLACE INTO plain VALUES ({id_}, '{word}')"
            case "plain":
                return f"DELETE FROM plain WHERE id = {id_}"
            case _ if roll < 0.6:
                return f"REPLACE INTO texts VALUES ('{word}{id_}', '2024-01-01 00:00:00.{other:03}')"
            case _:
                return f"DELETE FROM texts WHERE k LIKE '%{id_ % 100}'"


def make_tables(server: MariaDb, database: str, seed: int) -> None:
    """A new database with tables that hold something."""
    server.execute(f"CREATE DATABASE {database}")
    server.execute(
        *(f"CREATE TABLE {name} ({columns}) ENGINE {_ENGINES.get(name, 'InnoDB')}" for name, columns in TABLES.items()),
        database=database,
    )
    first = RandomChanges(server, database, seed)
    with server.connect(database, autocommit=False) as connection:
        for _ in range(300):
            first.change(connection)


class Replayed:
    """Tables by value, made of copied rows and changes: rows by key, or counted where there is no key."""

    def __init__(self) -> None:
        self.keys: dict[TableId, tuple[str, ...]] = {}
        self.rows: dict[TableId, dict[Any, Any]] = {}
        self.bags: dict[TableId, Counter[Any]] = {}

    def add(self, id_: TableId, key: tuple[str, ...], batches: Iterable[pa.RecordBatch]) -> None:
        """Copied rows: none may be there yet."""
        self.keys[id_] = key
        rows, bag = self.rows.setdefault(id_, {}), self.bags.setdefault(id_, Counter())
        for batch in batches:
            for row in batch.to_pylist():
                value = tuple(row.values())
                if key:
                    assert tuple(row[k] for k in key) not in rows, f"{id_} has a row twice: {row}"
                    rows[tuple(row[k] for k in key)] = value
                else:
                    bag[value] += 1

    def apply(self, events: Iterable[Event]) -> None:
        """Changes: an insert finds nothing, an update and a delete find what they say was there."""
        for event in events:
            assert not isinstance(event, SchemaChange), event
            self._apply_rows(event)

    def _apply_rows(self, event: TableRows) -> None:
        id_ = event.table.id
        key = self.keys[id_]
        rows, bag = self.rows[id_], self.bags[id_]
        assert event.kinds is not None
        for kind, row in zip(event.kinds.to_pylist(), event.rows.to_pylist(), strict=True):
            value = tuple(row.values())
            name = tuple(row[k] for k in key)
            if kind in (1, 3):
                assert not key or kind == 3 or name not in rows, f"{id_} has {name} already"
                rows[name] = value
                bag[value] += 1
            elif key:
                assert rows[name] == value, f"{id_} has another row before"
                if kind == 4:
                    del rows[name]
            else:
                assert bag[value] > 0, f"{id_} has no such row: {value}"
                bag[value] -= 1

    def table(self, id_: TableId) -> list[tuple[Any, ...]]:
        """Its rows, sorted."""
        rows = self.rows[id_].values() if self.keys[id_] else (+self.bags[id_]).elements()
        return sorted(rows, key=repr)
