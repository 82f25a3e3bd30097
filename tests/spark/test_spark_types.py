"""Types and filters in Spark and DuckDB, hot and cold, in both lakes: the same answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from spark_reads import catalog_of
from tiering_runs import TIERED, Warehouse
from type_matrix import Case, Found, check_page, groups, schema_of, table_of

import lakeward as lw

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _read(spark: SparkSession, name: str) -> pa.Table:
    found: pa.Table = spark.table(name).toArrow()
    return found


def _tables(lake: Warehouse, cases: list[Case], name: str, format_: str) -> list[lw.Table]:
    """A log table and a primary key table with the cases' rows, those of them that take them."""
    properties = {**TIERED, "table.datalake.format": format_}
    make, columns, rows = lake.conn.create_table, schema_of(cases), table_of(cases)
    log = make(f"{name}_log", columns, buckets=1, properties=properties)
    keyed = make(f"{name}_keyed", columns, primary_key=["id"], buckets=1, properties=properties)
    try:
        log.append(rows)
        keyed.upsert(rows)
    except lw.LakewardError:
        return []
    return [log, keyed]


@pytest.mark.timeout(600)
def test_types_are_the_same_in_spark_or_refused(spark: SparkSession, lake: Warehouse, database: str) -> None:
    """Spark's column of the page of types is true."""
    spark.conf.set("spark.sql.timeType.enabled", "true")
    found, catalog = Found(), catalog_of(spark, lake, database)
    for number, cases in enumerate(groups()):
        for format_ in ("iceberg", "paimon"):
            for table in _tables(lake, cases, f"{database}.g{number}_{format_}", format_):
                name = f"{catalog}.{table.path}"
                found.measure(cases, "Spark", lambda name=name: _read(spark, name))
                try:
                    lake.round(table)
                except lw.LakewardError:
                    continue  # the page says so elsewhere
                found.measure(cases, "Spark", lambda name=name: _read(spark, name))
    check_page(found.cells, ("Spark",))


_ROWS = [
    "(1, 12345678901234567890123456789012345678, 1234567890.123456789012345678, 'b', DATE '1969-12-31', DOUBLE('NaN'))",
    "(2, -99999999999999999999999999999999999999, -0.000000000000000001, 'aaaaaaaaaaaaaaaaaz', DATE '2026-01-01', -0D)",
    "(3, NULL, NULL, NULL, NULL, NULL)",
]
_FILTERS = [
    "w = 12345678901234567890123456789012345678",
    "w <= 12345678901234567890123456789012345678",
    "w < -99999999999999999999999999999999999998",
    "NOT (w > 0)",
    "v = 1234567890.123456789012345678",
    "v < 0",
    "v >= 1234567890.123456789012345678",
    "v IN (-0.000000000000000001, 5)",
    "s = 'aaaaaaaaaaaaaaaaaz'",
    "s LIKE 'aaaaaaaaaaaaaaaaa%'",
    "d < DATE '1970-01-01'",
    "d IS NULL",
    "f > 1",
    "f = 0",
    "f <> 1 OR w IS NULL",
]


@pytest.mark.long
@pytest.mark.parametrize("format_", ["iceberg", "paimon"])
def test_a_filter_has_the_same_answer_when_rows_are_cold(
    spark: SparkSession, lake: Warehouse, database: str, format_: str
) -> None:
    """Decimals of 38 digits, cut texts, days before 1970, NaN and NULL; Spark and DuckDB say the same, hot and cold."""
    columns = "id INT, w DECIMAL(38, 0), v DECIMAL(38, 18), s STRING, d DATE, f DOUBLE"
    properties = {**TIERED, "table.datalake.format": format_}
    table = lake.conn.create_table(f"{database}.f", columns, buckets=1, properties=properties)
    name = f"{catalog_of(spark, lake, database)}.{table.path}"
    options = {"lake.warehouse": str(lake.directory)}

    def answers() -> dict[str, tuple[list[int], list[int]]]:
        asked = {}
        for where in _FILTERS:
            by_spark = sorted(r.id for r in spark.table(name).where(where).select("id").collect())
            by_duck = lake.conn.sql(f"SELECT id FROM {table.path} WHERE {where} ORDER BY id", options)["id"].to_pylist()
            asked[where] = by_spark, by_duck
        return asked

    for row in _ROWS:
        spark.sql(f"INSERT INTO {name} VALUES {row}")
    hot = answers()
    assert hot["w = 12345678901234567890123456789012345678"] == ([1], [1])
    assert hot["f > 1"] == ([1], [1])
    lake.round(table)
    assert answers() == hot
