"""Outlets: where metrics and traces go beside `GET /metrics`, opened and closed together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor

from lakeward.errors import ErrorCode
from lakeward.options import metrics as rows
from lakeward.options.server import BIND_LISTENERS
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.version import VERSION
from lakeward.server.report.process_metrics import LoopDelay
from lakeward.server.report.reporting import Reporting
from lakeward.server.report.scrape_port import Pages, ScrapePort, ports_of
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.reporter import Reporter
from lakeward.telemetry.rows.process import LOOP_DELAY
from lakeward.telemetry.rows.reporting import SPANS
from lakeward.telemetry.tracing.tracer import Tracer

_log = logging.getLogger(__name__)


def tracer_of(options: ServerOptions, clock: Clock, entropy: Entropy) -> Tracer | None:
    """What follows requests; None, and no cost, unless a share of them is to be followed."""
    ratio = options.get(rows.TRACE_RATIO)
    return Tracer(clock, entropy, ratio) if ratio > 0 else None


def _reporters(options: ServerOptions, clock: Clock, entropy: Entropy, tracer: Tracer | None) -> list[Reporter]:
    from lakeward.telemetry.reporters.reporter_plan import reporters_for, unknown_reporters

    for name in unknown_reporters(options):
        _log.warning("the reporter %s of '%s' is not known here; nothing is sent to it", name, rows.REPORTERS.key)
    return reporters_for(options, entropy.token(4).hex(), VERSION, clock.now_ms(), tracer)


class Outlets:
    """The loop's delay is looked at here, too."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: ServerOptions,
        metrics: Metrics,
        clock: Clock,
        entropy: Entropy,
        threads: Callable[[int, str], Executor],
        tracer: Tracer | None,
    ) -> None:
        self._options = options
        reporters = _reporters(options, clock, entropy, tracer) if rows.reporters_of(options.texts) else []
        self._reporting = Reporting(loop, metrics, reporters, threads(max(1, len(reporters)), "reports"), clock)
        self._delay = LoopDelay(loop, clock.monotonic, metrics.histogram(LOOP_DELAY))
        self._port: ScrapePort | None = None
        if tracer is not None:
            metrics.counter(SPANS).read_all_from(
                lambda: {("recorded",): tracer.recorded_count, ("dropped",): tracer.dropped_count}
            )

    async def open(self, pages: Pages, *, asks_everybody: bool) -> None:
        """Begin; `asks_everybody` means that nobody sees metrics at any listener without having shown who they are."""
        if rows.PROMETHEUS in rows.reporters_of(self._options.texts):
            await self._open_port(pages, asks_everybody=asks_everybody)
        self._reporting.begin()

    async def _open_port(self, pages: Pages, *, asks_everybody: bool) -> None:
        if asks_everybody:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.REPORTERS.key}' asks for a port that shows metrics to everybody, while all listeners ask who"
                " comes. Leave the reporter 'prometheus' out; /metrics of a listener takes a name and a password."
            )
        host = self._options.get(BIND_LISTENERS)[0].host
        ports = ports_of(rows.PROMETHEUS_PORT.key, self._options.get(rows.PROMETHEUS_PORT))
        self._port = ScrapePort(pages)
        _log.info("metrics are at http://%s:%d/metrics", host, await self._port.open(host, ports))

    async def stop(self) -> None:
        """Close all of them."""
        self._delay.stop()
        if self._port is not None:
            self._port.close()
        await self._reporting.stop()
