"""Primary key tables at work: int64 key, three values, two buckets; with the official client and with ours."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import fluss
import numpy as np
import pyarrow as pa

import lakeward
from bench.server.pyfluss_work import Measured, connect, wait_for
from bench.targets import Target, lakeward_again

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64()), ("quantity", pa.int32())])
BUCKETS = 2
_BATCH_ROWS = 50_000
_FILL_ROWS = 1_000_000
_LOOKUP_KEYS = 100_000
_SINGLE_LOOKUPS = 2000


@dataclass
class Recovered:
    """How long a killed server took: until it was ready, and until both buckets had answered a lookup."""

    ready_s: float
    answered_s: float
    memory_mb: float
    memory_peak_mb: float


def rows(count: int, seed: int, first: int = 0) -> pa.Table:
    """So many rows with the keys 0, 1, 2 …, or from another one on; another seed gives other values."""
    random = np.random.default_rng(seed + first)
    return pa.table(
        [
            pa.array(np.arange(first, first + count, dtype=np.int64)),
            pa.array(np.char.add("user-", random.integers(0, 1_000_000, count).astype(str))),
            pa.array(np.round(random.random(count) * 1000, 2)),
            pa.array(random.integers(0, 100, count, dtype=np.int32)),
        ],
        schema=SCHEMA,
    )


async def upsert(target: Target, count: int, name: str = "bench_kv") -> tuple[Measured, Measured]:
    """pyfluss, row by row: new keys, then the same keys again."""
    connection = await connect(target)
    admin = connection.get_admin()
    path = fluss.TablePath("fluss", name)
    await admin.drop_table(path, ignore_if_not_exists=True)
    schema = fluss.Schema(SCHEMA, primary_keys=["id"])
    await wait_for(connection, path, fluss.TableDescriptor(schema, bucket_count=BUCKETS), BUCKETS)
    table = await connection.get_table(path)
    found = []
    for seed in (1, 2):
        work = list(zip(*(column.to_pylist() for column in rows(count, seed).columns), strict=True))
        writer = table.new_upsert().create_writer()
        cpu, begun = target.cpu_s(), time.perf_counter()
        for row in work:
            writer.upsert(row)
        await writer.flush()
        spent = time.perf_counter() - begun
        found.append(Measured(rate=count / spent, server_cpu_s=target.cpu_s() - cpu))
    await connection.close()
    return found[0], found[1]


def own_upsert(target: Target, count: int) -> tuple[Measured, Measured]:
    """Our client, Arrow batches: new keys, then the same keys again."""
    with lakeward.connect(target.bootstrap) as connection:
        table = _fresh(connection)
        table.upsert(rows(1, 0))  # opens the connections
        found = []
        for seed in (1, 2):
            work = rows(count, seed).to_batches(_BATCH_ROWS)
            cpu, begun = target.cpu_s(), time.perf_counter()
            table.upsert(work)
            spent = time.perf_counter() - begun
            found.append(Measured(rate=count / spent, server_cpu_s=target.cpu_s() - cpu))
        return found[0], found[1]


def own_reads(target: Target, count: int) -> tuple[Measured, Measured, Measured]:
    """Our client after `own_upsert`: lookups of many keys in one call, of single keys, and the whole changelog."""
    with lakeward.connect(target.bootstrap) as connection:
        table = connection.table(_OWN)
        keys = pa.array(np.random.default_rng(3).permutation(count)[:_LOOKUP_KEYS])
        table.lookup(keys.slice(0, 10))
        begun = time.perf_counter()
        found = table.lookup(keys)
        many = Measured(rate=len(keys) / (time.perf_counter() - begun))
        assert found["id"].null_count == 0, "keys are missing"
        times_ms = []
        for key in keys.slice(0, min(_SINGLE_LOOKUPS, len(keys))).to_pylist():
            begun = time.perf_counter()
            table.lookup(key)
            times_ms.append((time.perf_counter() - begun) * 1000)
        cuts = statistics.quantiles(times_ms, n=100, method="inclusive")
        begun = time.perf_counter()
        changes = sum(batch.num_rows for batch in table.changelog().batches())
        log = Measured(rate=changes / (time.perf_counter() - begun))
        return many, Measured(p50_ms=cuts[49], p99_ms=cuts[98]), log


def recover(count: int) -> Recovered:
    """A server of its own is filled and killed; it comes back from its changelog, without any snapshot."""
    from bench.targets import lakeward as start

    target = start()
    try:
        with lakeward.connect(target.bootstrap) as connection:
            table = _fresh(connection)
            for first in range(0, count, _FILL_ROWS):
                table.upsert(rows(min(_FILL_ROWS, count - first), 1, first).to_batches(_BATCH_ROWS))
        target.processes[0].kill()
        target.processes[0].wait()
        begun = time.perf_counter()
        target = lakeward_again(target)
        ready_s = time.perf_counter() - begun
        with lakeward.connect(target.bootstrap) as connection:
            table = connection.table(_OWN)
            assert table.count() == count, "rows are missing"
            assert table.lookup([0, 1, 2, count - 1])["id"].null_count == 0
        answered_s = time.perf_counter() - begun
        return Recovered(ready_s, answered_s, target.memory_mb(), target.memory_peak_mb())
    finally:
        target.stop()


def memory_per_key_bytes(count: int) -> float:
    """Memory of the default engine beyond the bytes of keys and rows, for each key, right after they were put."""
    from bench.kv.stores import keys_of
    from lakeward.storage.kv.hash.hash_store import HashStore
    from lakeward.storage.kv.store.slices import Slices

    store = HashStore()
    value_bytes = 25
    for first in range(0, count, _BATCH_ROWS):
        keys = keys_of(np.arange(first, min(first + _BATCH_ROWS, count), dtype=np.int64))
        starts = np.arange(len(keys), dtype=np.int64) * value_bytes
        store.apply(keys, Slices(np.zeros(len(keys) * value_bytes, np.uint8), starts, starts + value_bytes))
        store.maintain()
    return (store.memory_bytes - store.live_bytes) / store.row_count


_OWN = "fluss.bench_kv_own"


def _fresh(connection: Any) -> Any:
    connection.drop_table(_OWN, missing_ok=True)
    return connection.create_table(_OWN, SCHEMA, primary_key=["id"], buckets=BUCKETS)
