"""The tables of TPC-H, four fifths of their rows cold, the rest and what changed since hot; kept between runs.

A directory of the cache holds the data of a server, a warehouse beside it, and Parquet files of the rows that all of it
comes to. It is filled once; later runs start a server on it. Each checkout has its own, since formats may differ.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from bench.targets import Target, lakeward_in
from bench.union.work import TIERED, Lake

DATABASE = "tpch"
KINDS = ("log", "key")
FORMATS = ("iceberg", "paimon")
KEYS = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "customer": ["c_custkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}
#: What an update changes.
_CHANGED = {
    "supplier": "s_acctbal",
    "customer": "c_acctbal",
    "part": "p_retailprice",
    "partsupp": "ps_supplycost",
    "orders": "o_totalprice",
    "lineitem": "l_quantity",
}
_COLD = 0.8
#: Of the cold rows of primary key tables: one in so many is updated, one in so many deleted.
_UPDATED, _DELETED = 50, 100
_BUCKETS = 2
_DONE = "done"
_CACHE = Path("/tmp") / f"lakeward-bench-tpch-{hashlib.sha256(__file__.encode()).hexdigest()[:8]}"


@dataclass(frozen=True)
class Loaded:
    """Tables on a server that runs; the same rows as Parquet; the 22 queries."""

    lake: Lake
    plain: dict[str, Path]
    queries: dict[int, str]

    @property
    def names(self) -> dict[str, str]:
        """What the queries call the tables, and what they are called on the server."""
        return {table: f"{DATABASE}.{table}" for table in KEYS}


@contextmanager
def loaded(factor: float, lake_format: str, kind: str) -> Iterator[Loaded]:
    """The tables of a scale factor, loaded by the first who asks."""
    directory = _CACHE / f"{factor:g}-{lake_format}-{kind}"
    if not (directory / _DONE).exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    with _generator() as duck:
        queries = dict(duck.execute("SELECT query_nr, query FROM tpch_queries()").fetchall())
        target = lakeward_in(directory)
        try:
            yield Loaded(_filled(target, directory, duck, factor, lake_format, kind), _plain(directory), queries)
        finally:
            target.end()


@contextmanager
def _generator() -> Iterator[Any]:
    import duckdb_extensions

    duckdb_extensions.import_extension("tpch")
    with duckdb.connect() as duck:
        duck.execute("LOAD tpch")
        yield duck


def _filled(target: Target, directory: Path, duck: Any, factor: float, lake_format: str, kind: str) -> Lake:
    lake = Lake(target, directory / "lake")
    if not (directory / _DONE).exists():
        (directory / "plain").mkdir()
        duck.execute(f"CALL dbgen(sf = {factor})")
        lake.conn.create_database(DATABASE)
        for table in KEYS:
            _fill(lake, duck, table, lake_format, kind)
            path = _plain(directory)[table]
            duck.execute(f"COPY {table} TO '{path}' (FORMAT parquet)")
            duck.execute(f"DROP TABLE {table}")
        (directory / _DONE).touch()
    return lake


def _fill(lake: Lake, duck: Any, table: str, lake_format: str, kind: str) -> None:
    """Rows into the server and the lake; what is left of them in DuckDB is what a query should see."""
    rows = duck.execute(f"FROM {table}").to_arrow_table()
    is_keyed = kind == "key"
    made = lake.conn.create_table(
        f"{DATABASE}.{table}",
        rows.schema,
        primary_key=KEYS[table] if is_keyed else [],
        buckets=_BUCKETS,
        bucket_by=KEYS[table][0] if is_keyed else None,  # Iceberg buckets by one column
        properties={**TIERED, "table.datalake.format": lake_format},
    )
    cold = int(rows.num_rows * _COLD)
    put = made.upsert if is_keyed else made.append
    put(rows.slice(0, cold))
    lake.round(made)
    put(rows.slice(cold))
    if is_keyed:
        _change(made, duck, table, cold)


def _change(made: Any, duck: Any, table: str, cold: int) -> None:
    changed = _CHANGED.get(table)
    if changed is None:  # a handful of rows
        return
    updated = f"rowid < {cold} AND rowid % {_UPDATED} = 7"
    duck.execute(f"UPDATE {table} SET {changed} = {changed} + 1 WHERE {updated}")
    made.upsert(duck.execute(f"FROM {table} WHERE {updated}").to_arrow_table())
    # Deleted, and some of the updated among them.
    deleted = f"rowid < {cold} AND (rowid % {_DELETED} = 3 OR rowid % {_UPDATED * 20} = 7)"
    made.delete(duck.execute(f"SELECT {', '.join(KEYS[table])} FROM {table} WHERE {deleted}").to_arrow_table())
    duck.execute(f"DELETE FROM {table} WHERE {deleted}")


def _plain(directory: Path) -> dict[str, Path]:
    return {table: directory / "plain" / f"{table}.parquet" for table in KEYS}
