"""SQL from asyncio: the same answers, without standing in the loop's way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.errors import LakewardError

pytestmark = pytest.mark.slow


@pytest.fixture
async def conn(lake: Warehouse) -> AsyncIterator[lakeward.AsyncConnection]:
    """A connection that knows it."""
    async with await lakeward.aconnect(lake.bootstrap, lake={"warehouse": str(lake.directory)}) as opened:
        yield opened


async def test_hot_and_cold_are_one_table(conn: lakeward.AsyncConnection, lake: Warehouse, database: str) -> None:
    """`await table.query(…)` and `await conn.sql(…)` answer as their blocking twins do."""
    table = await conn.create_table(f"{database}.log", "id BIGINT, name STRING", buckets=1, properties=TIERED)
    await table.append([{"id": i, "name": "cold"} for i in range(30)])
    await asyncio.to_thread(lake.round, lake.conn.table(str(table.path)))
    await table.append([{"id": i, "name": "hot"} for i in range(30, 40)])
    told = await table.query("SELECT name, count(*) AS n FROM t GROUP BY 1 ORDER BY 1")
    assert told.to_pylist() == [{"name": "cold", "n": 30}, {"name": "hot", "n": 10}]
    cold = await conn.sql(f'SELECT count(*) AS n FROM {database}."log$lake"')
    assert cold.to_pylist() == [{"n": 30}]
    assert (await table.query("SELECT max(id) AS n FROM t", {"scan.tiers": "lake"})).to_pylist() == [{"n": 29}]
    assert "lakeward_query_seconds_count 3" in conn.metrics().splitlines()


async def test_several_at_once_share_the_connection(conn: lakeward.AsyncConnection, database: str) -> None:
    """Each has a thread; all requests go through the one loop."""
    table = await conn.create_table(f"{database}.log", "id BIGINT", buckets=2)
    await table.append([{"id": i} for i in range(100)])
    found = await asyncio.gather(
        *(table.query(f"SELECT count(*) AS n FROM t WHERE id < {n}") for n in range(0, 100, 20))
    )
    assert [answer.to_pylist()[0]["n"] for answer in found] == list(range(0, 100, 20))


async def test_what_is_wrong_is_said_in_a_sentence(conn: lakeward.AsyncConnection, database: str) -> None:
    """As in blocking code: no query, no table."""
    table = await conn.create_table(f"{database}.log", "id BIGINT", buckets=1)
    with pytest.raises(LakewardError, match="This is no query"):
        await table.query("SELEC 1")
    with pytest.raises(LakewardError, match="not exist"):
        await conn.sql(f"SELECT * FROM {database}.nothing")


async def test_a_cancelled_query_asks_no_more(conn: lakeward.AsyncConnection, database: str) -> None:
    """The connection stays as good as it was."""
    table = await conn.create_table(f"{database}.log", "id BIGINT", buckets=1)
    await table.append([{"id": 1}])
    asked = asyncio.create_task(table.query("SELECT * FROM t"))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert (await table.query("SELECT * FROM t")).num_rows == 1
