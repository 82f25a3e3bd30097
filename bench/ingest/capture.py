"""A database copied and followed into a primary key table, end to end: `python -m bench.ingest.capture [--rows N]`.

| figure | how it is taken |
|---|---|
| copy | rows a second of the micro-batches that copy a table, beside `SELECT *` by a Python client into Arrow |
| stream | rows a second of the micro-batches that follow changes which were there before the query went on |
| lag | how old a row is when a lookup finds it, while rows come at a pace |

Started Spark, compiled kernels and Python workers are not in the figures: a first small run pays for them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import lakeward as lw
from bench import targets

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from mariadb import MariaDb
from postgres import Postgres

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COLUMNS = "id BIGINT, customer INT, amount DECIMAL(10, 2), status STRING, note STRING, at_ms BIGINT"
_DDL = (
    "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer INT, amount DECIMAL(10,2), status VARCHAR(20),"
    " note VARCHAR(100), at_ms BIGINT)"
)
_BEAT = -1
_PACE_ROWS_S, _PACE_S, _COMMIT_ROWS = 10_000, 20, 500


class Source:
    """A database with a table of orders."""

    def __init__(self, server: MariaDb | Postgres) -> None:
        self.server = server
        self.is_maria = isinstance(server, MariaDb)
        if isinstance(server, MariaDb):
            server.execute("DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop")
            self.format, self.options = "lakeward.mysql", {**server.options, "database-name": "shop"}
        else:
            database = server.new_database()
            self._name = database.name
            self.format, self.options = "lakeward.postgres", dict(database.options)
        self.options |= {"table-name": "orders"}
        self.execute(_DDL)

    def connect(self) -> Any:
        """A connection that commits every statement."""
        if isinstance(self.server, MariaDb):
            return self.server.connect("shop")
        return self.server.connect(self._name)

    def execute(self, statement: str) -> None:
        """Run a statement."""
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute(statement)

    def insert(self, first: int, end: int, connection: Any = None) -> None:
        """Rows in one statement."""
        numbers = f"seq_{first}_to_{end - 1}" if self.is_maria else f"generate_series({first}, {end - 1}) s(seq)"
        note = "repeat('x', 40)"
        statement = (
            f"INSERT INTO orders SELECT seq, seq % 1000, (seq % 10000) / 100.0, concat('status ', seq % 7), {note},"
            f" {int(time.time() * 1000)} FROM {numbers}"
        )
        if connection is None:
            self.execute(statement)
        else:
            with connection.cursor() as cursor:
                cursor.execute(statement)

    def select_all(self) -> pa.Table:
        """`SELECT *` by a Python client, into Arrow."""
        with contextlib.closing(self.connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT * FROM orders")
            names = [column[0] for column in cursor.description]
            return pa.table(dict(zip(names, map(list, zip(*cursor.fetchall(), strict=True)), strict=True)))


class Sink:
    """A stream of the source into a table of its own."""

    def __init__(self, spark: SparkSession, conn: lw.Connection, source: Source, name: str, **options: str) -> None:
        self._spark, self._source, self._name, self._options = spark, source, name, options
        conn.create_table(f"bench.{name}", _COLUMNS, primary_key=["id"], buckets=4)
        self.table = conn.table(f"bench.{name}")
        self._checkpoint = tempfile.mkdtemp(prefix="lakeward-bench-")

    def start(self, **trigger: Any) -> Any:
        """Go on where it was."""
        more = {"slot.name": self._name} if self._source.format == "lakeward.postgres" else {}
        options = {**self._source.options, **more, **self._options}
        frame = self._spark.readStream.format(self._source.format).options(**options).load()
        writer = frame.writeStream.option("checkpointLocation", self._checkpoint).trigger(**trigger)
        return writer.option("sink.change-type-column", "_change_type").toTable(f"fluss.bench.{self._name}")

    def run_now(self) -> float:
        """Do all there is to do; rows a second of the batches that had any."""
        query = self.start(availableNow=True)
        query.awaitTermination()
        reports = [json.loads(report.json) for report in query.recentProgress]
        busy = [report for report in reports if report["numInputRows"]]
        for report in busy:
            print(f"    batch {report['batchId']}: {report['numInputRows']:,} rows, {report['durationMs']}")
        took_s = sum(report["durationMs"]["triggerExecution"] for report in busy) / 1000
        return sum(int(report["numInputRows"]) for report in busy) / max(took_s, 0.001)


def measure_lag(source: Source, sink: Sink) -> list[float]:
    """Seconds between a commit and a lookup that sees it, while rows come at a pace."""
    query = sink.start(processingTime="0 seconds")
    is_over, first = threading.Event(), 10**9

    def load() -> None:
        with contextlib.closing(source.connect()) as connection:
            began_s, place = time.monotonic(), first
            while not is_over.is_set():
                source.insert(place, place + _COMMIT_ROWS, connection)
                place += _COMMIT_ROWS
                is_over.wait(max(0.0, began_s + (place - first) / _PACE_ROWS_S - time.monotonic()))
            print(f"    {(place - first) / (time.monotonic() - began_s):,.0f} rows/s were written")

    def beat() -> None:
        with contextlib.closing(source.connect()) as connection, connection.cursor() as cursor:
            while not is_over.wait(0.1):
                cursor.execute(f"UPDATE orders SET at_ms = {int(time.time() * 1000)} WHERE id = {_BEAT}")

    threads = [threading.Thread(target=work) for work in (load, beat)]
    for thread in threads:
        thread.start()
    lags: list[float] = []
    end_s, last = time.monotonic() + _PACE_S, None
    while time.monotonic() < end_s and query.isActive:
        found = sink.table.lookup({"id": _BEAT})["at_ms"].to_pylist()
        seen = found[0] if found else None
        if seen is not None and seen != last:
            last = seen
            lags.append(time.time() - seen / 1000)
        time.sleep(0.02)
    is_over.set()
    for thread in threads:
        thread.join()
    query.stop()
    return lags


@contextlib.contextmanager
def _databases(chosen: str) -> Iterator[list[Source]]:
    with contextlib.ExitStack() as stack:
        found = []
        if chosen in ("all", "postgres"):
            found.append(Source(stack.enter_context(Postgres({"max_wal_size": "8GB"}))))
        if chosen in ("all", "mariadb"):
            found.append(Source(stack.enter_context(MariaDb(innodb_buffer_pool_size="512M"))))
        yield found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--changes", type=int, default=300_000)
    parser.add_argument("--only", choices=["all", "postgres", "mariadb"], default="all")
    given = parser.parse_args()
    server = targets.lakeward()
    spark = lw.spark.session(server.bootstrap, master="local[2]", **{"spark.ui.enabled": "false"})
    spark.sparkContext.setLogLevel("OFF")
    try:
        with lw.connect(server.bootstrap) as conn, _databases(given.only) as sources:
            conn.create_database("bench")
            for source in sources:
                _measure(spark, conn, source, given.rows, given.changes)
    finally:
        spark.stop()
        server.stop()


def _measure(spark: SparkSession, conn: lw.Connection, source: Source, rows: int, changes: int) -> None:
    kind = source.format.removeprefix("lakeward.")
    source.insert(_BEAT, _BEAT + 1) if not source.is_maria else source.execute(
        f"INSERT INTO orders VALUES ({_BEAT}, 0, 0, '', '', 0)"
    )
    source.insert(1, 2001)
    # Small chunks, so that every Python worker has had one.
    warm = Sink(spark, conn, source, f"warm_{kind}", **{"scan.incremental.snapshot.chunk.size": "100"})
    warm.run_now()
    source.insert(3000, 5000)
    warm.run_now()
    source.insert(10_000, 10_000 + rows)
    began_s = time.monotonic()
    count = source.select_all().num_rows
    plain = count / (time.monotonic() - began_s)
    print(f"{kind}: SELECT * by a Python client into Arrow: {plain:,.0f} rows/s", flush=True)
    sink = Sink(spark, conn, source, f"orders_{kind}")
    copied = sink.run_now()
    print(f"{kind}: copy {copied:,.0f} rows/s, {copied / plain:.2f} x SELECT *", flush=True)
    for first in range(0, changes, 1000):
        source.insert(5 * 10**8 + first, 5 * 10**8 + first + 1000)
    print(f"{kind}: stream {sink.run_now():,.0f} rows/s", flush=True)
    lags = sorted(measure_lag(source, sink)[5:])
    if lags:
        middle, last = statistics.median(lags), lags[int(len(lags) * 0.95)]
        print(f"{kind}: lag at {_PACE_ROWS_S:,} rows/s: median {middle:.2f} s, p95 {last:.2f} s", flush=True)


if __name__ == "__main__":
    main()
