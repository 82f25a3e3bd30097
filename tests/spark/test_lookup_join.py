"""Lookup joins on a real session and a real server: batch and streaming, by key and by prefix."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import plain_source
import pytest
from pyspark.sql import DataFrame, SparkSession
from server_process import ServerProcess

import lakeward as lw
from lakeward.errors import InvalidError, NotFoundError

pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    """The session of this process."""
    return plain_source.plain_session()


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lw.Connection]:
    """A connection of the test's own."""
    with lw.connect(server.bootstrap) as connection:
        yield connection


@pytest.fixture
def users(conn: lw.Connection, database: str) -> str:
    """A hundred users with a primary key."""
    columns = "id BIGINT, name STRING NOT NULL, born DATE, seen TIMESTAMP(9), slot TIME(3), tags ARRAY<STRING>"
    table = conn.create_table(f"{database}.users", columns, primary_key=["id"], buckets=2)
    table.upsert([_user(i) for i in range(100)])
    return str(table.path)


def _user(i: int) -> dict[str, Any]:
    seen = dt.datetime(2026, 11, 1, 12, 0, i % 60, 123456)
    born = None if i % 7 == 0 else dt.date(1990, 1, 1 + i % 28)
    return {
        "id": i,
        "name": f"user {i}",
        "born": born,
        "seen": seen,
        "slot": dt.time(8, i % 60),
        "tags": [str(i), None],
    }


@pytest.fixture
def join(server: ServerProcess) -> Callable[..., Callable[[DataFrame], DataFrame]]:
    """lookup_join with the server's address."""

    def made(table: str, on: Any, **options: Any) -> Callable[[DataFrame], DataFrame]:
        return lw.spark.lookup_join(table, on, **{"bootstrap": server.bootstrap, **options})

    return made


def test_left_keeps_every_row_and_inner_those_with_a_match(spark: SparkSession, users: str, join: Any) -> None:
    """Every type of column comes over; rows without a match, or without a key, get NULLs or go."""
    orders = spark.createDataFrame([(1, 5), (2, 500), (3, None), (4, 5), (5, 7)], "order_id int, user_id int")
    joined = orders.transform(join(users, {"user_id": "id"}))
    assert joined.columns == ["order_id", "user_id", "name", "born", "seen", "slot", "tags"]
    rows = {row.order_id: row.asDict() for row in joined.collect()}
    for order, user in ((1, 5), (4, 5), (5, 7)):
        assert rows[order] == {"order_id": order, "user_id": user} | {k: v for k, v in _user(user).items() if k != "id"}
    assert set(rows[2].values()) == {2, 500, None}
    assert set(rows[3].values()) == {3, None}
    inner = orders.transform(join(users, {"user_id": "id"}, how="inner", columns=["name"]))
    assert sorted(inner.collect()) == [(1, 5, "user 5"), (4, 5, "user 5"), (5, 7, "user 7")]
    assert not inner.schema["name"].nullable


@pytest.mark.long
def test_many_rows_over_several_batches_and_tasks(spark: SparkSession, users: str, join: Any) -> None:
    """Whatever comes from the cache and whatever from the server, each row has its own match."""
    rows = spark.range(50_000).selectExpr("id as n", "id % 150 as id").repartition(2)
    joined = rows.transform(join(users, "id", columns=["name"], cache_rows=30))
    wrong = "(id < 100 and (name is null or name != concat('user ', id))) or (id >= 100 and name is not null)"
    assert (joined.count(), joined.where(wrong).count()) == (50_000, 0)


@pytest.mark.long
def test_a_prefix_of_the_key_finds_several_rows(
    spark: SparkSession, conn: lw.Connection, database: str, join: Any
) -> None:
    """Where the bucket key begins the primary key, a row comes once for each row found."""
    columns = "owner STRING, region INT, item STRING, amount INT"
    key = ["owner", "region", "item"]
    table = conn.create_table(f"{database}.carts", columns, primary_key=key, bucket_by=key[:2], buckets=2)
    things = [("ann", 1, "tea", 2), ("ann", 1, "milk", 1), ("ann", 2, "salt", 9), ("bob", 1, "tea", 5)]
    table.upsert([dict(zip(["owner", "region", "item", "amount"], thing, strict=True)) for thing in things])
    visits = spark.createDataFrame([("ann", 1), ("bob", 1), ("eve", 1), ("ann", None), ("ann", 1)], "who string, r int")
    on = {"r": "region", "who": "owner"}
    left = sorted(map(tuple, visits.transform(join(str(table.path), on)).collect()), key=str)
    ann = [("ann", 1, "milk", 1), ("ann", 1, "tea", 2)]
    assert left == sorted(
        [*ann, *ann, ("bob", 1, "tea", 5), ("eve", 1, None, None), ("ann", None, None, None)], key=str
    )
    inner = visits.transform(join(str(table.path), on, how="inner", columns=["item"]))
    assert inner.where("who = 'ann'").count() == 4
    assert inner.count() == 5


