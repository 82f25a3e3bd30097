"""`python -m bench.sql.serve [--factor F] [--kind log|key] [--rows N]`: `lakeward sql serve` through its clients.

The 22 queries of TPC-H, four fifths cold with updates after it, through Flight SQL (ADBC) and Postgres (psycopg): are
they right? And how fast do rows come out: the lines of the same tables through Flight SQL, beside DuckDB in the same
process to Arrow, by turns.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import adbc_driver_flightsql.dbapi as flight_sql
import psycopg

from bench.tpch.data import DATABASE, KINDS, Loaded, loaded
from bench.tpch.sides import duckdb_sides, same


def main() -> None:
    """Run, print."""
    parser = argparse.ArgumentParser(prog="bench.sql.serve", description=__doc__)
    parser.add_argument("--factor", type=float, default=0.1, help="scale factor (default 0.1)")
    parser.add_argument("--kind", choices=KINDS, default="key", help="log or primary key tables (default key)")
    parser.add_argument("--rows", type=int, default=10_000_000, help="that come out (default 10 million)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that count (default 3)")
    parser.add_argument("--skip-queries", action="store_true", help="only rows out")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", message="Cannot disable autocommit")
    with (
        loaded(arguments.factor, "iceberg", arguments.kind) as tables,
        _server(tables) as (postgres, flight),
        flight_sql.connect(flight) as conn,
        psycopg.connect(postgres, autocommit=True) as session,
    ):
        if not arguments.skip_queries:
            _queries(tables, conn, session)
        _rows_out(tables, conn, arguments.rows, arguments.rounds)


def _queries(tables: Loaded, conn: Any, session: Any) -> None:
    """Each query by both doors, compared with DuckDB on Parquet of the same rows."""
    wrong = []
    session.execute(f"SET search_path = {DATABASE}")
    with duckdb_sides(tables) as (_union, plain), conn.cursor() as cursor:
        for number, sql in sorted(tables.queries.items()):
            sql = sql.rstrip().rstrip(";")
            expected = plain(sql)
            cursor.execute(_with_database(sql, tables))
            by_flight = [tuple(row) for row in cursor.fetchall()]
            by_postgres = session.execute(sql.encode()).fetchall()
            for door, found in (("Flight SQL", by_flight), ("Postgres", by_postgres)):
                if not same(found, expected):
                    wrong.append((number, door))
    print(f"TPC-H: {2 * len(tables.queries) - len(wrong)} of {2 * len(tables.queries)} answers right {wrong or ''}")


def _with_database(sql: str, tables: Loaded) -> str:
    """The same query with full names: Flight SQL has no search path."""
    from lakeward.sql_server.postgres.codec.sql_text import replace_pieces, tokens_of

    tokens = tokens_of(sql)
    changes = {}
    for at, token in enumerate(tokens):
        before = tokens[at - 1].upper if at else ""
        if token.name in tables.names and before in {"FROM", ",", "(", "JOIN"} and token.kind == "word":
            changes[token.at] = token.at + len(token.text), f"{tables.names[token.name]}"
    return replace_pieces(sql, changes)


def _rows_out(tables: Loaded, conn: Any, rows: int, rounds: int) -> None:
    line = f"{DATABASE}.lineitem"
    in_all = tables.lake.conn.sql(f"SELECT count(*) AS n FROM {line}").column("n")[0].as_py()
    times = -(-rows // in_all)
    sql = f"SELECT l_orderkey, l_quantity, l_shipdate, l_comment FROM {line}, range({times}) LIMIT {rows}"

    def by_flight() -> Any:
        with conn.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    sides: tuple[Callable[[], Any], ...] = (by_flight, lambda: tables.lake.conn.sql(sql))
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for side, kept in zip(sides, seconds, strict=True):
            began = time.perf_counter()
            assert side().num_rows == rows
            if turn:
                kept.append(time.perf_counter() - began)
    flight, duck = (statistics.median(one) for one in seconds)
    print(f"{rows:,} rows out: Flight SQL {flight:.2f} s, DuckDB in process {duck:.2f} s, {duck / flight:.2f} ×")


@contextmanager
def _server(tables: Loaded) -> Iterator[tuple[str, str]]:
    lake = tables.lake
    arguments = ["--server", lake.conn.inner.bootstrap, "--warehouse", lake.conn.lake_properties["warehouse"]]
    ports = ["--postgres-port", "0", "--flight-port", "0", "--http-port", "-1"]
    command = [sys.executable, "-m", "lakeward", "sql", "serve", *arguments, *ports]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    try:
        said = [started.stdout.readline() for _ in range(2)]
        host, port = said[0].split()[-3], said[0].split()[-1]
        yield f"postgresql://bench@{host}:{port}/lakeward", said[1].split()[-1]
    finally:
        started.terminate()
        started.wait(20)


if __name__ == "__main__":
    main()
