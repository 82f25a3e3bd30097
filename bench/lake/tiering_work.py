"""Tiering rounds on Spark, local[2], beside pyarrow's Parquet writer on the same rows and cores."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lakeward
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target
from lakeward.client.admin.lake import TieringRound
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.process.child import Child
from lakeward.spark.tiering.spark_runner import SparkRunner
from lakeward.spark.tiering.tiering_job import tiering_context
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, RoundReport, run_round
from lakeward.tiering.settings import TieringSettings

_KEYED = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("a", pa.int64()), ("b", pa.float64()), ("c", pa.string())]
)
#: A freshness that no round waits for: rounds are run by hand.
_TIERED = {"table.datalake.enabled": "true", "table.datalake.freshness": "1d"}


class Rounds:
    """Rounds run by hand on one Spark session, one table after the other."""

    def __init__(self, target: Target, warehouse: Path) -> None:
        self.target = target
        self.conn = lakeward.connect(target.bootstrap)
        self.settings = TieringSettings(target.bootstrap, {"warehouse": str(warehouse)}, "local[2]")
        self.spark = tiering_context(self.settings)
        self.spark.setLogLevel("ERROR")
        self._context = RoundContext(
            self.conn, LakeCatalogs(self.settings.lake), SparkRunner(self.spark), SystemClock(), target.bootstrap, {}
        )

    def table(self, name: str, lake_format: str, *, keyed: bool = False, buckets: int = 2) -> Any:
        """An empty table that is tiered."""
        return self.conn.create_table(
            f"fluss.{name}",
            _KEYED if keyed else SCHEMA,
            primary_key=["id"] if keyed else [],
            buckets=buckets,
            properties={**_TIERED, "table.datalake.format": lake_format},
        )

    def round(self, table: Any) -> RoundReport:
        """One round of a table."""
        return run_round(self._context, TieringRound(table.info.table_id, table.path, 0, 0))

    def close(self) -> None:
        """End the session."""
        self.spark.stop()
        self.conn.close()


@contextmanager
def rounds_on(target: Target) -> Iterator[Rounds]:
    """A session for rounds, warmed up: Python workers loaded, a small round of each kind done."""
    with tempfile.TemporaryDirectory(prefix="lakeward-bench-lake-") as directory:
        rounds = Rounds(target, Path(directory))
        try:
            for lake_format in ("iceberg", "paimon"):
                plain = rounds.table(f"warm_{lake_format}", lake_format)
                plain.append(batches(4))
                rounds.round(plain)
                keyed = rounds.table(f"warm_keyed_{lake_format}", lake_format, keyed=True)
                keyed.upsert(keyed_rows(np.arange(10_000), 0))
                rounds.round(keyed)
            yield rounds
        finally:
            rounds.close()


@contextmanager
def other_work(processes: int = 2) -> Iterator[None]:
    """Processes beside what is measured that take all the time they get."""
    busy = [Child([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


def log_round(rounds: Rounds, lake_format: str, rows: int, name: str = "log") -> float:
    """Rows a second of one round, from its start to the commit."""
    table = rounds.table(f"{name}_{lake_format}_{rows}", lake_format)
    table.append(batches(rows // BATCH_ROWS))
    report = rounds.round(table)
    assert report.rows == rows
    rounds.conn.drop_table(str(table.path))
    return rows / report.seconds


def keyed_rows(ids: Any, number: int) -> pa.Table:
    """Rows of the keyed table."""
    text = pa.array(ids).cast(pa.string())
    return pa.table([pa.array(ids), pa.array(ids + number), pa.array(ids * 0.5), text], schema=_KEYED)


def keyed_rounds(rounds: Rounds, lake_format: str, keys: int, changes: int, count: int) -> tuple[float, list[float]]:
    """The rate of a first round of new keys, and the seconds of rounds of changes after it."""
    table = rounds.table(f"keyed_{lake_format}_{count}", lake_format, keyed=True, buckets=4)
    table.upsert(keyed_rows(np.arange(keys), 0))
    first = keys / rounds.round(table).seconds
    random = np.random.default_rng(1)
    seconds = []
    for number in range(count):
        table.upsert(keyed_rows(random.permutation(keys)[:changes], number + 1))
        seconds.append(rounds.round(table).seconds)
    return first, seconds


def small_rounds(rounds: Rounds, lake_format: str, rows: int, count: int) -> list[float]:
    """Seconds of many small rounds of a log table."""
    table = rounds.table(f"small_{lake_format}", lake_format)
    seconds = []
    for _ in range(count):
        table.append(batches(rows // BATCH_ROWS))
        seconds.append(rounds.round(table).seconds)
    return seconds


def parquet_rate(rows: int) -> float:
    """Rows a second of pyarrow's Parquet writer, zstd, one file on each of two processes."""
    with tempfile.TemporaryDirectory() as directory, ProcessPoolExecutor(2) as processes:
        list(processes.map(_write, [f"{directory}/warm{i}" for i in range(2)], [BATCH_ROWS] * 2))
        begun = time.perf_counter()
        list(processes.map(_write, [f"{directory}/{i}" for i in range(2)], [rows // 2] * 2))
        return rows / (time.perf_counter() - begun)


def _write(path: str, rows: int) -> None:
    pq.write_table(pa.Table.from_batches(batches(rows // BATCH_ROWS)), path, compression="zstd")


def first_commit_s(target: Target, rows: int, engine: str = "spark") -> float:
    """Seconds from typing `lakeward tier` to the first commit of a table that waits."""
    with tempfile.TemporaryDirectory() as warehouse, lakeward.connect(target.bootstrap) as conn:
        properties = {**_TIERED, "table.datalake.format": "iceberg", "table.datalake.freshness": "1s"}
        table = conn.create_table("fluss.first_commit", SCHEMA, buckets=2, properties=properties)
        table.append(batches(rows // BATCH_ROWS))
        time.sleep(2)  # the table is due
        begun = time.perf_counter()
        command = [sys.executable, "-m", "lakeward", "tier", "-s", target.bootstrap, "--warehouse", warehouse]
        command += ["--master", "local[2]"] if engine == "spark" else ["--engine", engine]
        with Child(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tier:
            try:
                while conn.lake.snapshot(table.path) is None:
                    time.sleep(0.05)
                return time.perf_counter() - begun
            finally:
                tier.terminate()
                tier.wait()
                conn.drop_table(str(table.path))


def lag_s(target: Target, rows_a_second: int, seconds: int) -> list[float]:
    """How far the lake is behind, second by second, under a steady load and a freshness of 10 s."""
    with tempfile.TemporaryDirectory() as warehouse, lakeward.connect(target.bootstrap) as conn:
        properties = {**_TIERED, "table.datalake.format": "iceberg", "table.datalake.freshness": "10s"}
        table = conn.create_table("fluss.steady", SCHEMA, buckets=2, properties=properties)
        command = [sys.executable, "-m", "lakeward", "tier", "-s", target.bootstrap, "--warehouse", warehouse]
        stop, written = threading.Event(), []

        def write() -> None:
            (batch,) = batches(1)
            with lakeward.connect(target.bootstrap) as writing, writing.table("fluss.steady").writer() as writer:
                while not stop.wait(BATCH_ROWS / rows_a_second):
                    writer.write(batch)
                    writer.flush()
                    written.append((time.perf_counter(), (len(written) + 1) * BATCH_ROWS))

        with Child([*command, "--master", "local[2]"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tier:
            try:
                thread = threading.Thread(target=write)
                thread.start()
                while conn.lake.snapshot(table.path) is None:
                    time.sleep(0.2)
                lags = []
                for _ in range(seconds):
                    time.sleep(1)
                    known = conn.lake.snapshot(table.path)
                    in_lake = 0 if known is None else sum(known.offsets.values())
                    oldest = next((at for at, rows in written if rows > in_lake), None)
                    lags.append(0.0 if oldest is None else time.perf_counter() - oldest)
                return sorted(lags)
            finally:
                stop.set()
                thread.join()
                tier.terminate()
                tier.wait()


def driver_memory_mb() -> float:
    """The most memory this driver ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
