"""Upserts and deletes: what is acknowledged is there, in the order of the calls."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from keyed_tables import by_id, keyed_table, rows

import lakeward
from lakeward.errors import ErrorCode
from lakeward.model.data_types import BIGINT, STRING


@pytest.fixture
async def conn(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        yield made


@pytest.fixture
async def table(conn: lakeward.AsyncConnection, database: str) -> lakeward.AsyncTable:
    """A table with three buckets."""
    return await keyed_table(conn, database)


@pytest.mark.parametrize(
    "form",
    [
        pa.Table.from_pylist,
        lambda r: pa.Table.from_pylist(r).to_batches()[0],
        lambda r: pa.Table.from_pylist(r).to_reader(),
        pd.DataFrame,
        pl.DataFrame,
        list,
        iter,
        lambda r: {name: [row[name] for row in r] for name in r[0]},
    ],
    ids=["table", "batch", "reader", "pandas", "polars", "dicts", "iterator", "columns"],
)
async def test_every_form_of_rows_is_upserted(table: lakeward.AsyncTable, form: Any) -> None:
    """Arrow, pandas, polars, dicts: the rows are there."""
    result = await table.upsert(form(rows(*range(200))))
    assert result.rows == 200
    assert by_id(await table.snapshot()) == {i: f"row {i}" for i in range(200)}


async def test_a_single_dict_is_one_row(table: lakeward.AsyncTable) -> None:
    """Nobody wants to write brackets for one row."""
    (row,) = rows(7)
    assert (await table.upsert(row)).rows == 1
    assert (await table.lookup(7)).to_pylist() == [row]


async def test_the_last_row_of_a_key_wins(table: lakeward.AsyncTable) -> None:
    """Within a batch, between batches and between calls; every key is there once."""
    await table.upsert([*rows(1, 2, 3), *rows(2, name="second")])
    await table.upsert(rows(3, name="third"))
    assert by_id(await table.snapshot()) == {1: "row 1", 2: "second 2", 3: "third 3"}
    assert await table.count() == 3


async def test_deleted_rows_are_gone_and_deleting_nothing_is_no_error(table: lakeward.AsyncTable) -> None:
    """Keys are given as for lookups."""
    await table.upsert(rows(*range(10)))
    assert (await table.delete([1, 2])).rows == 2
    await table.delete(np.array([3, 4]))
    await table.delete({"id": 5, "name": "is not part of the key"})
    await table.delete([(6,), (1000,)])
    await table.delete([])
    assert sorted(by_id(await table.snapshot())) == [0, 7, 8, 9]


async def test_a_pipelined_upserter_keeps_the_order_of_its_calls(table: lakeward.AsyncTable) -> None:
    """Puts and deletes of one key, interleaved, end as they were written."""
    async with table.upserter(linger_ms=1, batch_rows=7) as upserter:
        for round_ in range(20):
            await upserter.upsert(rows(*range(20), name=f"round {round_}"))
            await upserter.delete([round_])
        await upserter.upsert(rows(100))
    assert upserter.result().rows == upserter.written == 20 * 21 + 1
    expected = {i: f"round 19 {i}" for i in range(19)} | {100: "row 100"}
    assert by_id(await table.snapshot()) == expected


async def test_a_partial_update_keeps_the_other_columns(table: lakeward.AsyncTable) -> None:
    """`columns` says what is written; what the data has beyond it is left aside, what it lacks is NULL."""
    await table.upsert(rows(1, 2))
    await table.upsert([{"id": 1, "price": 9.0}, {"id": 3, "price": 8.0}], columns=["id", "price"])
    await table.upsert(rows(2, name="ignored", price=7.0), columns=["price", "id"])
    await table.upsert([{"id": 4}], columns=["id", "name", "price"])
    assert (await table.lookup([1, 2, 3, 4])).to_pylist() == [
        {"id": 1, "name": "row 1", "price": 9.0},
        {"id": 2, "name": "row 2", "price": 7.0},
        {"id": 3, "name": None, "price": 8.0},
        {"id": 4, "name": None, "price": None},
    ]


async def test_a_partial_delete_clears_the_named_columns(table: lakeward.AsyncTable) -> None:
    """The row stays as long as another column has a value."""
    await table.upsert([*rows(1), {"id": 2, "name": None, "price": 1.0}])
    await table.delete([1, 2], columns=["id", "price"])
    assert (await table.lookup([1, 2])).to_pylist() == [
        {"id": 1, "name": "row 1", "price": None},
        {"id": None, "name": None, "price": None},
    ]


async def test_a_large_upsert_goes_in_many_batches(table: lakeward.AsyncTable) -> None:
    """More rows than fit one batch, updated once more: two changes each."""
    count = 150_000
    ids = np.arange(count)
    data = pa.table({"id": ids, "name": pa.array(ids.astype(str)), "price": ids / 2})
    first = await table.upsert(data)
    assert (first.rows, await table.count()) == (count, count)
    assert first.batches > 3
    await table.upsert(data.set_column(2, "price", pa.array(np.ones(count))))
    assert await table.count() == count
    assert (await table.lookup(ids[::1000], ["price"]))["price"].to_pylist() == [1.0] * 150


async def test_upserts_at_once_share_the_connection(table: lakeward.AsyncTable) -> None:
    """Each call returns when its own rows are acknowledged."""
    results = await asyncio.gather(*(table.upsert(rows(*range(i * 10, i * 10 + 10))) for i in range(20)))
    assert [r.rows for r in results] == [10] * 20
    assert await table.count() == 200


async def test_partitions_are_created_as_rows_need_them(conn: lakeward.AsyncConnection, database: str) -> None:
    """The partition is part of the key; the same id lives once in each."""
    table = await keyed_table(
        conn, database, "id BIGINT, dt STRING, name STRING", primary_key=["dt", "id"], partition_by=["dt"], buckets=2
    )
    await table.upsert([{"id": i, "dt": f"d{i % 3}", "name": f"n{i}"} for i in range(30)])
    await table.upsert([{"id": 0, "dt": "d1", "name": "other"}])
    assert [p.name for p in await table.partitions()] == ["d0", "d1", "d2"]
    found = await table.lookup([("d0", 0), ("d1", 0), ("d2", 0), ("d9", 1), ("d1", 4)])
    assert found["name"].to_pylist() == ["n0", "other", None, None, "n4"]
    await table.delete([("d1", 0)])
    assert (await table.snapshot(partitions=["d1"])).num_rows == 10
    assert (await table.snapshot()).num_rows == 30
    assert [p.name for p in await table.partitions()] == ["d0", "d1", "d2"], "a lookup creates no partition"


async def test_columns_that_were_added_are_null_in_old_rows(conn: lakeward.AsyncConnection, database: str) -> None:
    """Values are read by the schema they were written with."""
    table = await keyed_table(conn, database)
    await table.upsert(rows(1, 2))
    await conn.alter_table(str(table.path), add_columns="note STRING")
    await table.upsert(rows(2, name="written with the old schema"))
    await table.refresh()
    await table.upsert([{**rows(3)[0], "note": "new"}])
    found = (await table.lookup([1, 2, 3])).to_pylist()
    assert [r["note"] for r in found] == [None, None, "new"]
    assert [r["name"] for r in found] == ["row 1", "written with the old schema 2", "row 3"]
    assert sorted(by_id(await table.snapshot())) == [1, 2, 3]
    assert (await table.head(10)).num_rows == 3


@pytest.mark.parametrize("form", ["COMPACTED", "INDEXED"])
async def test_both_formats_of_rows(conn: lakeward.AsyncConnection, database: str, form: str) -> None:
    """`table.kv.format` is how rows travel and are stored."""
    table = await keyed_table(conn, database, properties={"table.kv.format": form})
    await table.upsert([*rows(1), {"id": 2, "name": None, "price": None}])
    assert (await table.lookup([2, 1])).to_pylist() == [{"id": 2, "name": None, "price": None}, *rows(1)]
    assert (await table.snapshot()).num_rows == 2


async def test_an_auto_increment_column_is_left_to_the_server(conn: lakeward.AsyncConnection, database: str) -> None:
    """It is not asked for, refused when given, and a delete that could not remove the row is refused too."""
    schema = lakeward.Schema.of([("id", STRING()), ("no", BIGINT())], ["id"], ["no"])
    table = await keyed_table(conn, database, schema, buckets=1)
    await table.upsert([{"id": "a"}, {"id": "b"}])
    assert (await table.lookup(["a", "b"]))["no"].to_pylist() == [1, 2]
    inserted = await table.lookup(["b", "c"], insert_missing=True)
    assert inserted.to_pylist() == [{"id": "b", "no": 2}, {"id": "c", "no": 3}]
    with pytest.raises(lakeward.InvalidError, match="filled by the server"):
        await table.upsert([{"id": "a", "no": 5}])
    with pytest.raises(lakeward.UnsupportedError, match="cannot be deleted"):
        await table.delete(["a"])


@pytest.mark.covering("COMPACTED")
@pytest.mark.usefixtures("lakeward")  # Apache Fluss 0.9.1 looks for the partition's columns in the key, and fails
@pytest.mark.parametrize("form", ["COMPACTED", "INDEXED"])
async def test_a_lookup_can_insert_into_partitions(conn: lakeward.AsyncConnection, database: str, form: str) -> None:
    """The new row has the columns of its key and those of its partition, and nothing else."""
    table = await keyed_table(
        conn,
        database,
        "id BIGINT, day DATE, zone STRING, name STRING",
        primary_key=["day", "id", "zone"],
        partition_by=["day", "zone"],
        properties={"table.kv.format": form},
    )
    day = dt.date(2024, 3, 15)
    asked = [{"day": day, "id": 1, "zone": "eu"}, {"day": day, "id": 2, "zone": "us"}]
    found = await table.lookup(asked, insert_missing=True)
    expected = [{**key, "name": None} for key in asked]
    assert found.to_pylist() == [{name: row[name] for name in found.column_names} for row in expected]
    assert (await table.snapshot()).num_rows == 2
    await table.lookup(asked, insert_missing=True)
    assert (await table.changelog().to_arrow())["_change_type"].to_pylist() == ["+I", "+I"]


@pytest.mark.parametrize(
    ("lake", "columns", "keys"),
    [
        ("paimon", "a INT, b STRING, v INT", {"a": 7, "b": "longer than seven bytes"}),
        ("iceberg", "b STRING, v INT", {"b": "ü"}),
        ("iceberg", "a TIMESTAMP(6), v INT", {"a": dt.datetime(1970, 1, 1, 0, 0, 0, 1)}),
        ("lance", "a INT, b STRING, v INT", {"a": -1, "b": ""}),
    ],
)
async def test_a_lookup_can_insert_by_the_keys_of_a_lake(
    conn: lakeward.AsyncConnection, database: str, lake: str, columns: str, keys: dict[str, Any]
) -> None:
    """Keys that are encoded as a lake does are understood too."""
    properties = {"table.datalake.format": lake}
    table = await keyed_table(conn, database, columns, primary_key=list(keys), properties=properties)
    found = await table.lookup([keys], insert_missing=True)
    assert found.to_pylist() == [{**keys, "v": None}]
    assert (await table.lookup([keys])).to_pylist() == [{**keys, "v": None}]
    assert await table.count() == 1


@pytest.mark.usefixtures("lakeward")  # Apache Fluss 0.9.1 fails
async def test_a_lookup_can_insert_by_a_lakes_time_before_1970(conn: lakeward.AsyncConnection, database: str) -> None:
    """Its microseconds are counted backwards."""
    key = {"a": dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)}
    iceberg = {"table.datalake.format": "iceberg"}
    table = await keyed_table(conn, database, "a TIMESTAMP(6), v INT", primary_key=["a"], properties=iceberg)
    assert (await table.lookup([key], insert_missing=True)).to_pylist() == [{**key, "v": None}]


async def test_the_server_says_no_for_the_whole_bucket(conn: lakeward.AsyncConnection, database: str) -> None:
    """A refused delete names the table and leaves the rows."""
    table = await keyed_table(conn, database, buckets=1, properties={"table.delete.behavior": "DISABLE"})
    await table.upsert(rows(1))
    with pytest.raises(lakeward.LakewardError, match=str(table.path)) as caught:
        await table.delete([1])
    assert caught.value.code is ErrorCode.DELETION_DISABLED
    assert await table.count() == 1
