"""`python -m bench.server.copying`: `lakeward copy` between two servers beside scan and append alone, in one run.

Each round appends the rows to a source, scans them, and copies them to another server; by key it upserts them, scans
the changelog, and copies it. Printed: rows a second, and the copy against the slower of the two and against both one
after the other.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa

import lakeward
from bench.rows import BATCH_ROWS, batches
from lakeward.client.tables.connection import AsyncConnection
from lakeward.client.tables.table import AsyncTable
from lakeward.moving.copier import Asked, Copier

sys.path.append(str(Path(__file__).parents[2] / "tests" / "support"))
from server_process import ServerProcess

_LOG, _KEYED = "fluss.events", "fluss.people"
_BUCKETS = 4


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="bench.server.copying", description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of the log (default 2,000,000)")
    parser.add_argument("--keys", type=int, default=500_000, help="rows by key (default 500,000)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds; the median counts (default 3)")
    arguments = parser.parse_args()
    figures = asyncio.run(measure(arguments.rows, arguments.keys, arguments.rounds))
    print("| table | append | scan | copy | of the slower | of both in turn |\n|---|---|---|---|---|---|")
    for kind, rates in figures.items():
        print(f"| {kind} | " + " | ".join(f"{rates[k]:,.0f}/s" for k in ("append", "scan", "copy")), end=" | ")
        print(f"{rates['of slower']:.2f} × | {rates['of both']:.2f} × |")


async def measure(rows: int, keys: int, rounds: int) -> dict[str, dict[str, float]]:
    """Rows a second of each step, and the ratios; the first round warms up."""
    spent: dict[str, dict[str, list[float]]] = {kind: defaultdict(list) for kind in ("log", "key")}
    with (
        tempfile.TemporaryDirectory(prefix="lakeward-bench-") as name,
        ServerProcess(Path(name) / "source") as source,
        ServerProcess(Path(name) / "target") as target,
    ):
        async with (
            await lakeward.aconnect(source.bootstrap) as here,
            await lakeward.aconnect(target.bootstrap) as there,
        ):
            for number in range(rounds + 1):
                for kind, count in (("log", rows), ("key", keys)):
                    steps = await _round(here, there, kind, count)
                    for step, seconds in steps.items():
                        if number:
                            spent[kind][step].append(seconds)
    return {kind: _figures(times, rows if kind == "log" else keys) for kind, times in spent.items()}


def _figures(times: dict[str, list[float]], count: int) -> dict[str, float]:
    medians = {step: statistics.median(seconds) for step, seconds in times.items()}
    alone = medians["append"], medians["scan"]
    rates = {step: count / seconds for step, seconds in medians.items()}
    return {**rates, "of slower": max(alone) / medians["copy"], "of both": sum(alone) / medians["copy"]}


async def _round(here: AsyncConnection, there: AsyncConnection, kind: str, count: int) -> dict[str, float]:
    path = _LOG if kind == "log" else _KEYED
    for connection in (here, there):
        await connection.drop_table(path, missing_ok=True)
    if kind == "log":
        given = batches(count // BATCH_ROWS)
        table = await here.create_table(path, given[0].schema, buckets=_BUCKETS)
        append = await _timed(_append(table, given))
    else:
        table = await here.create_table(
            path, "id BIGINT NOT NULL, name STRING, price DOUBLE, PRIMARY KEY (id)", buckets=_BUCKETS
        )
        append = await _timed(_upsert(table, count))
    scan = await _timed(_scan(table))
    asked = Asked(tables=[path], compares=False)
    copy = await _timed(Copier(here, there, asked).run())
    return {"append": append, "scan": scan, "copy": copy}


async def _timed(work: object) -> float:
    began = time.perf_counter()
    await work  # type: ignore[misc]
    return time.perf_counter() - began


async def _append(table: AsyncTable, given: list[pa.RecordBatch]) -> None:
    async with table.writer() as writer:
        for batch in given:
            await writer.write(batch)


async def _upsert(table: AsyncTable, count: int) -> None:
    ids = np.random.default_rng(7).permutation(count)
    async with table.upserter() as upserter:
        for at in range(0, count, 50_000):
            some = ids[at : at + 50_000]
            names = [f"name {i}" for i in some]
            await upserter.upsert(pa.table({"id": some, "name": names, "price": some * 0.5}))


async def _scan(table: AsyncTable) -> None:
    async for _ in table.scan().batches():
        pass


if __name__ == "__main__":
    main()
