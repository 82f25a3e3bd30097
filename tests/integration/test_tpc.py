"""The queries of TPC-H and TPC-DS over hot and cold rows, in DuckDB: what joins of some size are like."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from tiering_runs import TIERED, Warehouse

from lakeward.query.duckdb.sql import run_sql

pytestmark = pytest.mark.slow

_GENERATE = {"tpch": "CALL dbgen(sf = 0.01)", "tpcds": "CALL dsdgen(sf = 0.01)"}
_KEYS = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "customer": ["c_custkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}


@pytest.fixture
def suite(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of a suite as DuckDB's own generator makes them."""
    import duckdb_extensions

    duckdb_extensions.import_extension(request.param)
    with duckdb.connect() as duck:
        duck.execute(f"LOAD {request.param}")
        duck.execute(_GENERATE[request.param])
        yield duck


@pytest.mark.covering("tpch")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("suite", "lake_format", "keys"),
    [("tpch", "iceberg", {}), ("tpch", "paimon", _KEYS), ("tpcds", "iceberg", {})],
    ids=["tpch log iceberg", "tpch keys paimon", "tpcds log iceberg"],
    indirect=["suite"],
)
def test_every_query_answers_as_duckdb_does(
    suite: duckdb.DuckDBPyConnection, lake_format: str, keys: dict[str, list[str]], lake: Warehouse, database: str
) -> None:
    """Half of each table is in the lake, half in the log."""
    names = {table: f"{database}.{table}" for (table,) in suite.execute("SHOW TABLES").fetchall()}
    for table, name in names.items():
        rows = suite.execute(f"FROM {table}").to_arrow_table()
        made = lake.conn.create_table(
            name,
            rows.schema,
            primary_key=keys.get(table),
            buckets=2,
            properties={**TIERED, "table.datalake.format": lake_format},
        )
        put = made.upsert if table in keys else made.append
        put(rows.slice(0, rows.num_rows // 2))
        lake.round(made)
        put(rows.slice(rows.num_rows // 2))
    queries = suite.execute(
        f"FROM {'tpch' if 'lineitem' in names else 'tpcds'}_queries() SELECT query_nr, query"
    ).fetchall()
    assert len(queries) in {22, 99}
    wrong = [
        number
        for number, sql in queries
        if _answer(run_sql(lake.conn, sql, names=names)) != _answer(suite.execute(sql).to_arrow_table())
    ]
    assert wrong == []


def _answer(table: Any) -> list[str]:
    """Rows as texts, in any order: ties of an ORDER BY, and sums of floats, are not always the same."""
    return sorted(repr([_rounded(value) for value in row.values()]) for row in table.to_pylist())


def _rounded(value: Any) -> Any:
    return round(float(value), 2) if isinstance(value, float | Decimal) else value
