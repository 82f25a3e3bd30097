"""Our own client at work: append and scan, the same rows as the official one."""

from __future__ import annotations

import statistics
import time

import pyarrow as pa

import lakeward
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.server.pyfluss_work import Measured
from bench.targets import Target

TABLE = "fluss.bench_own"
_ONE = "fluss.bench_own_ack"


def append(target: Target, rows: int) -> Measured:
    """Arrow batches of 50,000 rows, all acknowledged."""
    work = batches(rows // BATCH_ROWS)
    with lakeward.connect(target.bootstrap) as connection:
        connection.drop_table(TABLE, missing_ok=True)
        table = connection.create_table(TABLE, SCHEMA, buckets=2)
        table.append(work[0].slice(0, 1))  # opens the connections
        cpu, begun = target.cpu_s(), time.perf_counter()
        table.append(work)
        spent = time.perf_counter() - begun
        return Measured(rate=rows / spent, server_cpu_s=target.cpu_s() - cpu)


def acknowledge(target: Target, count: int) -> Measured:
    """One row, until it is acknowledged, one after the other."""
    with lakeward.connect(target.bootstrap) as connection:
        connection.drop_table(_ONE, missing_ok=True)
        table = connection.create_table(_ONE, pa.schema([("id", pa.int64()), ("text", pa.string())]), buckets=1)
        times = []
        for number in range(count):
            row = {"id": number, "text": "row"}
            begun = time.perf_counter()
            table.append([row])
            times.append((time.perf_counter() - begun) * 1000)
        cuts = statistics.quantiles(times[count // 10 :], n=100, method="inclusive")
        return Measured(p50_ms=cuts[49], p99_ms=cuts[98])


def scan(target: Target) -> Measured:
    """Everything that append wrote."""
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.table(TABLE)
        cpu, begun = target.cpu_s(), time.perf_counter()
        got = sum(batch.num_rows for batch in table.scan().batches())
        spent = time.perf_counter() - begun
        return Measured(rate=got / spent, server_cpu_s=target.cpu_s() - cpu)
