"""Union reads and time travel in Spark: hot and cold are one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from plain_source import HAS_STREAMS, NAME, plain_session
from spark_reads import catalog_of, explained, run
from tiering_runs import TIERED, Warehouse

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def made(lake: Warehouse, database: str, *, keyed: bool) -> lw.Table:
    """A table of two buckets."""
    return lake.conn.create_table(
        f"{database}.t",
        "id BIGINT NOT NULL, name STRING",
        primary_key=["id"] if keyed else [],
        buckets=2,
        properties=TIERED,
    )


@pytest.mark.parametrize("keyed", [False, True])
def test_hot_and_cold_are_one_table(spark: SparkSession, lake: Warehouse, database: str, keyed: bool) -> None:
    """The catalog's name is the union, `$lake` the cold part, and SQL travels in time."""
    table = made(lake, database, keyed=keyed)
    put = table.upsert if keyed else table.append
    put([{"id": i, "name": f"n{i}"} for i in range(100)])
    first = lake.round(table)
    put([{"id": i, "name": "new"} for i in range(100, 150)])
    if keyed:
        put([{"id": 1, "name": "changed"}])
        table.delete([{"id": 2}])
    name = f"{catalog_of(spark, lake, database)}.{table.path}"
    union = spark.table(name)
    assert sorted(r.id for r in union.collect()) == [i for i in range(150) if not (keyed and i == 2)]
    assert union.count() == (149 if keyed else 150)
    assert union.where("name IN ('new', 'changed')").count() == (51 if keyed else 50)
    assert f"iceberg snapshot {first.snapshot_id}" in explained(union)
    assert spark.sql(f"SELECT count(*) FROM {name}$lake").collect()[0][0] == 100
    assert spark.sql(f"SELECT count(*) FROM {name} VERSION AS OF {first.snapshot_id}").collect()[0][0] == 100
    assert spark.sql(f"SELECT count(*) FROM {name} TIMESTAMP AS OF current_timestamp()").collect()[0][0] == len(
        union.collect()
    )
    by_option = spark.read.option("scan.snapshot-id", str(first.snapshot_id)).table(name)
    assert by_option.count() == 100


@pytest.mark.parametrize("keyed", [False, True])
def test_spark_shows_splits_by_tier(spark: SparkSession, lake: Warehouse, database: str, keyed: bool) -> None:
    """The scan's own metrics, as the page of a query shows them."""
    table = made(lake, database, keyed=keyed)
    put = table.upsert if keyed else table.append
    put([{"id": i, "name": f"n{i}"} for i in range(100)])
    lake.round(table)
    put([{"id": i, "name": "new"} for i in range(50)])
    union = spark.table(f"{catalog_of(spark, lake, database)}.{table.path}")
    assert len(union.collect()) == (100 if keyed else 150)
    told = union._jdf.queryExecution().executedPlan().collectLeaves().head().metrics()
    tiers = {tier for tier in ("LakeOnly", "LogOnly", "Hybrid") if told.apply(f"lakeward{tier}Splits").value()}
    assert tiers == ({"Hybrid"} if keyed else {"LakeOnly", "LogOnly"})
    assert told.apply("lakewardRows").value() == (100 if keyed else 150)


@pytest.mark.covering
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("door", ["jar", "python"])
def test_a_stream_begins_with_the_lake(
    spark: SparkSession, lake: Warehouse, database: str, tmp_path: Path, keyed: bool, door: str
) -> None:
    """Micro-batches of a bounded size, then the log; a query that is started again goes on where it was."""
    table = made(lake, database, keyed=keyed)
    put = table.upsert if keyed else table.append
    put([{"id": i, "name": f"n{i}"} for i in range(100)])
    lake.round(table)
    put([{"id": i, "name": "new"} for i in range(100, 130)])
    if door == "jar":
        stream = spark.readStream.option("maxRowsPerTrigger", 40).table(
            f"{catalog_of(spark, lake, database)}.{table.path}"
        )
    else:
        if not HAS_STREAMS:
            pytest.skip("this Spark streams only with the jar")
        given = {"bootstrap.servers": lake.bootstrap, "lake.warehouse": str(lake.directory), "maxRowsPerTrigger": "40"}
        stream = plain_session().readStream.format(NAME).options(**given).load(str(table.path))
    query, rows = run(stream, tmp_path / "c")
    sizes = [p.numInputRows for p in query.recentProgress if p.numInputRows]
    assert sum(sizes) == 130
    assert keyed or sizes == [40, 40, 40, 10]
    lake.round(table)
    put([{"id": i, "name": "newer"} for i in range(130, 150)])
    _, more = run(stream, tmp_path / "c")
    assert sorted(row.id for row in (*rows, *more)) == list(range(150))
    assert sorted(row.id for row in more) == list(range(130, 150))


def test_what_the_lake_knows_is_a_table(spark: SparkSession, lake: Warehouse, database: str) -> None:
    """`t.snapshots`, `t.history` and `t.files`: what pyiceberg says, newest first; empty before the first round."""
    table = made(lake, database, keyed=False)
    name = f"{catalog_of(spark, lake, database)}.{table.path}"
    assert spark.table(f"{name}.snapshots").count() == 0
    rounds = []
    for first in (0, 100):
        table.append([{"id": i, "name": "x"} for i in range(first, first + 100)])
        rounds.append(lake.round(table).snapshot_id)
    snapshots = spark.sql(f"SELECT * FROM {name}.snapshots").collect()
    assert [row.snapshot_id for row in snapshots] == rounds[::-1]
    assert snapshots[0].total_rows == 200
    assert all(row.is_ours for row in snapshots)
    assert spark.sql(f"SELECT snapshot_id FROM {name}.history WHERE is_current").collect()[0][0] == rounds[-1]
    assert spark.sql(f"SELECT sum(record_count) FROM {name}.files WHERE bucket < 2").collect()[0][0] == 200
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.table(f"{name}.manifests")
