"""`python -m bench.lake.rest_catalog [--rows N]`: what stock readers get through the Iceberg REST catalog.

Prints: append until a stock reader has the row; loadTable of `$now`, warm and cold; DuckDB over hot and cold as one,
beside the same rows all cold. For figures that count, on a machine alone.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lakeward
from lakeward.cli.demo.child_server import ChildServer
from lakeward.client.admin.lake import TieringRound
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, run_round
from lakeward.tiering.round.runner import LocalRunner

_TIERED = {"table.datalake.enabled": "true", "table.datalake.format": "iceberg", "table.datalake.freshness": "1h"}
_COLUMNS = "id BIGINT NOT NULL, item STRING, amount DOUBLE"
_QUERY = "SELECT item, count(*), sum(amount), max(id) FROM {} GROUP BY item ORDER BY item"
_CHUNK = 500_000


class Bench:
    """A server, its lake and a catalog of both, for one run."""

    def __init__(self, bootstrap: str, lake: Path, url: str) -> None:
        self.bootstrap = bootstrap
        self.lake = lake
        self.url = url
        self.conn = lakeward.connect(bootstrap, lake={"warehouse": str(lake)})
        self.conn.create_database("shop")

    def table(self, name: str, *, keyed: bool = False, buckets: int = 2) -> lakeward.Table:
        """A tiered table."""
        keys = ["id"] if keyed else None
        return self.conn.create_table(f"shop.{name}", _COLUMNS, primary_key=keys, buckets=buckets, properties=_TIERED)

    def tier(self, table: lakeward.Table) -> None:
        """One round."""
        clock = SystemClock()
        runner = LocalRunner(lambda _: self.conn, clock)
        catalogs = LakeCatalogs({"warehouse": str(self.lake)})
        context = RoundContext(
            conn=self.conn, catalogs=catalogs, runner=runner, clock=clock, bootstrap=self.bootstrap, client={}
        )
        run_round(context, TieringRound(table.info.table_id, table.path, 0, 1))

    def load_s(self, name: str) -> float:
        """How long a load takes."""
        import requests

        begin = time.perf_counter()
        answer = requests.get(f"{self.url}/v1/namespaces/shop/tables/{name}%24now", timeout=120)
        answer.raise_for_status()
        return time.perf_counter() - begin

    def duckdb(self) -> Any:
        """DuckDB with the catalog attached."""
        import duckdb
        import duckdb_extensions

        for extension in ("avro", "iceberg", "httpfs"):
            duckdb_extensions.import_extension(extension)
        duck = duckdb.connect()
        duck.execute("SET autoinstall_known_extensions=false; LOAD avro; LOAD httpfs; LOAD iceberg")
        duck.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{self.url}', AUTHORIZATION_TYPE 'none')")
        return duck


def rows(first: int, count: int) -> Iterator[pa.RecordBatch]:
    """Orders with these ids."""
    for begin in range(first, first + count, _CHUNK):
        ids = np.arange(begin, min(begin + _CHUNK, first + count))
        items = pa.array([f"item {i}" for i in range(50)]).take(pa.array(ids % 50))
        yield pa.record_batch([pa.array(ids), items, pa.array(ids * 0.5)], ["id", "item", "amount"])


def put(table: lakeward.Table, first: int, count: int) -> None:
    """Append or upsert orders."""
    keyed = bool(table.info.schema.primary_key)
    for batch in rows(first, count):
        (table.upsert if keyed else table.append)(batch)


def visible_ms(bench: Bench, rounds: int) -> float:
    """Append until pyiceberg, through REST, has the row: the median."""
    from pyiceberg.catalog import load_catalog

    table = bench.table("seen")
    put(table, 0, 10_000)
    bench.tier(table)
    catalog = load_catalog("rest", type="rest", uri=bench.url)
    found = []
    for number in range(rounds):
        begin = time.perf_counter()
        put(table, 10_000 + number, 1)
        while catalog.load_table("shop.seen$now").scan(row_filter=f"id = {10_000 + number}").to_arrow().num_rows != 1:
            pass
        found.append(time.perf_counter() - begin)
        time.sleep(0.137 * (number % 7))
    return statistics.median(found) * 1000


def loads(bench: Bench, *, keyed: bool) -> tuple[float, float, float]:
    """Cold with a million rows; and with a hundred thousand, warm: without news, and with some."""
    kind = "keyed" if keyed else "log"
    large = bench.table(f"large_{kind}", keyed=keyed)
    put(large, 0, 100_000)
    bench.tier(large)
    put(large, 50_000, 1_000_000)
    small = bench.table(f"small_{kind}", keyed=keyed)
    put(small, 0, 100_000)
    bench.tier(small)
    put(small, 50_000, 100_000)
    bench.load_s(f"small_{kind}")  # what loads with the first is no part of it
    cold = bench.load_s(f"large_{kind}")
    still, news = [], []
    for number in range(5):
        time.sleep(1.05)
        still.append(bench.load_s(f"small_{kind}"))
        put(small, 200_000 + number * 100, 100)
        time.sleep(1.05)
        news.append(bench.load_s(f"small_{kind}"))
    return cold * 1000, statistics.median(still) * 1000, statistics.median(news) * 1000


def queries(bench: Bench, count: int, rounds: int, *, keyed: bool) -> float:
    """DuckDB through REST with a tenth hot, as a multiple of its speed with all cold."""
    kind = "keyed" if keyed else "log"
    cold, hot = bench.table(f"cold_{kind}", keyed=keyed), bench.table(f"hot_{kind}", keyed=keyed)
    for table in (cold, hot):
        put(table, 0, count * 9 // 10)
    bench.tier(hot)
    for table in (cold, hot):
        put(table, count * 9 // 10, count // 10)
    bench.tier(cold)
    with bench.duckdb() as duck:
        took: dict[str, list[float]] = {"cold": [], "hot": []}
        told = {}
        for number in range(rounds + 1):
            for name, table in (("cold", f"lake.shop.cold_{kind}"), ("hot", f'lake.shop."hot_{kind}$now"')):
                begin = time.perf_counter()
                told[name] = duck.execute(_QUERY.format(table)).fetchall()
                if number:
                    took[name].append(time.perf_counter() - begin)
    assert told["cold"] == told["hot"]
    return statistics.median(took["cold"]) / statistics.median(took["hot"])


@contextmanager
def started(directory: Path) -> Iterator[Bench]:
    """A server and a catalog, which end with this."""
    with ChildServer(directory / "data", directory / "server.log") as server:
        command = [
            "catalog",
            "serve",
            "--port",
            "0",
            "--server",
            server.bootstrap,
            "--warehouse",
            str(directory / "lake"),
        ]
        process = subprocess.Popen([sys.executable, "-m", "lakeward", *command], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            url = process.stdout.readline().partition(" is at ")[2].strip().rstrip("/")
            bench = Bench(server.bootstrap, directory / "lake", url)
            yield bench
            bench.conn.close()
        finally:
            process.terminate()
            process.wait()


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="bench.lake.rest_catalog", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of a query (default 10,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="repeats; the median counts (default 5)")
    parser.add_argument("--only", choices=("visible", "loads", "queries"), help="one part of it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, started(Path(directory)) as bench:
        if arguments.only in (None, "visible"):
            print(f"append until pyiceberg has the row, p50: {visible_ms(bench, 15):,.0f} ms (< 2,000)", flush=True)
        for keyed in (False, True):
            kind = "primary key" if keyed else "log"
            if arguments.only in (None, "loads"):
                cold, still, news = loads(bench, keyed=keyed)
                print(f"{kind}: load of $now, 1,000,000 rows of tail, cold: {cold:,.0f} ms (< 1,500)", flush=True)
                print(f"{kind}: 100,000 rows, warm: {still:,.0f} ms, with news: {news:,.0f} ms (< 150)", flush=True)
            if arguments.only in (None, "queries"):
                times = queries(bench, arguments.rows, arguments.rounds, keyed=keyed)
                print(
                    f"{kind}: DuckDB, {arguments.rows:,} rows, a tenth hot: {times:.2f} × all cold (≥ 0.8)", flush=True
                )


if __name__ == "__main__":
    main()
