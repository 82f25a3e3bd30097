"""Many connections at a time: what each costs when it is idle, and what others notice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import lakeward
from bench.scale.bed import KEYED, LOG, Bed
from bench.scale.kept import Figure, percentiles, rounded

_OPS, _OPS_S = 500, 5.0
_ALL_AT_ONCE = 1000


def crowd(bed: Bed) -> dict[str, Figure]:
    """Connections with a log table and a table by key each; requests in turn, then all at once."""
    bed.log.append(list(bed.log_batches(bed.shape.rows)))
    bed.keyed.upsert(list(bed.key_batches(bed.shape.keys)))
    return asyncio.run(_crowd(bed))


async def _crowd(bed: Bed) -> dict[str, Figure]:
    count, before = bed.shape.connections, bed.target.memory_mb()
    conns = []
    for first in range(0, count, 50):
        some = [lakeward.aconnect(bed.target.bootstrap) for _ in range(min(50, count - first))]
        conns += await asyncio.gather(*some)
    logs = [await conn.table(LOG) for conn in conns]
    keyed = [await conn.table(KEYED) for conn in conns]
    row = next(bed.log_batches(1))
    works: dict[str, Callable[[int], Awaitable[Any]]] = {
        "append": lambda i: logs[i % count].append(row),
        "lookup": lambda i: keyed[i % count].lookup(i % bed.shape.keys),
    }
    found = {}
    for name, work in works.items():
        for i in range(count):
            await work(i)  # each opens what it needs
        found[name] = await _in_turn(work) | await _at_once(bed, work, count)
    grown = bed.target.memory_mb() - before
    for figure in found.values():
        figure |= rounded({"mb": bed.target.memory_mb(), "kb_connection": grown * 1000 / count})
    await asyncio.gather(*(conn.close() for conn in conns))
    return found


async def _in_turn(work: Callable[[int], Awaitable[Any]]) -> Figure:
    """One request at a time, each from the next connection."""
    end, times = time.perf_counter() + _OPS_S, []
    for number in range(_OPS):
        begun = time.perf_counter()
        await work(number)
        times.append((time.perf_counter() - begun) * 1000)
        if time.perf_counter() > end:
            break
    return percentiles(times)


async def _at_once(bed: Bed, work: Callable[[int], Awaitable[Any]], count: int) -> Figure:
    """Every connection asks again as soon as it is answered."""
    each = max(_ALL_AT_ONCE // count, 1)

    async def one(number: int) -> None:
        for again in range(each):
            await work(number + again * count)

    cpu, begun = bed.target.cpu_s(), time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(count)))
    spent, total = time.perf_counter() - begun, each * count
    return rounded({"at_once": total / spent, "cpu_ms_request": (bed.target.cpu_s() - cpu) * 1000 / total})
