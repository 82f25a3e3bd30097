"""The Iceberg REST catalog while rows come and rounds commit: a table$now is what our own SQL says at that moment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from busy_tables import COLUMNS, BusyTables
from catalog_process import CatalogProcess
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward

_LOOKS = 5


def pairs(rows: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Rows in an order."""
    return sorted((row["id"], row["n"]) for row in rows)


def by_sql(conn: lakeward.Connection, name: str) -> list[tuple[int, int]]:
    """A table by our own SQL."""
    return pairs(conn.sql(f"SELECT id, n FROM shop.{name}").to_pylist())


@pytest.mark.long
def test_it_is_equal_to_our_own_sql_at_each_moment(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Equal whenever no row comes, while rounds commit; between what was before and after it while rows come."""
    server = new_server()
    place = tmp_path / "lake"
    lake = Warehouse(server.bootstrap, place, is_told=True)
    arguments = ("--warehouse", str(place), "--refresh", "0 s")
    with CatalogProcess(server.bootstrap, tmp_path / "log", *arguments, "--key-memory", "20 kb") as catalog:
        conn = lake.conn
        conn.create_database("shop")
        given: dict[str, Any] = {"buckets": 2, "properties": TIERED}
        keyed = conn.create_table("shop.keyed", COLUMNS, primary_key=["id"], **given)
        log = conn.create_table("shop.log", COLUMNS, **given)
        busy = BusyTables(keyed, log, lake.round, pauses_s=(0.02, 0.02))
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
