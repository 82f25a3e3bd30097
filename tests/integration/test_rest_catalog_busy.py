"""The Iceberg REST catalog while rows come and rounds commit: a table$now is what our own SQL says at that moment."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from catalog_process import CatalogProcess
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward

_KEYS, _BATCH, _LOOKS = 300, 40, 5


class Busy:
    """Two tables that change all the time, one by key and one a log, and rounds of both."""

    def __init__(self, lake: Warehouse) -> None:
        self._lake = lake
        lake.conn.create_database("shop")
        given: dict[str, Any] = {"buckets": 2, "properties": TIERED}
        columns = "id BIGINT NOT NULL, n BIGINT"
        self.keyed = lake.conn.create_table("shop.keyed", columns, primary_key=["id"], **given)
        self.log = lake.conn.create_table("shop.log", columns, **given)
        self.rounds = 0
        #: Who holds it sees rows that stand still; rounds go on.
        self.still = threading.Lock()
        self._ended = threading.Event()
        self._chance = random.Random(21)
        self._n = 0

    def write(self) -> None:
        """One batch: numbers only grow, some keys go and come back."""
        with self.still:
            self._n += 1
            ids = [self._chance.randrange(_KEYS) for _ in range(_BATCH)]
            self.keyed.upsert([{"id": i, "n": self._n} for i in ids])
            self.keyed.delete([{"id": self._chance.randrange(_KEYS)}])
            self.log.append([{"id": i, "n": self._n} for i in ids])

    def tier(self) -> None:
        """One round of each."""
        for table in (self.keyed, self.log):
            self._lake.round(table)
        self.rounds += 1

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Batches and rounds until the end of it; what fails in them fails here."""

        def again(work: Callable[[], None]) -> None:
            while not self._ended.wait(0.02):
                work()

        with ThreadPoolExecutor(2) as threads:
            running = [threads.submit(again, work) for work in (self.write, self.tier)]
            try:
                yield
            finally:
                self._ended.set()
            for one in running:
                one.result()


def pairs(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Rows in an order."""
    return sorted((row["id"], row["n"]) for row in rows)


def by_sql(conn: lakeward.Connection, name: str) -> list[tuple[int, int]]:
    """A table by our own SQL."""
    return pairs(conn.sql(f"SELECT id, n FROM shop.{name}").to_pylist())


def test_it_is_equal_to_our_own_sql_at_each_moment(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Equal whenever no row comes, while rounds commit; between what was before and after it while rows come."""
    server = new_server()
    place = tmp_path / "lake"
    lake = Warehouse(server.bootstrap, place, is_told=True)
    arguments = ("--warehouse", str(place), "--refresh", "0 s")
    with CatalogProcess(server.bootstrap, tmp_path / "log", *arguments, "--key-memory", "20 kb") as catalog:
        busy, conn = Busy(lake), lake.conn
        busy.write()
        with busy.going_on(), catalog.duckdb() as duck:
            for look in range(_LOOKS):
                before = by_sql(conn, "log")
                seen = pairs(catalog.rows_by_pyiceberg("shop.log$now"))
                after = by_sql(conn, "log")
                assert len(before) <= len(seen) <= len(after)
                assert set(before) <= set(seen) <= set(after)
                with busy.still:
                    for name in ("log", "keyed"):
                        assert pairs(catalog.rows_by_pyiceberg(f"shop.{name}$now")) == by_sql(conn, name), look
                        found = duck.execute(f'SELECT id, n FROM lake.shop."{name}$now"').to_arrow_table()
                        assert pairs(found.to_pylist()) == by_sql(conn, name), look
        assert busy.rounds
        assert "Traceback" not in catalog.log_text
    lake.close()
