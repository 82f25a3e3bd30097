"""Somebody who changes a table of a database all the time, also over its crashes."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Callable
from typing import Any

import psycopg
import pymysql

_AWAY = (psycopg.Error, pymysql.err.Error, OSError)


class SteadyChanger:
    """Inserts, updates, deletes and moves of keys, in transactions of some rows, on a thread of its own.

    `connect` opens a connection that does not commit by itself, of either database. The table is
    `pairs (a, b, n)` with the key (a, b); what is in it afterwards, only the database knows.
    """

    def __init__(self, connect: Callable[[], Any], seed: int, pause_s: float = 0.01) -> None:
        self._connect = connect
        self._chance = random.Random(seed)
        self._pause_s = pause_s
        self._is_over = threading.Event()
        self.transactions = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """No more changes."""
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.is_set():
            with contextlib.suppress(*_AWAY), contextlib.closing(self._connect()) as connection:
                while not self._is_over.wait(self._pause_s):
                    self._change(connection)
            self._is_over.wait(0.1)

    def _change(self, connection: Any) -> None:
        with connection.cursor() as cursor:
            for _ in range(self._chance.randint(1, 5)):
                a, b, n = self._chance.randint(0, 60), f"b{self._chance.randint(0, 60)}", self._chance.randint(0, 10**6)
                match self._chance.randint(0, 5):
                    case 0:
                        cursor.execute("DELETE FROM pairs WHERE a = %s AND b = %s", (a, b))
                    case 1:
                        other = self._chance.randint(0, 60)
                        cursor.execute("SELECT 1 FROM pairs WHERE a = %s AND b = %s FOR UPDATE", (other, b))
                        if not cursor.fetchall():
                            cursor.execute("UPDATE pairs SET a = %s, n = n + 1 WHERE a = %s AND b = %s", (other, a, b))
                    case 2 | 3:
                        cursor.execute("UPDATE pairs SET n = %s WHERE a = %s AND b = %s", (n, a, b))
                    case _:
                        cursor.execute("DELETE FROM pairs WHERE a = %s AND b = %s", (a, b))
                        cursor.execute("INSERT INTO pairs VALUES (%s, %s, %s)", (a, b, n))
        connection.commit()
        self.transactions += 1
