"""The tables of TPC-H on a server: four fifths in the lake, the rest in the log; keyed ones are changed after that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import duckdb
from tiering_runs import TIERED

import lakeward

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
_CHANGED = {"customer": "c_acctbal", "part": "p_retailprice", "orders": "o_totalprice", "lineitem": "l_quantity"}


@contextmanager
def tpch(factor: float = 0.01) -> Iterator[duckdb.DuckDBPyConnection]:
    """As DuckDB's own generator makes them; `tpch_queries()` has the queries."""
    import duckdb_extensions

    duckdb_extensions.import_extension("tpch")
    with duckdb.connect() as duck:
        duck.execute("LOAD tpch")
        duck.execute(f"CALL dbgen(sf = {factor})")
        yield duck


def fill_tables(
    duck: duckdb.DuckDBPyConnection,
    conn: lakeward.Connection,
    round_: Callable[[lakeward.Table], Any],
    database: str,
    *,
    keyed: bool,
) -> None:
    """Rows into the server and the lake; what is left of them in DuckDB is what a query should see."""
    for table, keys in KEYS.items():
        rows = duck.execute(f"FROM {table}").to_arrow_table()
        made = conn.create_table(
            f"{database}.{table}",
            rows.schema,
            primary_key=keys if keyed else [],
            buckets=2,
            bucket_by=keys[0] if keyed else None,
            properties=TIERED,
        )
        put = made.upsert if keyed else made.append
        cold = rows.num_rows * 4 // 5
        put(rows.slice(0, cold))
        round_(made)
        put(rows.slice(cold))
        if keyed and table in _CHANGED:
            _change(made, duck, table, cold)


def _change(made: lakeward.Table, duck: duckdb.DuckDBPyConnection, table: str, cold: int) -> None:
    updated, deleted = f"rowid < {cold} AND rowid % 50 = 7", f"rowid < {cold} AND rowid % 100 = 3"
    duck.execute(f"UPDATE {table} SET {_CHANGED[table]} = {_CHANGED[table]} + 1 WHERE {updated}")
    made.upsert(duck.execute(f"FROM {table} WHERE {updated}").to_arrow_table())
    made.delete(duck.execute(f"SELECT {', '.join(KEYS[table])} FROM {table} WHERE {deleted}").to_arrow_table())
    duck.execute(f"DELETE FROM {table} WHERE {deleted}")


def wrong_queries(duck: duckdb.DuckDBPyConnection, ask: Callable[[str], list[tuple[Any, ...]]]) -> list[int]:
    """Those of the 22 queries that are answered in another way than DuckDB answers them."""
    queries = duck.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()
    assert len(queries) == 22
    return [
        number
        for number, sql in queries
        if _answer(ask(sql.rstrip().rstrip(";"))) != _answer(duck.execute(sql).fetchall())
    ]


def _answer(rows: list[tuple[Any, ...]]) -> list[str]:
    """Rows as texts, in any order: ties of an ORDER BY, and sums of floats, are not always the same."""
    return sorted(repr([round(float(v), 2) if isinstance(v, float | Decimal) else v for v in row]) for row in rows)
