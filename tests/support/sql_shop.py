"""A shop behind `lakeward sql serve`: one table by key, partly in the lake and changed since, one log table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

from sql_server_process import SqlServerProcess
from tiering_runs import TIERED, Warehouse

MOMENT = dt.datetime(2026, 11, 1, 10, 0, 0, 120_000)


def order(n: int, item: str | None = None) -> dict[str, Any]:
    """A row."""
    return {
        "id": n,
        "item": item or f"item {n}",
        "price": Decimal(n) + Decimal("0.50"),
        "at": MOMENT,
        "seen": MOMENT.replace(tzinfo=dt.UTC),
        "day": MOMENT.date(),
        "ok": n % 2 == 0,
        "weight": n / 4,
        "tags": ["a", "b c", None],
    }


def half_tiered_orders(lake: Warehouse, database: str) -> None:
    """A table `orders`: some of it is in the lake, some in the log, and some changed after it was tiered."""
    orders = lake.conn.create_table(
        f"{database}.orders",
        "id BIGINT NOT NULL, item STRING, price DECIMAL(10, 2), at TIMESTAMP(3), seen TIMESTAMP_LTZ(3), day DATE, "
        "ok BOOLEAN, weight DOUBLE, tags ARRAY<STRING>",
        primary_key=["id"],
        buckets=2,
        properties=TIERED,
    )
    orders.upsert([order(n) for n in range(100)])
    lake.round(orders)
    orders.upsert([order(n, item="changed") for n in range(90, 110)])


@contextmanager
def sql_shop(bootstrap: str, directory: Path, database: str, *arguments: str) -> Iterator[SqlServerProcess]:
    """110 orders and 1,000 clicks in a database, and a SQL server that knows their lake."""
    lake = Warehouse(bootstrap, directory / "lake")
    lake.conn.create_database(database)
    half_tiered_orders(lake, database)
    clicks = lake.conn.create_table(f"{database}.clicks", "n INT, page STRING, raw BYTES", comment="who clicked")
    clicks.append([{"n": n, "page": f"p{n % 7}" if n % 10 else None, "raw": b"\0xy"} for n in range(1000)])
    try:
        with SqlServerProcess(
            bootstrap, directory / "sql.log", "--warehouse", str(lake.directory), *arguments
        ) as started:
            yield started
        assert "Traceback" not in started.log_text, started.log_text[-8000:]
    finally:
        for table in ("orders", "clicks"):
            lake.conn.drop_table(f"{database}.{table}")
        lake.conn.drop_database(database)
        lake.close()
