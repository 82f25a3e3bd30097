"""Lookups: the rows of many keys in one call, in the order of the keys."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from client_rows import EVERY_TYPE, EVERY_VALUE
from keyed_tables import keyed_table, rows

import lakeward

NOTHING = {"id": None, "name": None, "price": None}


@pytest.fixture
async def conn(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        yield made


@pytest.fixture
async def table(conn: lakeward.AsyncConnection, database: str) -> lakeward.AsyncTable:
    """A table with the rows 0 to 999."""
    made = await keyed_table(conn, database)
    await made.upsert(rows(*range(1000)))
    return made


@pytest.mark.parametrize(
    "keys",
    [
        [5, 300, 7],
        (k for k in (5, 300, 7)),
        [(5,), (300,), (7,)],
        [{"id": 5}, {"id": 300, "name": "whatever"}, {"id": 7}],
        {"id": [5, 300, 7]},
        np.array([5, 300, 7]),
        pa.array([5, 300, 7], pa.int32()),
        pd.Series([5, 300, 7]),
        pl.Series([5, 300, 7]),
        pd.DataFrame({"id": [5, 300, 7], "amount": [1, 2, 3]}),
        pl.DataFrame({"id": [5, 300, 7]}),
        pa.table({"amount": [1, 2, 3], "id": [5, 300, 7]}),
    ],
    ids=lambda k: f"{type(k).__module__.split('.')[0]}-{type(k).__name__}",
)
async def test_every_form_of_keys(table: lakeward.AsyncTable, keys: Any) -> None:
    """The rows come in the order of the keys."""
    assert (await table.lookup(keys)).to_pylist() == rows(5, 300, 7)


@pytest.mark.parametrize("key", [5, (5,), {"id": 5}, np.int64(5), "5"], ids=repr)
async def test_one_key(table: lakeward.AsyncTable, key: Any) -> None:
    """A key alone is one row; text is not a number."""
    if key == "5":
        with pytest.raises(lakeward.InvalidError, match="id"):
            await table.lookup(key)
    else:
        assert (await table.lookup(key)).to_pylist() == rows(5)


async def test_a_missing_key_is_a_row_of_nulls_unless_told_otherwise(table: lakeward.AsyncTable) -> None:
    """null keeps the places, drop leaves them out, raise names the keys."""
    keys = [5, -1, 7, 5, 10**12]
    found = await table.lookup(keys)
    assert found.to_pylist() == [*rows(5), NOTHING, *rows(7, 5), NOTHING]
    assert all(field.nullable for field in found.schema)
    assert (await table.lookup(keys, missing="drop")).to_pylist() == rows(5, 7, 5)
    with pytest.raises(KeyError, match=r"no row with the key -1, 1000000000000\.") as caught:
        await table.lookup(keys, missing="raise")
    assert isinstance(caught.value, lakeward.KeyNotFoundError | lakeward.NotFoundError)
    with pytest.raises(lakeward.InvalidError, match="'null', 'drop' or 'raise'"):
        await table.lookup(keys, missing="forget")  # type: ignore[arg-type]


async def test_no_keys_and_no_rows(table: lakeward.AsyncTable) -> None:
    """An empty question has an empty answer, with all columns."""
    empty = await table.lookup([])
    assert (empty.num_rows, empty.column_names) == (0, ["id", "name", "price"])
    assert (await table.lookup([-1], missing="drop")).num_rows == 0


async def test_some_columns(table: lakeward.AsyncTable) -> None:
    """In the order asked for; the key need not be among them."""
    assert (await table.lookup([3, 4], ["price", "id"])).to_pylist() == [
        {"price": 1.5, "id": 3},
        {"price": 1.5, "id": 4},
    ]
    assert (await table.lookup([3, -4], ["name"])).to_pylist() == [{"name": "row 3"}, {"name": None}]
    with pytest.raises(lakeward.InvalidError, match="no column 'nmae'"):
        await table.lookup([3], ["nmae"])


async def test_many_keys_in_one_call(table: lakeward.AsyncTable) -> None:
    """More than one request holds, most of them missing, some asked twice."""
    keys = np.random.default_rng(3).integers(0, 20_000, 30_000)
    found = await table.lookup(keys, ["id"])
    assert found["id"].to_pylist() == [k if k < 1000 else None for k in keys.tolist()]


async def test_keys_of_several_columns(conn: lakeward.AsyncConnection, database: str) -> None:
    """Tuples are in the order of the primary key, names are free of it."""
    table = await keyed_table(conn, database, "v INT, a INT, b STRING", primary_key=["b", "a"], buckets=3)
    await table.upsert([{"a": i, "b": f"k{i % 2}", "v": i * 10} for i in range(10)])
    assert (await table.lookup([("k1", 3), ("k0", 3), ("k0", 4)], ["v"]))["v"].to_pylist() == [30, None, 40]
    assert (await table.lookup(("k1", 3), ["v"]))["v"].to_pylist() == [30]
    assert (await table.lookup({"a": [3, 4], "b": ["k1", "k0"]}, ["v"]))["v"].to_pylist() == [30, 40]
    for wrong in (5, [("k1",)], pa.array([1]), [{"a": 3}]):
        with pytest.raises(lakeward.InvalidError, match="b"):
            await table.lookup(wrong)


async def test_rows_by_prefix(conn: lakeward.AsyncConnection, database: str) -> None:
    """All rows whose key begins with the bucket key, one prefix or several, in order of the prefixes."""
    table = await keyed_table(
        conn, database, "a STRING, b INT, v INT", primary_key=["a", "b"], bucket_by=["a"], buckets=3
    )
    await table.upsert([{"a": f"k{i % 5}", "b": i, "v": i} for i in range(50)])
    assert sorted((await table.lookup_prefix("k3"))["v"].to_pylist()) == list(range(3, 50, 5))
    several = await table.lookup_prefix(["k4", "none", "k1"], ["a"])
    assert several["a"].to_pylist() == ["k4"] * 10 + ["k1"] * 10
    assert (await table.lookup_prefix("none")).num_rows == 0
    with pytest.raises(lakeward.InvalidError, match="prefix"):
        await table.lookup_prefix(("k1", 1))


async def test_rows_by_prefix_of_a_partition(conn: lakeward.AsyncConnection, database: str) -> None:
    """The partition's columns come first."""
    table = await keyed_table(
        conn,
        database,
        "dt STRING, a STRING, b INT",
        primary_key=["dt", "a", "b"],
        partition_by=["dt"],
        bucket_by=["a"],
        buckets=2,
    )
    await table.upsert([{"dt": f"d{i % 2}", "a": "x", "b": i} for i in range(10)])
    assert sorted((await table.lookup_prefix(("d1", "x")))["b"].to_pylist()) == [1, 3, 5, 7, 9]
    assert (await table.lookup_prefix({"a": "x", "dt": "gone"})).num_rows == 0


