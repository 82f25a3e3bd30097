"""A server that is started again: streams wait for it, say so once, and go on exactly where they were."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery
from server_process import ServerProcess

import lakeward as lw

_AWAY_S = 6
_PATIENCE_S = 120


def has_rows(server: ServerProcess, table: str, count: int, queries: list[StreamingQuery]) -> bool:
    """Whether so many rows arrive while the queries run."""
    deadline = time.monotonic() + _PATIENCE_S
    with lw.connect(server.bootstrap) as conn:
        while conn.table(table).count() < count and time.monotonic() < deadline:
            assert [query.exception() for query in queries] == [None] * len(queries)
            time.sleep(0.2)
        return conn.table(table).count() == count


def append(server: ServerProcess, first: int) -> None:
    """Ten rows, numbered from `first`."""
    with lw.connect(server.bootstrap) as conn:
        ids = list(range(first, first + 10))
        conn.table("d.source").append({"id": ids, "user": [i % 3 for i in ids]})


@pytest.mark.covering("True")
@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_does_not_end_streams(
    spark: SparkSession,
    new_server: Callable[..., ServerProcess],
    tmp_path: Path,
    kill: bool,
) -> None:
    """Source, sink and lookup join, the server stopped or killed and away for seconds: each row once."""
    away, catalog = new_server(), f"away_{kill}"  # a session keeps a catalog as it first was
    lw.spark.session(away.bootstrap, catalog=catalog)
    with lw.connect(away.bootstrap) as conn:
        conn.create_database("d")
        conn.create_table("d.source", "id BIGINT, user INT", buckets=2)
        conn.create_table("d.users", "uid INT, name STRING", primary_key=["uid"]).upsert(
            {"uid": [0, 1, 2], "name": ["a", "b", "c"]}
        )
        conn.create_table("d.copy", "id BIGINT, user INT", buckets=2)
        conn.create_table("d.joined", "id BIGINT, name STRING")
    append(away, 0)
    stream = spark.readStream.table(f"{catalog}.d.source")
    joined = stream.transform(lw.spark.lookup_join(f"{catalog}.d.users", on={"user": "uid"}, how="left"))
    queries = [
        rows.writeStream.option("checkpointLocation", str(tmp_path / name))
        .trigger(processingTime="100 milliseconds")
        .toTable(f"{catalog}.d.{name}")
        for name, rows in {"copy": stream, "joined": joined.select("id", "name")}.items()
    ]
    try:
        assert has_rows(away, "d.copy", 10, queries)
        assert has_rows(away, "d.joined", 10, queries)
        away.kill() if kill else away.stop()
        time.sleep(_AWAY_S)
        away.start()
        append(away, 10)
        assert has_rows(away, "d.copy", 20, queries)
        assert has_rows(away, "d.joined", 20, queries)
    finally:
        for query in queries:
            query.stop()
    with lw.connect(away.bootstrap) as conn:
        for table in ("d.copy", "d.joined"):
            assert sorted(conn.table(table).scan(["id"]).to_arrow()["id"].to_pylist()) == list(range(20))


def test_an_address_where_nobody_listens_is_an_error_at_once(spark: SparkSession) -> None:
    """Only a server that was there is waited for."""
    lw.spark.session("localhost:1", catalog="nobody")
    with pytest.raises(Exception, match="Is the server running"):
        spark.sql("SHOW DATABASES IN nobody").collect()
