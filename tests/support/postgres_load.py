"""Random work on tables of a PostgreSQL, from several connections at once: inserts, updates, deletes, new keys."""

from __future__ import annotations

import contextlib
import random
import threading
from types import TracebackType
from typing import Any, Self

import psycopg
from postgres import Database

TABLES = {
    # key of one column, the identity that tables have by default, and a value too long to stay in its row
    "plain": "CREATE TABLE plain (id int PRIMARY KEY, v text, n int, long text)",
    # key of two columns, one of them text with an order of its own; old rows are told whole
    "pairs": 'CREATE TABLE pairs (a text COLLATE "C", b int, v text, long text, PRIMARY KEY (a, b))',
    # no key at all
    "heap": "CREATE TABLE heap (v text, n int)",
    # a key of uuids
    "ids": "CREATE TABLE ids (id uuid PRIMARY KEY, v text)",
}
FULL = ("pairs", "heap")
_KEYS = 60


def make_tables(connection: psycopg.Connection[Any]) -> None:
    """The tables that the work is on."""
    for statement in TABLES.values():
        connection.execute(statement)
    for table in FULL:
        connection.execute(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
    connection.execute("ALTER TABLE plain ALTER COLUMN long SET STORAGE EXTERNAL")
    connection.execute("ALTER TABLE pairs ALTER COLUMN long SET STORAGE EXTERNAL")


class Load:
    """Works until it is left; transactions of one to four statements, some of which are taken back."""

    def __init__(self, database: Database, seed: int, threads: int = 3) -> None:
        self._database, self._stop = database, threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(seed * 100 + n,)) for n in range(threads)]
        self.wrong: list[BaseException] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert not self.wrong, self.wrong

    def _work(self, seed: int) -> None:
        dice = random.Random(seed)
        try:
            with self._database.connect() as connection:
                while not self._stop.is_set():
                    one_transaction(connection, dice)
        except psycopg.OperationalError:
            pass  # the server was killed; the test says so
        except BaseException as wrong:  # noqa: BLE001
            self.wrong.append(wrong)


def one_transaction(connection: psycopg.Connection[Any], dice: random.Random) -> None:
    """A few statements; what meets another transaction's row in the wrong order is taken back."""
    collisions = (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected)
    with contextlib.suppress(*collisions, psycopg.Rollback), connection.transaction():
        for _ in range(dice.randint(1, 4)):
            connection.execute(*statement(dice))
        if dice.random() < 0.1:
            raise psycopg.Rollback


def statement(dice: random.Random) -> tuple[str, list[Any]]:
    """A statement on one of the tables."""
    key, other, word = dice.randrange(_KEYS), dice.randrange(_KEYS), f"w\t{dice.random()}"
    letter, long = "abAB"[dice.randrange(4)], str(dice.random()) * 200
    some_id = f"00000000-0000-0000-0000-{key:012d}"
    return dice.choice(
        [
            ("INSERT INTO plain VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", [key, word, other, long]),
            ("INSERT INTO plain VALUES (%s, %s, %s, NULL) ON CONFLICT DO NOTHING", [key, word, other]),
            ("UPDATE plain SET v = %s WHERE id = %s", [word, key]),
            ("UPDATE plain SET v = NULL, n = n + 1 WHERE id BETWEEN %s AND %s", [min(key, other), max(key, other)]),
            ("UPDATE plain SET id = %s WHERE id = %s", [other, key]),
            ("DELETE FROM plain WHERE id = %s", [key]),
            ("INSERT INTO pairs VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", [letter, key % 9, word, long]),
            ("UPDATE pairs SET v = %s WHERE a = %s AND b = %s", [word, letter, key % 9]),
            ("UPDATE pairs SET b = %s WHERE a = %s AND b = %s", [other % 9, letter, key % 9]),
            ("DELETE FROM pairs WHERE a = %s AND b = %s", [letter, key % 9]),
            ("INSERT INTO heap VALUES (%s, %s)", [letter, key]),
            ("UPDATE heap SET n = %s WHERE n = %s", [other, key]),
            ("DELETE FROM heap WHERE n = %s AND v = %s", [key, letter]),
            ("INSERT INTO ids VALUES (%s, %s) ON CONFLICT DO NOTHING", [some_id, word]),
            ("UPDATE ids SET v = %s WHERE id = %s", [word, some_id]),
            ("DELETE FROM ids WHERE id = %s", [some_id]),
        ]
    )
