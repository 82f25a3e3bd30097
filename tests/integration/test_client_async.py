"""The asyncio twin, on the loop that is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from client_rows import fresh, numbered

import lakeward


@pytest.fixture
async def conn(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """A connection with a database of its own."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        await made.create_database("client_async", exist_ok=True)
        yield made


async def test_the_same_names_as_coroutines(conn: lakeward.AsyncConnection) -> None:
    """Create, append, scan, describe, drop."""
    path = f"client_async.{fresh('t')}"
    table = await conn.create_table(path, "id BIGINT, name STRING", buckets=2)
    assert await conn.has_table(path)
    assert (await table.append(numbered(0, 10))).rows == 10
    assert (await table.scan(["id"]).to_arrow()).num_rows == 10
    assert len(await table.scan().to_pandas()) == 10
    assert len(await table.scan().to_polars()) == 10
    assert sum((await table.offsets()).values()) == await table.count() == 10
    assert (await table.head(2)).num_rows == 2
    await conn.drop_table(path)
    with pytest.raises(lakeward.NotFoundError):
        await conn.table(path)


async def test_a_connection_is_opened_by_with_await_or_a_task(server: Any) -> None:
    """Whichever somebody writes first."""
    async with lakeward.aconnect(server.bootstrap) as by_with, await lakeward.aconnect(server.bootstrap) as by_await:
        assert await by_with.databases() == await by_await.databases()
    by_task = await asyncio.create_task(lakeward.aconnect(server.bootstrap))
    await by_task.close()
    with pytest.raises(lakeward.LakewardError):
        async with lakeward.aconnect("localhost:1", connect_timeout="200ms"):
            pass


async def test_many_appends_at_once(conn: lakeward.AsyncConnection) -> None:
    """Concurrent appends each return when their own rows are acknowledged."""
    table = await conn.create_table(f"client_async.{fresh('t')}", "id BIGINT, name STRING", buckets=3)
    results = await asyncio.gather(*(table.append(numbered(i * 10, 10)) for i in range(20)))
    assert sum(r.rows for r in results) == 200
    found = (await table.scan(["id"]).to_arrow()).column("id").to_pylist()
    assert sorted(found) == list(range(200))


async def test_following_while_writing(conn: lakeward.AsyncConnection) -> None:
    """A reader and a writer share the loop."""
    table = await conn.create_table(f"client_async.{fresh('t')}", "id BIGINT, name STRING")
    seen: list[int] = []

    async def read() -> None:
        async for batch in table.scan(limit=30).follow():
            seen.extend(batch.column("id").to_pylist())

    reading = asyncio.create_task(read())
    async with table.writer(linger_ms=1) as writer:
        for i in range(30):
            await writer.write(numbered(i, 1))
    await reading
    assert seen == list(range(30))


async def test_giving_up_a_reader(conn: lakeward.AsyncConnection) -> None:
    """A cancelled reader ends at once, and the connection goes on."""
    table = await conn.create_table(f"client_async.{fresh('t')}", "id BIGINT, name STRING")
    reading = asyncio.create_task(anext(table.scan().follow()))
    await asyncio.sleep(0)
    await table.count()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert await table.count() == 0


async def test_partitions_that_appear_are_followed(
    conn: lakeward.AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader of the whole table reads new partitions from their beginning."""
    monkeypatch.setattr("lakeward.client.read.scan._NEW_PARTITIONS_EVERY_S", 0.01)
    table = await conn.create_table(f"client_async.{fresh('p')}", "id BIGINT, dt STRING", partition_by=["dt"])
    await table.append([{"id": 1, "dt": "a"}])
    following = table.scan(["id"]).follow()
    assert (await anext(following)).column("id").to_pylist() == [1]
    await table.append([{"id": 2, "dt": "b"}])
    assert (await anext(following)).column("id").to_pylist() == [2]
    await following.aclose()
