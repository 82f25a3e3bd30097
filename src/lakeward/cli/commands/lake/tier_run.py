"""Runs the tiering service until it is told to stop."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import lakeward
from lakeward.cli.input.failures import EXIT_INTERRUPTED
from lakeward.cli.input.session import Session
from lakeward.cli.output.listing import say
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.telemetry.tracing.tracer import Tracer
    from lakeward.tiering.round.runner import Runner
    from lakeward.tiering.service import TieringService
    from lakeward.tiering.settings import TieringSettings
    from lakeward.tiering.watch.watchers import Watcher

_LOCAL_SLOTS = 2
_SPANS_EVERY_S = 2.0


def run_service(
    session: Session,
    *,
    warehouse: str | None,
    lake: Mapping[str, str],
    engine: str,
    master: str,
    conf: Mapping[str, str],
    metrics_port: int | None,
    otlp_endpoint: str | None,
    state_dir: Path | None,
) -> None:
    """Start the service and return when it was stopped and its rounds are over."""
    from lakeward.runtime.process.no_pandas import leave_out_pandas

    leave_out_pandas()
    from lakeward.cli.commands.lake.tier_lake import check_spelling, settled_lake
    from lakeward.cli.commands.lake.tier_lines import RoundLines
    from lakeward.runtime.clock import SystemClock
    from lakeward.spark.setup.secret_settings import options_for
    from lakeward.tiering.assembly import assemble
    from lakeward.tiering.settings import TieringSettings
    from lakeward.tiering.watch.status_table import StatusTable
    from lakeward.tiering.watch.watchers import Watchers

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s", stream=sys.stderr)
    for place in (warehouse, lake.get("warehouse")):
        check_spelling(place or "")
    properties = ({} if warehouse is None else {"warehouse": _absolute(warehouse)}) | dict(lake)
    client = options_for(master if engine == "spark" else "local", session.credentials.options())
    settings = TieringSettings(session.server, properties, master, client, conf, state_dir)
    clock = SystemClock()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)  # Spark takes its time to start, and nothing is under way before
    with ExitStack() as stack:
        begun = _begin_runner(settings, engine)  # what follows is done while it starts
        stack.callback(begun.close)
        conn = stack.enter_context(lakeward.connect(session.server, **client))
        where = settled_lake(conn, properties)
        watchers: list[Watcher] = [StatusTable(conn, clock)]
        if metrics_port is not None:
            watchers.append(_metrics(stack, conn, metrics_port))
        tracer = None if otlp_endpoint is None else _tracer(stack, otlp_endpoint, session.server)
        service = assemble(settings, conn, begun.runner(conn), Watchers([*watchers, RoundLines(clock)]), tracer)
        _stop_on_signals(service)
        say(f"Tables of {session.server} are tiered into {where}, by {engine}. Ctrl-C stops.")
        service.run()
    say("Stopped; every round is finished.")


def _metrics(stack: ExitStack, conn: Connection, port: int) -> Watcher:
    from lakeward.runtime.clock import SystemClock
    from lakeward.tiering.watch.service_metrics import MetricsPage, ServiceMetrics

    metrics = ServiceMetrics(conn, SystemClock())
    page = MetricsPage(metrics, port)
    stack.callback(page.close)
    say(f"Metrics are at http://localhost:{page.port}/metrics.")
    return metrics


def _tracer(stack: ExitStack, endpoint: str, server: str) -> Tracer:
    """What follows every round, and is sent to a collector."""
    from lakeward.options.metrics import check_url
    from lakeward.runtime.clock import SystemClock
    from lakeward.runtime.entropy import SystemEntropy
    from lakeward.runtime.version import VERSION
    from lakeward.telemetry.otlp.resource import Resource
    from lakeward.telemetry.reporters.otlp_collector import OtlpCollector
    from lakeward.telemetry.reporters.span_sender import SpanSender
    from lakeward.telemetry.tracing.tracer import Tracer

    check_url("--otlp-endpoint", endpoint)
    clock = SystemClock()
    tracer = Tracer(clock, SystemEntropy())
    resource = Resource("lakeward-tier", VERSION, server)
    collector = OtlpCollector(endpoint, _SPANS_EVERY_S, {}, resource, clock.now_ms(), tracer)
    stack.callback(SpanSender(collector).close)
    return tracer


class _LocalRunners:
    """Threads of this process: there at once."""

    def runner(self, conn: Connection) -> Runner:
        from lakeward.tiering.assembly import local_runner

        return local_runner(conn, _LOCAL_SLOTS)

    def close(self) -> None:
        """Nothing is left."""


class _SparkRunners:
    """Spark, started beside the main thread: there PySpark takes Ctrl-C for itself and tells a page of it."""

    def __init__(self, settings: TieringSettings) -> None:
        from lakeward.spark.setup.beside import begin_beside
        from lakeward.spark.tiering.tiering_job import tiering_context

        self._is_local = settings.master.startswith("local")
        self._begun = begin_beside(lambda: tiering_context(settings), "spark-start")

    def runner(self, conn: Connection) -> Runner:  # noqa: ARG002 - tasks have connections of their own
        from lakeward.lake.formats import lake_format
        from lakeward.spark.setup.beside import wait_beside
        from lakeward.spark.setup.make_archive import make_archive_beside
        from lakeward.spark.tiering.spark_runner import SparkRunner

        with suppress(LakewardError):  # a library that a round may need, loaded while there is time
            lake_format("iceberg")
        context = wait_beside(self._begun)
        if self._is_local:
            make_archive_beside()
        return SparkRunner(context)

    def close(self) -> None:
        """End it, whether it has started or not."""
        from lakeward.spark.setup.beside import give_up

        if self._begun.done() and self._begun.exception() is None:
            self._begun.result().stop()
        else:
            give_up()


def _begin_runner(settings: TieringSettings, engine: str) -> _LocalRunners | _SparkRunners:
    return _LocalRunners() if engine == "local" else _SparkRunners(settings)


def _leave(number: int, _frame: object) -> NoReturn:
    for more in (signal.SIGINT, signal.SIGTERM):
        signal.signal(more, signal.SIG_IGN)  # it ends already
    say("Stopped before it began.")
    raise SystemExit(EXIT_INTERRUPTED if number == signal.SIGINT else 0)


def _stop_on_signals(service: TieringService) -> None:
    """The first signal lets rounds finish, the second ends at once: the lake is whole either way."""

    def stop(number: int, _frame: object) -> None:
        say("Stopping after the rounds under way …")
        signal.signal(number, signal.SIG_DFL)
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _absolute(warehouse: str) -> str:
    """A directory means the same on every executor of this machine; other places are taken as they are."""
    return warehouse if "://" in warehouse else str(Path(warehouse).absolute())
