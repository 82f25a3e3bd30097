"""Reporting: sends metrics to reporters by the clock. What fails is told once, counted, and tried again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from lakeward.runtime.clock import Clock
from lakeward.server.report.scrape import take_steps
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.reporter import Reporter
from lakeward.telemetry.rows import reporting as rows

_log = logging.getLogger(__name__)
_SENT, _FAILED = "sent", "failed"


class Reporting:
    """One task for each reporter; what may wait for a network is done on threads."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        metrics: Metrics,
        reporters: Sequence[Reporter],
        threads: Executor,
        clock: Clock,
    ) -> None:
        """There are as many threads as reporters: one that hangs holds up no other."""
        self._loop = loop
        self._metrics = metrics
        self._reporters = reporters
        self._threads = threads
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._trouble: dict[str, str] = {}
        self._counts = metrics.counter(rows.REPORTS)
        for reporter in reporters:
            for result in (_SENT, _FAILED):
                self._counts.set(0, (reporter.name, result))

    def begin(self) -> None:
        """Send from now on."""
        for reporter in self._reporters:
            self._tasks.append(self._loop.create_task(self._repeat(reporter), name=f"report {reporter.name}"))

    async def _repeat(self, reporter: Reporter) -> None:
        while True:
            await asyncio.sleep(reporter.interval_s)
            await self._report(reporter)

    async def _report(self, reporter: Reporter) -> None:
        now = self._clock.monotonic
        families = await take_steps(self._metrics.gather(), now)
        body = await take_steps(reporter.encode(families, self._clock.now_ms()), now)
        await self._do(reporter, lambda: reporter.send(body))

    async def _do(self, reporter: Reporter, work: Callable[[], None]) -> None:
        try:
            await self._loop.run_in_executor(self._threads, work)
        except OSError as wrong:
            self._fail(reporter, str(wrong) or type(wrong).__name__)
        except Exception as wrong:  # noqa: BLE001 - a report that fails must not end all later ones
            self._fail(reporter, repr(wrong))
        else:
            self._counts.add(1, (reporter.name, _SENT))
            if self._trouble.pop(reporter.name, None) is not None:
                _log.info("reports to %s arrive again", reporter.name)

    def _fail(self, reporter: Reporter, why: str) -> None:
        self._counts.add(1, (reporter.name, _FAILED))
        if reporter.name not in self._trouble:
            told = "a report to %s failed, and is tried again every %.0f s: %s"
            _log.warning(told, reporter.name, reporter.interval_s, why)
        self._trouble[reporter.name] = why

    async def stop(self) -> None:
        """Send no more; what was sent is taken back where that is wanted."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for reporter in self._reporters:
            if reporter.name not in self._trouble:  # it would only hold up the end
                await self._do(reporter, reporter.close)
        self._threads.shutdown(wait=False, cancel_futures=True)
