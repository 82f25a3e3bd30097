"""PipelineStart: pipelines of the command line, from the start of Spark until all have ended or somebody ends them."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import click

from lakeward.cli.commands.pipelines.pipeline_lines import PipelineLines
from lakeward.cli.commands.pipelines.pipeline_metrics import PipelineMetrics
from lakeward.cli.commands.pipelines.pipeline_plan import tables_of
from lakeward.cli.commands.scripts.run_signals import StopSignal, raised_signals
from lakeward.cli.commands.scripts.script_start import ScriptStart
from lakeward.cli.commands.scripts.spark_quiet import quiet_spark
from lakeward.cli.output.listing import say
from lakeward.cli.output.plain_text import lines
from lakeward.errors import LakewardError
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.plan import check_name
from lakeward.pipelines.status import PipelineState
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipelines import Pipelines
from lakeward.spark.setup.beside import begin_beside, give_up, wait_beside
from lakeward.tiering.watch.service_metrics import MetricsPage

_TICK_S = 0.5
_PATIENCE_S = 10.0


class PipelineStart:
    """One run of some pipelines."""

    def __init__(
        self,
        definitions: Sequence[PipelineDefinition],
        *,
        master: str,
        settings: Mapping[str, str],
        checkpoints: str | None,
        once: bool,
        metrics_port: int | None,
        is_debug: bool = False,
    ) -> None:
        self._home = PipelineHome.of_environment()
        self._log = self._home.places.log_file(os.getpid())
        of_spark = {key: value for one in definitions for key, value in one.settings.items()}
        given = {**of_spark, **settings}
        servers = [one.sink.options["bootstrap.servers"] for one in definitions if _has_server(one)]
        self._start = ScriptStart(servers[0] if servers else "localhost:9123", master, given, self._log)
        self._clock = SystemClock()
        self._lines = PipelineLines(self._clock)
        self._pipelines = Pipelines(
            definitions, self._home, self._clock, once=once, checkpoints=checkpoints, write_line=self._print
        )
        self._metrics_port = metrics_port
        self._is_debug = is_debug
        self._spark: Any = None
        self._told: set[str] = set()

    def to_the_end(self) -> int:
        """Run them; the exit code."""
        with quiet_spark(self._log, self._lines.interrupt), ExitStack() as stack:
            logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
            if self._metrics_port is not None:
                page = MetricsPage(PipelineMetrics(self._pipelines), self._metrics_port)
                stack.callback(page.close)
                say(f"Metrics are at http://localhost:{page.port}/metrics.")
            try:
                with raised_signals():
                    self._run()
                code = 1 if any(run.status.state is PipelineState.FAILED for run in self._pipelines.runs) else 0
            except StopSignal as stop:
                code = self._stop_early(stop)
            finally:
                self._lines.close()
        if code != 1:
            self._log.unlink(missing_ok=True)
        elif self._is_debug:
            say(f"What Spark said is in {self._log}.")
        return code

    def _run(self) -> None:
        if len(self._pipelines.runs) == 1:  # what cannot begin need not wait for Spark
            self._check(self._pipelines.runs[0].definition)
        if sys.stderr.isatty():
            say("Spark is starting …")
        try:
            self._spark = wait_beside(begin_beside(self._start.session, "spark-start"))
        except StopSignal:
            raise
        except BaseException as wrong:
            self._pipelines.give_up(str(wrong))
            give_up()
            raise
        self._pipelines.start(self._spark)
        while running := self._pipelines.running:
            self._lines.show([run.status for run in running])
            time.sleep(_TICK_S)
            self._tell_ends()
        self._tell_ends()
        self._end()

    def _check(self, definition: PipelineDefinition) -> None:
        try:
            for table in tables_of(definition):
                check_name(definition, table.id)
        except (click.ClickException, LakewardError) as wrong:
            self._pipelines.give_up(wrong.message)
            raise

    def _stop_early(self, stop: StopSignal) -> int:
        """Let micro-batches finish; a second signal ends this at once, by its default."""
        self._lines.close()
        if self._spark is None:
            say("Stopped before it began.")
            self._pipelines.give_up(None)
            give_up()
            return stop.exit_code
        say("Stopping after the micro-batches under way …")
        self._pipelines.stop(_PATIENCE_S)
        self._tell_ends()
        self._end()
        return stop.exit_code

    def _tell_ends(self) -> None:
        for run in self._pipelines.runs:
            if run.has_ended and run.definition.name not in self._told:
                self._told.add(run.definition.name)
                self._lines.tell([run.status])
                self._lines.end(run.status)

    def _print(self, line: str) -> None:
        """What the sink `print` is given."""
        self._lines.close()
        click.echo(lines(line))

    def _end(self) -> None:
        logging.disable()
        with contextlib.suppress(Exception):
            self._spark.stop()


def _has_server(definition: PipelineDefinition) -> bool:
    return definition.sink.type == "fluss" and "bootstrap.servers" in definition.sink.options
