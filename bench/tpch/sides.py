"""Engines that answer the queries of TPC-H: over hot and cold as one table, and over Parquet of the same rows."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import duckdb
import duckdb_extensions

from bench.tpch.data import DATABASE, Loaded
from lakeward.query.duckdb.duck_session import duck_session
from lakeward.query.duckdb.sql import run_sql

Rows = list[tuple[Any, ...]]


class Sides(NamedTuple):
    """The same SQL by both; each gives all rows of the answer."""

    union: Callable[[str], Rows]
    plain: Callable[[str], Rows]


@contextmanager
def duckdb_sides(tables: Loaded) -> Iterator[Sides]:
    """`connection.sql` beside DuckDB alone, in one process and set alike."""
    with duck_session() as duck:
        for table, path in tables.plain.items():
            duck.execute(f"CREATE VIEW {table} AS FROM read_parquet('{path}')")

        def union(sql: str) -> Rows:
            return _rows(run_sql(tables.lake.conn, sql, names=tables.names))

        def plain(sql: str) -> Rows:
            return _rows(duck.execute(sql).to_arrow_table())

        yield Sides(union, plain)


@contextmanager
def rest_sides(tables: Loaded) -> Iterator[Sides]:
    """A stock DuckDB with the Iceberg REST catalog attached, beside itself on Parquet."""
    command = [sys.executable, "-m", "lakeward", "catalog", "serve", "--port", "0", "--server", tables.lake.bootstrap]
    process = subprocess.Popen([*command, "--warehouse", tables.lake.warehouse], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().partition(" is at ")[2].strip().rstrip("/")
        with duckdb.connect() as duck:
            for extension in ("avro", "httpfs", "iceberg"):
                duckdb_extensions.import_extension(extension)
                duck.execute(f"LOAD {extension}")
            duck.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{url}', AUTHORIZATION_TYPE 'none')")
            for schema in ("now", "plain"):
                duck.execute(f"CREATE SCHEMA {schema}_views")
            for table, path in tables.plain.items():
                duck.execute(f"CREATE VIEW plain_views.{table} AS FROM read_parquet('{path}')")
                duck.execute(f'CREATE VIEW now_views.{table} AS FROM lake.{DATABASE}."{table}$now"')

            def ask(schema: str, sql: str) -> Rows:
                duck.execute(f"USE {schema}_views")
                return _rows(duck.execute(sql).to_arrow_table())

            yield Sides(partial(ask, "now"), partial(ask, "plain"))
    finally:
        process.terminate()
        process.wait()


@contextmanager
def spark_sides(tables: Loaded) -> Iterator[Sides]:
    """The catalog beside Spark's own reading of Parquet, on local[2]."""
    import lakeward.spark

    lake = tables.lake
    settings = {"spark.driver.memory": "3g", "spark.sql.catalog.fluss.lake.warehouse": lake.warehouse}
    session = lakeward.spark.session(lake.bootstrap, master="local[2]", **settings)
    session.sparkContext.setLogLevel("ERROR")
    try:
        beside = session.newSession()
        for table, path in tables.plain.items():
            session.table(f"fluss.{tables.names[table]}").createOrReplaceTempView(table)
            beside.read.parquet(str(path)).createOrReplaceTempView(table)
        yield Sides(*(lambda sql, spark=spark: _collected(spark, sql) for spark in (session, beside)))
    finally:
        session.stop()


ENGINES = {"duckdb": duckdb_sides, "rest": rest_sides, "spark": spark_sides}


def same(one: Rows, other: Rows) -> bool:
    """Whether two answers have the same rows; ties of an ORDER BY, and sums of floats, are not always the same."""
    return sorted(map(_text, one)) == sorted(map(_text, other))


def _text(row: tuple[Any, ...]) -> str:
    return repr([round(float(v), 2) if isinstance(v, float | Decimal) else v for v in row])


def _rows(table: Any) -> Rows:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _collected(spark: Any, sql: str) -> Rows:
    return [tuple(row) for row in spark.sql(sql.rstrip().rstrip(";")).collect()]
