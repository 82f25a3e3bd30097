"""The official client at work: append, scan, projected scan, latencies."""

from __future__ import annotations

import asyncio
import statistics
import time
from dataclasses import dataclass

import fluss
import pyarrow as pa

from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.targets import Target

TABLE = "bench_rows"
_TOO_FEW_SERVERS = 17


@dataclass
class Measured:
    """Rows a second and the server's CPU seconds; or latencies in milliseconds."""

    rate: float = 0.0
    server_cpu_s: float = 0.0
    p50_ms: float = 0.0
    p99_ms: float = 0.0


async def connect(target: Target, **settings: str) -> fluss.FlussConnection:
    """A connection with the bench's settings."""
    return await fluss.FlussConnection.create(
        fluss.Config({"bootstrap.servers": target.bootstrap, "writer.acks": "all", **settings})
    )


async def create(
    connection: fluss.FlussConnection, name: str, schema: pa.Schema = SCHEMA, buckets: int = 2
) -> fluss.FlussTable:
    """A fresh table, ready to be written."""
    admin = connection.get_admin()
    path = fluss.TablePath("fluss", name)
    await admin.drop_table(path, ignore_if_not_exists=True)
    descriptor = fluss.TableDescriptor(fluss.Schema(schema), bucket_count=buckets)
    await wait_for(connection, path, descriptor, buckets)
    return await connection.get_table(path)


async def wait_for(
    connection: fluss.FlussConnection, path: fluss.TablePath, descriptor: fluss.TableDescriptor, buckets: int
) -> None:
    """Create a table and wait until its buckets can be written."""
    admin = connection.get_admin()
    for attempt in range(200):  # Apache Fluss opens its port before its tablet server has registered
        try:
            await admin.create_table(path, descriptor, ignore_if_exists=False)
            break
        except fluss.FlussError as wrong:
            if wrong.error_code != _TOO_FEW_SERVERS or attempt == 199:
                raise
            await asyncio.sleep(0.1)
    for _ in range(100):
        try:
            await admin.list_offsets(path, bucket_ids=list(range(buckets)), offset_spec=fluss.OffsetSpec.latest())
            break
        except fluss.FlussError:
            await asyncio.sleep(0.1)


async def append(target: Target, rows: int, name: str = TABLE) -> Measured:
    """Arrow batches of 50,000 rows, all acknowledged."""
    connection = await connect(target)
    table = await create(connection, name)
    writer = table.new_append().create_writer()
    work = batches(rows // BATCH_ROWS)
    cpu, begun = target.cpu_s(), time.perf_counter()
    for batch in work:
        writer.write_arrow_batch(batch)
    await writer.flush()
    spent = time.perf_counter() - begun
    measured = Measured(rate=rows / spent, server_cpu_s=target.cpu_s() - cpu)
    await connection.close()
    return measured


async def scan(target: Target, rows: int, columns: list[str] | None = None, name: str = TABLE) -> Measured:
    """Everything that append wrote, as Arrow batches."""
    connection = await connect(target)
    table = await connection.get_table(fluss.TablePath("fluss", name))
    scan = table.new_scan()
    if columns:
        scan = scan.project_by_name(columns)
    scanner = await scan.create_record_batch_log_scanner()
    scanner.subscribe_buckets({0: fluss.EARLIEST_OFFSET, 1: fluss.EARLIEST_OFFSET})
    cpu, begun, got = target.cpu_s(), time.perf_counter(), 0
    while got < rows:
        for batch in await scanner.poll_record_batch(10_000):
            got += batch.batch.num_rows
    spent = time.perf_counter() - begun
    measured = Measured(rate=got / spent, server_cpu_s=target.cpu_s() - cpu)
    await connection.close()
    return measured


async def acknowledge(target: Target, count: int) -> Measured:
    """One row, until it is acknowledged."""
    connection = await connect(target, **{"writer.batch-timeout-ms": "0"})
    table = await create(connection, "bench_ack", pa.schema([("id", pa.int64()), ("text", pa.string())]), 1)
    writer = table.new_append().create_writer()
    times = []
    for i in range(count):
        begun = time.perf_counter()
        await writer.append([i, "row"]).wait()
        times.append((time.perf_counter() - begun) * 1000)
    await connection.close()
    return _latency(times[count // 10 :])


async def visible(target: Target, count: int) -> Measured:
    """One row, until a tailing scanner has it."""
    connection = await connect(target, **{"writer.batch-timeout-ms": "0"})
    reader = await connect(target)
    table = await create(connection, "bench_tail", pa.schema([("id", pa.int64()), ("text", pa.string())]), 1)
    scanner = await (await reader.get_table(fluss.TablePath("fluss", "bench_tail"))).new_scan().create_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    writer = table.new_append().create_writer()
    times = []
    for i in range(count):
        waiting = asyncio.ensure_future(_next_record(scanner))
        await asyncio.sleep(0.005)
        begun = time.perf_counter()
        writer.append([i, "row"])
        await waiting
        times.append((time.perf_counter() - begun) * 1000)
    await connection.close()
    await reader.close()
    return _latency(times[2:])


async def _next_record(scanner: fluss.LogScanner) -> None:
    while True:
        if (await scanner.poll(5000)).count():
            return


def _latency(times_ms: list[float]) -> Measured:
    cuts = statistics.quantiles(times_ms, n=100, method="inclusive")
    return Measured(p50_ms=cuts[49], p99_ms=cuts[98])
