"""Iceberg's own Spark runtime: its catalog beside ours in one session, and what it reads of the tables that we tier."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lake_tables import Rounds, pyiceberg_table, table_info

from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.filterwarnings("ignore::FutureWarning")]

DAYS = ["2026-11-01", "2026-11-02"]
TYPES = {
    "id": "BIGINT",
    "flag": "BOOLEAN",
    "price": "DECIMAL(10, 2)",
    "name": "STRING",
    "raw": "BYTES",
    "day": "DATE",
    "at": "TIMESTAMP(3)",
    "seen": "TIMESTAMP_LTZ(6)",
    "ratio": "DOUBLE",
    "tags": "ARRAY<STRING>",
}


def as_spark_sees(
    spark: SparkSession, warehouse: Path, columns: Sequence[str], where: str = "true"
) -> list[tuple[Any, ...]]:
    """The newest rows of the tiered table, read by Iceberg's runtime from its metadata file."""
    metadata = pyiceberg_table(warehouse).metadata_location
    rows = spark.read.format("iceberg").load(metadata).where(where).select(*columns).collect()
    return sorted(tuple(row) for row in rows)


def test_a_table_of_each_catalog_joined(spark: SparkSession, database: str) -> None:
    """Both runtimes plan, read and write in one session; a write goes from one catalog into the other."""
    spark.sql("CREATE TABLE ice.shop.items (item STRING, price DECIMAL(10, 2)) USING iceberg")
    spark.sql("INSERT INTO ice.shop.items VALUES ('kettle', 34.50), ('lantern', 19.00)")
    spark.sql(f"CREATE TABLE fluss.{database}.orders (id BIGINT, item STRING, pieces INT)")
    spark.sql(f"INSERT INTO fluss.{database}.orders VALUES (1, 'kettle', 2), (2, 'lantern', 1), (3, 'kettle', 1)")
    joined = (
        f"SELECT o.id, o.pieces * i.price AS total FROM fluss.{database}.orders o JOIN ice.shop.items i USING (item)"
    )
    assert sorted((row.id, float(row.total)) for row in spark.sql(joined).collect()) == [
        (1, 69.0),
        (2, 19.0),
        (3, 34.5),
    ]

    spark.sql(f"CREATE TABLE ice.shop.totals USING iceberg AS {joined}")
    spark.sql(f"INSERT INTO fluss.{database}.orders SELECT id + 10, 'lantern', 1 FROM ice.shop.totals")
    assert spark.table(f"fluss.{database}.orders").count() == 6
    spark.sql("DELETE FROM ice.shop.totals WHERE id = 1")  # an extension of Iceberg's, beside ours
    assert spark.table("ice.shop.totals").count() == 2


def test_a_stream_of_ours_into_a_table_of_theirs(spark: SparkSession, database: str, tmp_path: Path) -> None:
    """Spark's checkpoint ties our source to Iceberg's sink."""
    spark.sql(f"CREATE TABLE fluss.{database}.clicks (id BIGINT, url STRING)")
    spark.sql(f"INSERT INTO fluss.{database}.clicks VALUES (1, '/'), (2, '/about')")
    spark.sql("CREATE TABLE ice.shop.clicks (id BIGINT, url STRING) USING iceberg")

    def run() -> None:
        writing = spark.readStream.table(f"fluss.{database}.clicks").writeStream.format("iceberg")
        started = writing.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
        started.toTable("ice.shop.clicks").awaitTermination()

    run()
    spark.sql(f"INSERT INTO fluss.{database}.clicks VALUES (3, '/')")
    run()
    assert sorted(row.id for row in spark.table("ice.shop.clicks").collect()) == [1, 2, 3]


def test_a_tiered_log_table(spark: SparkSession, tmp_path: Path) -> None:
    """Every type and every round, as Java reads them."""
    row = {
        "id": 1,
        "flag": True,
        "price": Decimal("19.00"),
        "name": "kettle",
        "raw": b"\x00\xff",
        "day": dt.date(2026, 11, 1),
        "at": dt.datetime(2026, 11, 1, 12, 0, 0, 1000),
        "seen": dt.datetime(2026, 11, 1, 12, 0, 0, 1, tzinfo=dt.UTC),
        "ratio": 0.5,
        "tags": ["a", "b"],
    }
    rounds = Rounds(lake_format("iceberg"), tmp_path, table_info(TYPES))
    rounds.round({LakePlace(0): [row], LakePlace(1): [{"id": 2}]})
    rounds.round({LakePlace(0): [{"id": 3, "name": "lantern"}]})
    plain = dict(row, seen=dt.datetime(2026, 11, 1, 12, 0, 0, 1), raw=bytearray(b"\x00\xff"))
    found = {row[0]: row for row in as_spark_sees(spark, tmp_path, list(TYPES))}
    assert sorted(found) == [1, 2, 3]
    assert found[1] == tuple(plain.values())
    assert found[2] == (2, *[None] * 9)
    assert found[3][3] == "lantern"


def test_a_tiered_table_with_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """A filter on the partition column leaves files out, and finds its rows."""
    rounds = Rounds(lake_format("iceberg"), tmp_path, table_info({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"]))
    for day in DAYS:
        rounds.round({LakePlace(0, (day,)): [{"id": 1, "dt": day}], LakePlace(1, (day,)): [{"id": 2, "dt": day}]})
    assert as_spark_sees(spark, tmp_path, ["id", "dt"]) == [(i, day) for i in (1, 2) for day in DAYS]
    assert as_spark_sees(spark, tmp_path, ["id"], f"dt = '{DAYS[1]}'") == [(1,), (2,)]


def test_a_tiered_primary_key_table(spark: SparkSession, tmp_path: Path) -> None:
    """Position deletes hide what was updated or deleted, in older rounds and within one."""
    rounds = Rounds(lake_format("iceberg"), tmp_path, table_info({"id": "BIGINT", "name": "STRING"}, key="id"))
    rounds.round({LakePlace(0): [{"id": i, "name": "old"} for i in range(5)]})
    rounds.round(
        {
            LakePlace(0): [
                {"id": 1, "name": "new", "_": "+U"},
                {"id": 2, "name": "old", "_": "-D"},
                {"id": 3, "name": "newer", "_": "+U"},
                {"id": 3, "name": "newest", "_": "+U"},
            ]
        }
    )
    expected = [(0, "old"), (1, "new"), (3, "newest"), (4, "old")]
    assert as_spark_sees(spark, tmp_path, ["id", "name"]) == expected
    assert as_spark_sees(spark, tmp_path, ["id"], "name = 'old'") == [(0,), (4,)]
    rounds.round({LakePlace(0): [{"id": 1, "name": "new", "_": "-D"}, {"id": 2, "name": "back", "_": "+I"}]})
    assert as_spark_sees(spark, tmp_path, ["id", "name"]) == [(0, "old"), (2, "back"), *expected[2:]]
