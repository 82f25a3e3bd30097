"""ShopDatabase: orders in a PostgreSQL, placed, changed, given another number and cancelled, again and again."""

from __future__ import annotations

import threading
from _thread import interrupt_main
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

from lakeward.cli.demo.orders import Orders
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy

TABLE = "orders"
_MAKE = """
CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, item text, qty int, price numeric(10,2),
                     placed_at timestamptz(3))
"""
_PLACE = "INSERT INTO orders VALUES (%(id)s, %(customer)s, %(item)s, %(qty)s, %(price)s, %(placed_at)s)"
_SOME = "(SELECT id FROM orders ORDER BY random() LIMIT 1)"
_MORE = f"UPDATE orders SET price = price * (qty + 1) / qty, qty = qty + 1 WHERE id = {_SOME}"  # noqa: S608
_MOVE = f"UPDATE orders SET id = id + 1000000 WHERE id = {_SOME} AND id < 1000000"  # noqa: S608
_CANCEL = f"DELETE FROM orders WHERE id = {_SOME}"  # noqa: S608
#: Of ten statements.
_SHARES = (_PLACE, _PLACE, _PLACE, _PLACE, _PLACE, _MORE, _MORE, _MORE, _MOVE, _CANCEL)
_FIRST_ORDERS = 20


class ShopDatabase:
    """Makes the table, with a few orders; changes them from a thread of its own while it is entered."""

    def __init__(self, uri: str, rate: float) -> None:
        import psycopg

        self._connection: Any = psycopg.connect(uri, autocommit=True)
        self._entropy = SystemEntropy()
        self._orders = Orders(SystemClock(), self._entropy)
        self._pause_s = 1 / rate
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="shop", daemon=True)
        self.failure: Exception | None = None
        self._connection.execute(_MAKE)
        for _ in range(_FIRST_ORDERS):
            self._connection.execute(_PLACE, self._orders.next())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self._connection.close()

    def start(self) -> None:
        """Begin to change orders."""
        self._thread.start()

    def stop(self) -> None:
        """Change no more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def totals(self) -> tuple[int, Decimal]:
        """How many orders there are, and what they are worth."""
        found: tuple[int, Decimal] = self._connection.execute(
            "SELECT count(*), coalesce(sum(price), 0) FROM orders"
        ).fetchone()
        return found

    def _work(self) -> None:
        try:
            while not self._stopping.wait(self._pause_s):
                statement = _SHARES[self._entropy.below(len(_SHARES))]
                self._connection.execute(statement, self._orders.next() if statement is _PLACE else None)
        except Exception as wrong:  # noqa: BLE001 - the reader may wait for ever for changes that nobody makes
            self.failure = wrong
            interrupt_main()
