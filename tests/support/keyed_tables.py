"""Primary key tables for tests of the client."""

from __future__ import annotations

import asyncio
from typing import Any

import pyarrow as pa

import lakeward

#: Apache Fluss forgets to elect leaders of a new table now and then; a second table then works at once.
_LEADERS_S = 10
_ATTEMPTS = 3
COLUMNS = "id BIGINT, name STRING, price DOUBLE"


async def keyed_table(
    connection: lakeward.AsyncConnection, database: str, columns: Any = COLUMNS, **options: Any
) -> lakeward.AsyncTable:
    """A fresh primary key table whose buckets, unless it is partitioned, have leaders."""
    options = {"primary_key": ["id"], "buckets": 3, **options}
    for attempt in range(_ATTEMPTS):
        table = await connection.create_table(f"{database}.keyed_{attempt}", columns, exist_ok=False, **options)
        try:
            async with asyncio.timeout(_LEADERS_S):
                await table.offsets()
        except TimeoutError:
            continue
        return table
    raise AssertionError("no table got its leaders")


def rows(*ids: int, name: str = "row", price: float = 1.5) -> list[dict[str, Any]]:
    """Rows of COLUMNS."""
    return [{"id": i, "name": f"{name} {i}", "price": price} for i in ids]


def by_id(table: pa.Table) -> dict[int, str | None]:
    """Names by id, whatever the order of the rows."""
    found = dict(zip(table["id"].to_pylist(), table["name"].to_pylist(), strict=True))
    assert len(found) == table.num_rows
    return found
