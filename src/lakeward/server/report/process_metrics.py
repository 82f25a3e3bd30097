"""What is counted of the process: memory, CPU, files, and how late the event loop is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lakeward.runtime.process.usage import Usage
from lakeward.telemetry.metrics import Histogram, Metrics
from lakeward.telemetry.rows import process as rows

_LOOK_S = 0.1


class LoopDelay:
    """Looks ten times a second how late it comes to look."""

    def __init__(self, loop: asyncio.AbstractEventLoop, now: Callable[[], float], delays: Histogram) -> None:
        """`now` tells seconds that never go back; the loop's own time stands still in a turn."""
        self._loop = loop
        self._now = now
        self._delays = delays
        self._due = now() + _LOOK_S
        self._timer = loop.call_later(_LOOK_S, self._look)

    def _look(self) -> None:
        now = self._now()
        self._delays.observe(max(0.0, now - self._due))
        self._due = now + _LOOK_S
        self._timer = self._loop.call_later(_LOOK_S, self._look)

    def stop(self) -> None:
        """Look no more."""
        self._timer.cancel()


class ProcessMetrics:
    """Asks the system once for all that is shown together."""

    def __init__(self, usage: Callable[[], Usage]) -> None:
        self._usage = usage
        self._newest = Usage()

    def declare(self, metrics: Metrics, version: str, python: str) -> None:
        """Add what people watch; what this system does not tell is left out."""
        metrics.gauge(rows.BUILD_INFO).set(1, (version, python))
        metrics.before(self._look)
        first = self._newest = self._usage()
        readings = (
            (rows.CPU_SECONDS, "cpu_s"),
            (rows.RESIDENT_BYTES, "resident_bytes"),
            (rows.VIRTUAL_BYTES, "virtual_bytes"),
            (rows.OPEN_FILES, "open_files"),
            (rows.FILES_MAX, "files_max"),
            (rows.START_TIME, "start_time_s"),
        )
        for row, name in readings:
            if getattr(first, name) is not None:
                declare = metrics.counter if row is rows.CPU_SECONDS else metrics.gauge
                declare(row).read_from(self._reading(name))

    def _reading(self, name: str) -> Callable[[], float]:
        return lambda: getattr(self._newest, name) or 0

    def _look(self) -> tuple[()]:
        self._newest = self._usage()
        return ()
