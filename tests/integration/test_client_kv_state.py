"""The changelog as Arrow, the state as it is now, and that one follows from the other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from keyed_tables import by_id, keyed_table, rows

import lakeward
from lakeward.client.state import state
from lakeward.protocol.api import Api
from lakeward.rpc.channel import Channel


@pytest.fixture
async def conn(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        yield made


async def test_a_changelog_says_what_changed(conn: lakeward.AsyncConnection, database: str) -> None:
    """Inserted, before and after an update, deleted; with offsets and times, from any offset on."""
    table = await keyed_table(conn, database, buckets=1)
    for write in (rows(1, name="x"), rows(1, name="y"), rows(2, name="stays")):
        await table.upsert(write)
    await table.delete([1])
    changes = await table.changelog().to_arrow()
    assert changes.column_names == ["id", "name", "price", "_bucket", "_offset", "_timestamp", "_change_type"]
    told = [(c["_offset"], c["_change_type"], c["name"]) for c in changes.to_pylist()]
    assert told == [(0, "+I", "x 1"), (1, "-U", "x 1"), (2, "+U", "y 1"), (3, "+I", "stays 2"), (4, "-D", "y 1")]
    later = await table.changelog(["id"], start=3).to_arrow()
    assert later["_change_type"].to_pylist() == ["+I", "-D"]
    assert later.column_names[0] == "id"
    assert (await table.changelog(limit=2).to_arrow()).num_rows == 2
    assert (await table.changelog(end=1).to_arrow()).num_rows == 1


async def test_a_changelog_is_followed(conn: lakeward.AsyncConnection, database: str) -> None:
    """Changes arrive as they are made."""
    table = await keyed_table(conn, database)
    await table.upsert(rows(1))
    seen = []
    async for batch in table.changelog(limit=3).follow():
        seen += batch["_change_type"].to_pylist()
        if len(seen) == 1:
            await table.upsert(rows(1, name="again"))
    assert seen == ["+I", "-U", "+U"]


async def test_a_changelog_without_old_rows(conn: lakeward.AsyncConnection, database: str) -> None:
    """With the image WAL every upsert is +U; state and count are right all the same."""
    table = await keyed_table(conn, database, buckets=1, properties={"table.changelog.image": "WAL"})
    await table.upsert(rows(1, 2))
    await table.upsert(rows(2, name="new"))
    await table.delete([1])
    changes = (await table.changelog().to_arrow())["_change_type"].to_pylist()
    assert changes[:3] == ["+U"] * 3
    assert by_id(await table.snapshot()) == {2: "new 2"}
    assert await table.count() == 1


async def test_a_snapshot_of_some_columns(conn: lakeward.AsyncConnection, database: str) -> None:
    """The key need not be among them; batches together are the whole."""
    table = await keyed_table(conn, database)
    await table.upsert(rows(*range(100)))
    some = await table.snapshot(["price"])
    assert (some.num_rows, some.column_names) == (100, ["price"])
    assert sum([b.num_rows async for b in table.snapshot_batches(["name", "id"])]) == 100
    with pytest.raises(lakeward.InvalidError, match="no column 'x'"):
        await table.snapshot(["x"])


async def test_an_empty_table_has_an_empty_state(conn: lakeward.AsyncConnection, database: str) -> None:
    """With all its columns."""
    table = await keyed_table(conn, database)
    empty = await table.snapshot()
    assert (empty.num_rows, empty.column_names) == (0, ["id", "name", "price"])
    assert await table.count() == 0
    assert (await table.head()).num_rows == 0


async def test_all_ways_to_the_state_agree(
    conn: lakeward.AsyncConnection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cursor, folded changelog and whole buckets give the same rows after many random changes."""
    table = await keyed_table(conn, database)
    random = np.random.default_rng(5)
    expected: dict[int, str | None] = {}
    for round_ in range(6):
        ids = random.integers(0, 400, 300).tolist()
        await table.upsert(rows(*ids, name=f"round {round_}"))
        expected |= {i: f"round {round_} {i}" for i in ids}
        gone = random.integers(0, 400, 60).tolist()
        await table.delete(gone)
        for key in gone:
            expected.pop(key, None)
    supports = Channel.supports
    assert by_id(await table.snapshot()) == expected
    monkeypatch.setattr(Channel, "supports", lambda self, api: api is not Api.SCAN_KV and supports(self, api))
    assert by_id(await table.snapshot()) == expected
    monkeypatch.setattr(state.TableState, "_fold", state.TableState._scan_by_limit)
    assert by_id(await table.snapshot()) == expected
    assert await table.count() == len(expected)


async def test_the_state_is_larger_than_one_answer(conn: lakeward.AsyncConnection, database: str) -> None:
    """A cursor goes on until the bucket is read; leaving early is fine."""
    table = await keyed_table(conn, database, buckets=1)
    count = 100_000
    ids = np.arange(count)
    await table.upsert(pa.table({"id": ids, "name": pa.array([f"{i:0100}" for i in ids]), "price": ids / 2}))
    found = await table.snapshot()
    assert (found.num_rows, len(set(found["id"].to_pylist()))) == (count, count)
    async for batch in table.snapshot_batches():
        assert batch.num_rows
        break
    assert (await table.lookup(7))["price"].to_pylist() == [3.5]


async def test_log_tables_have_no_keys(conn: lakeward.AsyncConnection, database: str) -> None:
    """Whatever needs a key is refused with the table's name, before anything is sent."""
    table = await conn.create_table(f"{database}.log", "id BIGINT")
    for attempt in (table.upsert([{"id": 1}]), table.delete([1]), table.lookup([1]), table.lookup_prefix(1)):
        with pytest.raises(lakeward.InvalidError, match=r"log has no primary key"):
            await attempt
    with pytest.raises(lakeward.InvalidError, match="no primary key"):
        table.changelog()
    with pytest.raises(lakeward.InvalidError, match="no primary key"):
        await table.snapshot()


async def test_append_points_to_upsert(conn: lakeward.AsyncConnection, database: str) -> None:
    """Appending to a table with a primary key says what to call instead."""
    table = await keyed_table(conn, database)
    with pytest.raises(lakeward.UnsupportedError, match=r"upsert\(\)"):
        await table.append(rows(1))