def test_names_on_both_sides_are_set_apart(spark: SparkSession, users: str, join: Any) -> None:
    """Refused with the way out, which is a prefix."""
    people = spark.createDataFrame([(1, "mine")], "id long, Name string")
    with pytest.raises(InvalidError, match=r"both have 'name'.*prefix="):
        people.transform(join(users, "id"))
    row = people.transform(join(users, "id", prefix="user_", columns=["name", "id"])).first()
    assert row is not None
    assert row.asDict() == {"id": 1, "Name": "mine", "user_name": "user 1", "user_id": 1}


def test_a_stream_is_joined_and_keys_that_come_late_do_not_hold_it_up(
    spark: SparkSession, conn: lw.Connection, database: str, join: Any, tmp_path: Path
) -> None:
    """Rows before the user exists have NULLs; rows after it has come have the user."""
    users = conn.create_table(f"{database}.late", "id BIGINT, name STRING", primary_key=["id"], buckets=1)
    (tmp_path / "in").mkdir()

    def run(n: int) -> None:
        (tmp_path / "in" / f"{n}.json").write_text(f'{{"n": {n}, "user_id": 1}}\n')
        stream = spark.readStream.schema("n int, user_id long").json(str(tmp_path / "in"))
        joined = stream.transform(join(str(users.path), {"user_id": "id"}, cache_ttl="1 ms"))
        sink = joined.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        sink.format("parquet").start(str(tmp_path / "out")).awaitTermination()

    run(1)
    users.upsert([{"id": 1, "name": "ann"}])
    run(2)
    assert sorted(map(tuple, spark.read.parquet(str(tmp_path / "out")).collect())) == [(1, 1, None), (2, 1, "ann")]


def test_the_cluster_is_the_catalogs(spark: SparkSession, server: ServerProcess, users: str) -> None:
    """`catalog.db.table` takes address and client options from the session; without a catalog it says what to do."""
    orders = spark.createDataFrame([(5,)], "user_id long")
    head = "spark.sql.catalog.shop_catalog"
    spark.conf.set(f"{head}.bootstrap.servers", server.bootstrap)
    spark.conf.set(f"{head}.client.request-timeout", "20 s")
    by_catalog = lw.spark.lookup_join(f"shop_catalog.{users}", {"user_id": "id"}, columns=["name"])
    assert orders.transform(by_catalog).collect() == [(5, "user 5")]
    with pytest.raises(InvalidError, match=r"no catalog 'elsewhere'.*bootstrap="):
        orders.transform(lw.spark.lookup_join(f"elsewhere.{users}", {"user_id": "id"}))


def test_what_cannot_be_joined_is_said_in_one_sentence(
    spark: SparkSession, conn: lw.Connection, users: str, database: str, join: Any
) -> None:
    """A wrong column, key, type, table or word: before anything runs."""
    orders = spark.createDataFrame([(1, "x")], "user_id long, note string")
    log = conn.create_table(f"{database}.log", "id BIGINT")
    for said, table, on, options in [
        ("DataFrame has no column 'uid'", users, {"uid": "id"}, {}),
        (r"looked up by \(id\); `on` names \(name\)", users, {"note": "name"}, {}),
        ("Column 'note' of the DataFrame is string, and 'id' of .* is BIGINT", users, {"note": "id"}, {}),
        ("has no column 'nam'", users, {"user_id": "id"}, {"columns": ["nam"]}),
        ("has no primary key", str(log.path), {"user_id": "id"}, {}),
        ("'left' or 'inner'", users, {"user_id": "id"}, {"how": "outer"}),
        ("names no table", "users", {"user_id": "id"}, {}),
        ("`on` is empty", users, {}, {}),
    ]:
        with pytest.raises(InvalidError, match=said):
            orders.transform(join(table, on, **options))
    with pytest.raises(NotFoundError, match="nowhere"):
        orders.transform(join(f"{database}.nowhere", {"user_id": "id"}))
