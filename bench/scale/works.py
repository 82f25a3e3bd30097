"""The works: each measures a bed once it is filled, in this order, and says figures by name.

`s` is the whole of it (all rows in, all rows out, the first round), `p50` … `p99` are small requests after that,
in milliseconds; `cpu_s_gb` is the server's CPU for a GB of rows, `mb` its memory then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import Any

import numpy as np
import psutil
import pyarrow as pa

from bench.scale import restoring
from bench.scale.bed import Bed
from bench.scale.kept import Figure, percentiles, rounded
from bench.scale.shapes import ROW_BYTES
from bench.union.work import LOG_SQL

_SMALL, _SMALL_S = 500, 4.0
_ROUNDS_SHOWN, _ROUND_ROWS, _FILLING_ROUND_ROWS = 5, 50_000, 1000
_MANY_KEYS = 100_000


def append(bed: Bed) -> Figure:
    """All rows in; then rows one by one, each acknowledged."""
    table = bed.log
    with _whole(bed, bed.shape.rows) as found, table.writer() as writer:
        for batch in bed.log_batches(bed.shape.rows):
            writer.write(batch)
    row = next(bed.log_batches(1))
    return found | _small(lambda _: table.append(row))


def scan(bed: Bed) -> Figure:
    """All rows out; then the first ten, again and again."""
    table = bed.log
    with _whole(bed, bed.shape.rows) as found:
        got = sum(batch.num_rows for batch in table.scan().batches())
    assert got >= bed.shape.rows, f"{got} of {bed.shape.rows} rows"
    return found | _small(lambda _: table.scan(limit=10).to_arrow(), most=50)


def upsert(bed: Bed) -> Figure:
    """All keys in; then rows one by one, each acknowledged."""
    table = bed.keyed
    with _whole(bed, bed.shape.keys, row_bytes=_KEYED_BYTES) as found, table.upserter() as upserter:
        for batch in bed.key_batches(bed.shape.keys):
            upserter.upsert(batch)
    picked = np.random.default_rng(1).integers(0, bed.shape.keys, _SMALL)
    return found | _small(lambda i: table.upsert(bed.key_rows(picked[i : i + 1], i)))


def lookup(bed: Bed) -> Figure:
    """100,000 keys in one call; then one by one."""
    table = bed.keyed
    picked = np.random.default_rng(2).integers(0, bed.shape.keys, _MANY_KEYS)
    many = bed.key_rows(picked).select(["id", "p"] if bed.shape.partitions else ["id"])
    with _whole(bed, _MANY_KEYS, row_bytes=_KEYED_BYTES) as found:
        assert table.lookup(pa.Table.from_batches([many])).num_rows == _MANY_KEYS
    return found | _small(lambda i: table.lookup(bed.key_of(int(picked[i]))))


def tiering(bed: Bed) -> Figure:
    """A first round of all rows; with `rounds`, so many small ones; then five of 50,000 rows, which are timed."""
    table = bed.log
    with _whole(bed, bed.shape.rows) as found:
        bed.lake.round(table)
    for _ in range(bed.shape.rounds):
        table.append(list(bed.log_batches(_FILLING_ROUND_ROWS)))
        bed.lake.round(table)
    times = []
    for _ in range(_ROUNDS_SHOWN):
        table.append(list(bed.log_batches(_ROUND_ROWS)))
        times.append(_ms(lambda: bed.lake.round(table)))
    return found | percentiles(times) | {"client_mb": psutil.Process().memory_info().rss / 1e6}


def union(bed: Bed) -> Figure:
    """Count and sum over both halves, a tenth of a round hot; planned anew each time."""
    table = bed.log
    table.append(list(bed.log_batches(_ROUND_ROWS)))
    first = _ms(lambda: table.query(LOG_SQL.format("t")))
    with _whole(bed, bed.shape.rows) as found:
        table.query(LOG_SQL.format("t"))
    return found | {"first_ms": first} | _small(lambda _: table.query(LOG_SQL.format("t")), most=30)


def start(bed: Bed) -> Figure:
    """Stopped and started: until ready (`s`), until a row of each table is read; killed and started the same way."""
    bed.stop_server()
    ready = bed.start_server()
    bed.open()
    answered = ready + _ms(lambda: _ask_both(bed)) / 1000
    found = {"s": ready, "answered_s": answered, "mb": bed.target.memory_mb()}
    bed.stop_server(kill=True)
    ready = bed.start_server()
    bed.open()
    return rounded(found | {"killed_s": ready, "killed_answered_s": ready + _ms(lambda: _ask_both(bed)) / 1000})


def restore(bed: Bed) -> Figure:
    """Everything copied, the disk lost: until `lakeward restore` is done (`s`), until rows are answered."""
    return rounded(restoring.restored(bed, lambda: _ask_both(bed)))


WORKS: dict[str, Callable[[Bed], Figure]] = {
    work.__name__: work for work in (append, scan, upsert, lookup, tiering, union, start, restore)
}
_KEYED_BYTES = 30


def _ask_both(bed: Bed) -> None:
    assert bed.log.scan(limit=1).to_arrow().num_rows == 1
    if bed.conn.has_table("fluss.scale_keyed") and bed.shape.rounds == 0:
        bed.keyed.lookup(bed.key_of(0))


def _ms(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000


def _small(work: Callable[[int], Any], most: int = _SMALL) -> Figure:
    """Small requests, one at a time, as many as are done in four seconds, after a few that warm up."""
    for number in range(3):
        work(number)
    end = time.perf_counter() + _SMALL_S
    times: list[float] = []
    for number in islice(count(), most):
        if times and time.perf_counter() > end:
            break
        times.append(_ms(lambda: work(number)))  # noqa: B023 - done before the next
    return percentiles(times)


@contextmanager
def _whole(bed: Bed, rows: int, row_bytes: int = ROW_BYTES) -> Iterator[Figure]:
    """Seconds, the server's CPU for a GB, and its memory."""
    found: Figure = {}
    cpu, begun = bed.target.cpu_s(), time.perf_counter()
    yield found
    spent = time.perf_counter() - begun
    found |= rounded(
        {
            "s": spent,
            "rows": rows,
            "rate": rows / spent,
            "cpu_s_gb": (bed.target.cpu_s() - cpu) / (rows * row_bytes / 1e9),
            "mb": bed.target.memory_mb(),
        }
    )
