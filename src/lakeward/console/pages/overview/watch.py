"""Watch: samples of a cluster, one after the other, from whatever it tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from lakeward.client.tables.connection import AsyncConnection
from lakeward.console.frame.visit import Visit
from lakeward.console.pages.overview.delay import measure_delay
from lakeward.console.pages.overview.figures import event_of
from lakeward.console.pages.overview.health import Health, health_of, health_without_answer
from lakeward.console.pages.overview.sample import (
    Sample,
    busiest_table,
    rates,
    sample_of_metrics,
    sample_of_offsets,
)
from lakeward.errors import DeniedError, LakewardError

_EVERY_S = 1.0
#: Without counters the ends of logs are asked for, which costs the cluster more.
_EVERY_WITHOUT_COUNTERS_S = 3.0
#: The console is to be a small part of what it counts.
_MEASURE_EVERY_S = 5.0
_TABLES_MAX = 100
_AT_ONCE = 8


class Watch:
    """What one page looks at, for as long as it is open."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._clock = visit.house.clock
        self._before: Sample | None = None
        self._delay_s: float | None = None
        self._measure_at_s = 0.0
        self._measuring: asyncio.Task[float | None] | None = None

    async def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """An event a second; one that says why when the cluster does not answer."""
        try:
            while True:
                health, sample = await self.look()
                yield event_of(health, sample, rates(self._before, sample), self._delay_s)
                self._measure(sample)
                self._before = sample
                await asyncio.sleep(_EVERY_S if len(sample.counters) > 1 else _EVERY_WITHOUT_COUNTERS_S)
        finally:
            if self._measuring is not None:
                self._measuring.cancel()

    async def look(self) -> tuple[Health, Sample]:
        """How the cluster does and what it has counted, now."""
        at_s = self._clock.monotonic()
        try:
            connection = await self._visit.connection()
            await connection.servers()
            report, metrics = await asyncio.gather(self._visit.reports.health(), self._visit.reports.metrics())
            sample = Sample(at_s) if metrics is None else sample_of_metrics(metrics, at_s)
            if "rows_in" not in sample.counters:
                counted = sample_of_offsets(await rows_ever(connection), at_s)
                sample = Sample(
                    at_s, counted.counters, sample.gauges or await _gauges(connection), counted.rows_by_table
                )
        except DeniedError:
            raise
        except LakewardError as wrong:
            return health_without_answer(wrong.message), Sample(at_s)
        return health_of(report), sample

    def _measure(self, sample: Sample) -> None:
        """Begin to measure the delay, unless that is under way; its result is taken with a later event."""
        if self._measuring is not None and self._measuring.done():
            found = None if self._measuring.cancelled() else self._measuring.result()
            self._delay_s = found if found is not None else self._delay_s
            self._measuring = None
        table = busiest_table(self._before, sample)
        if table is not None and self._measuring is None and sample.at_s >= self._measure_at_s:
            self._measure_at_s = sample.at_s + _MEASURE_EVERY_S
            self._measuring = asyncio.create_task(self._delay_of(table))

    async def _delay_of(self, table: str) -> float | None:
        try:
            return await measure_delay(await self._visit.connection(), table, self._clock)
        except LakewardError:
            return None


async def rows_ever(connection: AsyncConnection) -> dict[str, int]:
    """How many rows were ever written into each table, by the ends of its logs; of a bounded number of tables."""
    paths: list[str] = []
    for database in await connection.databases():
        paths += [f"{database}.{table}" for table in await connection.tables(database)]
    ends: dict[str, int] = {}
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask(path: str) -> None:
        async with turns:
            try:
                ends[path] = sum((await (await connection.table(path)).offsets("latest")).values())
            except LakewardError:
                return  # dropped meanwhile, or not ours to see

    await asyncio.gather(*(ask(path) for path in paths[:_TABLES_MAX]))
    return ends


async def _gauges(connection: AsyncConnection) -> dict[str, float]:
    """What can be counted by asking."""
    counts = [len(await connection.tables(database)) for database in await connection.databases()]
    return {"tables": float(sum(counts))}
