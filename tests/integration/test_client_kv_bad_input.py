"""What does not fit is refused before anything is sent, or has a defined meaning; the table is as it was."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import pyarrow as pa
import pytest
from keyed_tables import keyed_table, rows
from server_fixtures import Target
from server_process import ServerProcess

import lakeward
from lakeward.errors import ErrorCode


@pytest.fixture
async def conn(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        yield made


@pytest.fixture
async def table(conn: lakeward.AsyncConnection, database: str) -> lakeward.AsyncTable:
    """A table with one row."""
    made = await keyed_table(conn, database)
    await made.upsert(rows(1))
    return made


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([{"id": None, "name": "x", "price": 1.0}], "'id' is NOT NULL"),
        ([{"name": "x", "price": 1.0}], "lacks column 'id'"),
        ([{"id": 1, "name": "x"}], r"lacks column 'price'.*columns=\["),
        ([*rows(2), {"id": 1, "name": "x"}], "lacks column 'price'"),
        (pa.table({"id": [2]}), "lacks column 'name', 'price'"),
        ([{"id": 1, "name": "x", "price": 1.0, "nmae": "y"}], "no column 'nmae'"),
        ([{"id": "one", "name": "x", "price": 1.0}], "'id' is BIGINT"),
        ([{"id": 2**63, "name": "x", "price": 1.0}], "'id' is BIGINT"),
        ([{"id": 1.5, "name": "x", "price": 1.0}], "'id' is BIGINT"),
        ("rows", "is not rows"),
        (5, "is not rows"),
    ],
)
async def test_rows_that_do_not_fit(table: lakeward.AsyncTable, data: Any, says: str) -> None:
    """The refusal names the column, and says how to write only some of them."""
    with pytest.raises(lakeward.InvalidError, match=says):
        await table.upsert(data)
    assert (await table.snapshot()).to_pylist() == rows(1)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["name"], "lack 'id' of the primary key"),
        (["id", "nmae"], "no column 'nmae'"),
        ([], "lack 'id'"),
    ],
)
async def test_partial_updates_that_cannot_be(table: lakeward.AsyncTable, columns: list[str], says: str) -> None:
    """Without the key no row is found."""
    with pytest.raises(lakeward.InvalidError, match=says):
        await table.upsert(rows(1), columns=columns)


async def test_a_partial_update_needs_nullable_columns(conn: lakeward.AsyncConnection, database: str) -> None:
    """A new row would have no value for the others; a NULL in a NOT NULL column is refused too."""
    table = await keyed_table(conn, database, "id BIGINT, a INT NOT NULL, b INT")
    with pytest.raises(lakeward.InvalidError, match="'a' is NOT NULL"):
        await table.upsert([{"id": 1, "b": 2}], columns=["id", "b"])
    with pytest.raises(lakeward.InvalidError, match="'a' is NOT NULL"):
        await table.upsert([{"id": 1, "a": None, "b": 2}])
    assert await table.count() == 0


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ([None], "'id' is NOT NULL"),
        ([1, None], "'id' is NOT NULL.*row 1"),
        (["1"], "'id' is BIGINT"),
        ([1.5], "'id' is BIGINT"),
        ([{"name": "x"}], "column 'id' of the key is missing"),
        (pa.table({"x": [1]}), "column 'id' of the key is missing"),
        ([(1, 2)], "each tuple has 1 values"),
    ],
)
async def test_keys_that_do_not_fit(table: lakeward.AsyncTable, keys: Any, says: str) -> None:
    """Lookups and deletes refuse them alike."""
    for attempt in (table.lookup(keys), table.delete(keys)):
        with pytest.raises(lakeward.InvalidError, match=says):
            await attempt
    assert (await table.lookup(1)).to_pylist() == rows(1)


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE"])
async def test_floating_point_keys_are_compared_as_numbers(
    conn: lakeward.AsyncConnection, database: str, type_: str
) -> None:
    """0 and −0 are one key, every NaN is one key, and infinities are keys like others."""
    table = await keyed_table(conn, database, f"k {type_}, v INT", primary_key=["k"], buckets=4)
    await table.upsert([{"k": 0.0, "v": 1}, {"k": -0.0, "v": 2}, {"k": math.nan, "v": 3}, {"k": -math.nan, "v": 4}])
    await table.upsert([{"k": math.inf, "v": 5}, {"k": -math.inf, "v": 6}])
    assert await table.count() == 4
    asked = [-0.0, 0.0, math.nan, -math.nan, math.inf, -math.inf]
    assert (await table.lookup(asked))["v"].to_pylist() == [2, 2, 4, 4, 5, 6]
    stored = (await table.snapshot())["k"].to_pylist()
    assert all(math.copysign(1, k) == 1 for k in stored if k == 0), "the row holds what the key says"
    await table.delete([-0.0, math.nan])
    assert sorted((await table.snapshot())["v"].to_pylist()) == [5, 6]


async def test_a_key_of_a_megabyte_is_refused(conn: lakeward.AsyncConnection, database: str) -> None:
    """On writing, with the row and what to do; looking one up finds nothing."""
    table = await keyed_table(conn, database, "k STRING, v INT", primary_key=["k"], buckets=2)
    long = "x" * (1 << 20)
    with pytest.raises(lakeward.LakewardError, match=r"key of row 1 .* takes 1,048,579 bytes.*hash") as caught:
        await table.upsert([{"k": "short", "v": 1}, {"k": long, "v": 2}])
    assert caught.value.code is ErrorCode.RECORD_TOO_LARGE
    assert await table.count() == 0
    await table.upsert([{"k": "y" * 65_000, "v": 3}])
    assert (await table.lookup([long, "y" * 65_000]))["v"].to_pylist() == [None, 3]
    await table.delete([long, "y" * 65_000])
    assert await table.count() == 0


async def test_a_long_value_is_no_problem(conn: lakeward.AsyncConnection, database: str) -> None:
    """Only keys are limited; a row larger than a batch goes alone."""
    table = await keyed_table(conn, database, buckets=1)
    await table.upsert([{"id": 1, "name": "z" * 3_000_000, "price": None}, *rows(2)])
    assert [len(name) for name in (await table.lookup([1, 2]))["name"].to_pylist()] == [3_000_000, 5]


async def test_after_a_refusal_by_the_server_the_upserter_is_spent(
    conn: lakeward.AsyncConnection, database: str
) -> None:
    """Every later call raises the first failure; the table goes on with a new one."""
    table = await keyed_table(conn, database, buckets=1, properties={"table.delete.behavior": "DISABLE"})
    upserter = table.upserter(linger_ms=0)
    await upserter.upsert(rows(1))
    await upserter.flush()
    await upserter.delete([1])
    for _ in range(2):
        with pytest.raises(lakeward.LakewardError) as caught:
            await upserter.flush()
        assert caught.value.code is ErrorCode.DELETION_DISABLED
    with pytest.raises(lakeward.LakewardError):
        await upserter.upsert(rows(2))
    await upserter.abort()
    await table.upsert(rows(3))
    assert sorted((await table.snapshot())["id"].to_pylist()) == [1, 3]


async def test_a_table_that_was_dropped_is_told(
    conn: lakeward.AsyncConnection, database: str, server: ServerProcess | Target
) -> None:
    """Writes to, and lookups in, a table that is gone end with NotFound, not with endless patience."""
    if isinstance(server, Target):
        pytest.skip("Apache Fluss takes its time with dropping")
    table = await keyed_table(conn, database)
    await table.upsert(rows(1))
    await conn.drop_table(str(table.path))
    with pytest.raises(lakeward.NotFoundError):
        await table.upsert(rows(2))
    with pytest.raises(lakeward.NotFoundError):
        await table.lookup([1])