async def test_a_table_without_prefixes_says_so(table: lakeward.AsyncTable) -> None:
    """The message shows how such a table is made."""
    with pytest.raises(lakeward.InvalidError, match="bucket_by"):
        await table.lookup_prefix(5)


async def test_every_type_comes_back(conn: lakeward.AsyncConnection, database: str) -> None:
    """All column types as values, by lookup and by snapshot."""
    table = await keyed_table(conn, database, f"id BIGINT, {EVERY_TYPE}", buckets=1)
    nulls = dict.fromkeys(EVERY_VALUE)
    await table.upsert([{"id": 1, **EVERY_VALUE}, {"id": 2, **nulls}])
    found = (await table.lookup([1, 2])).to_pylist()
    assert found == [{"id": 1, **EVERY_VALUE}, {"id": 2, **nulls}]
    assert sorted((await table.snapshot()).to_pylist(), key=lambda r: r["id"]) == found


@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        ("BOOLEAN", [True, False]),
        ("TINYINT", [-128, 127]),
        ("SMALLINT", [-5, 300]),
        ("INT", [-(2**31), 128, 300]),
        ("BIGINT", [-1, 2**40]),
        ("FLOAT", [1.5, float("inf")]),
        ("DOUBLE", [-2.25, 1e300]),
        ("CHAR(3)", ["abc", "äöü"]),
        ("STRING", ["", "héllo wörld"]),
        ("BINARY(2)", [b"\x00\xff", b"ab"]),
        ("BYTES", [b"", b"\x80"]),
        ("DECIMAL(9, 2)", [Decimal("1.50"), Decimal("-12.34")]),
        ("DECIMAL(30, 5)", [Decimal("-12345678901234567890.12345")]),
        ("DATE", [dt.date(2024, 2, 29)]),
        ("TIME(3)", [dt.time(1, 2, 3, 456_000)]),
        ("TIMESTAMP(3)", [dt.datetime(2024, 1, 2, 3, 4, 5, 678_000)]),
        ("TIMESTAMP(6)", [dt.datetime(1969, 1, 2, 3, 4, 5, 678_901)]),
        ("TIMESTAMP_LTZ(6)", [dt.datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=dt.UTC)]),
    ],
)
async def test_every_type_is_a_key(conn: lakeward.AsyncConnection, database: str, type_: str, keys: list[Any]) -> None:
    """Keys of every scalar type are found again and deleted."""
    table = await keyed_table(conn, database, f"k {type_}, v INT", primary_key=["k"])
    await table.upsert([{"k": k, "v": i} for i, k in enumerate(keys)])
    assert (await table.lookup(keys)).to_pylist() == [{"k": k, "v": i} for i, k in enumerate(keys)]
    await table.delete(keys)
    assert await table.count() == 0


@pytest.mark.parametrize("lake", ["paimon", "iceberg", "lance"])
@pytest.mark.parametrize("own_bucket_key", [False, True])
async def test_keys_of_tables_that_flow_into_lakes(
    conn: lakeward.AsyncConnection, database: str, lake: str, own_bucket_key: bool
) -> None:
    """Keys and buckets are encoded in the lake's way, and with a bucket key of one's own prefixes work."""
    keys = {"primary_key": ["b", "a"], "bucket_by": ["b"]} if own_bucket_key else {"primary_key": ["b"]}
    table = await keyed_table(
        conn, database, "a INT, b STRING, v INT", **keys, properties={"table.datalake.format": lake}
    )
    await table.upsert([{"a": i, "b": f"key-{i:03}", "v": i} for i in range(300)])
    asked = [(f"key-{i:03}", i) if own_bucket_key else f"key-{i:03}" for i in (299, 128, 0)]
    assert (await table.lookup(asked))["v"].to_pylist() == [299, 128, 0]
    assert await table.count() == 300
    if own_bucket_key:
        assert (await table.lookup_prefix("key-128"))["v"].to_pylist() == [128]
