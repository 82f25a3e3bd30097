"""ScriptRun: statement by statement, then its jobs until they end or somebody ends them."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.commands.scripts.job_lines import JobLines, tell_end
from lakeward.cli.commands.scripts.job_metrics import JobMetrics
from lakeward.cli.commands.scripts.live_output import write_changes
from lakeward.cli.commands.scripts.run_signals import StopSignal, raised_signals
from lakeward.cli.commands.scripts.script_error import headline, tell_error
from lakeward.cli.commands.scripts.script_start import ScriptStart
from lakeward.cli.commands.scripts.spark_quiet import quiet_spark
from lakeward.cli.output.listing import say
from lakeward.cli.output.plain_text import lines
from lakeward.cli.output.row_output import row_output
from lakeward.language.grammar import read_script
from lakeward.language.place import Place, ScriptError
from lakeward.language.statements.rows import Insert, SetOption, StatementSet
from lakeward.runtime.clock import SystemClock
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.scripts.jobs.job_record import JobState
from lakeward.spark.scripts.jobs.jobs import Jobs
from lakeward.spark.setup.beside import begin_beside, give_up, wait_beside
from lakeward.tiering.watch.service_metrics import MetricsPage

if TYPE_CHECKING:
    from lakeward.spark.scripts.state.live_rows import LiveRows
    from lakeward.spark.scripts.state.outcome import Outcome

_TICK_S = 0.5


class ScriptRun:
    """One run of one text."""

    def __init__(
        self,
        text: str,
        path: str | None,
        *,
        server: str,
        master: str,
        settings: Mapping[str, str],
        checkpoints: str | None,
        output: str,
        is_detailed: bool = False,
        metrics_port: int | None = None,
        is_debug: bool = False,
    ) -> None:
        """`path` is the file that the text is of; `settings` are of scripts, of Spark and of the client."""
        self._text = text
        self._start = ScriptStart(server, master, settings, JobHome.of_environment().log_file(os.getpid()))
        self._output = output
        self._is_debug = is_debug
        self._home = JobHome.of_environment()
        self._jobs = Jobs(self._home, checkpoints=checkpoints, script=path, texts=_inserts(text))
        self._lines = JobLines(SystemClock(), is_detailed=is_detailed)
        self._metrics_port = metrics_port
        self._told: set[str] = set()
        self._spark: Any = None
        self._done = 0
        self._is_through = False
        self._is_stopping = False

    def to_the_end(self) -> int:
        """Run it; the exit code."""
        log = self._home.log_file(os.getpid())
        with quiet_spark(log, self._lines.interrupt), self._lines, contextlib.ExitStack() as stack:
            if self._metrics_port is not None:
                page = MetricsPage(JobMetrics(lambda: tuple(self._jobs.started)), self._metrics_port)
                stack.callback(page.close)
                say(f"Metrics are at http://localhost:{page.port}/metrics.")
            logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
            try:
                with raised_signals():
                    code = self._run()
            except StopSignal as stop:
                self._lines.close()
                code = self._stop_early(stop)
        if code != 1:
            log.unlink(missing_ok=True)
        elif self._is_debug:
            say(f"What Spark said is in {log}.")
        return code

    def _run(self) -> int:
        try:
            wait_beside(begin_beside(self._run_statements, "script"))
        except BrokenPipeError:
            self._end()
            raise
        except Exception as wrong:  # noqa: BLE001 - whatever it is, it is told, and what was begun is ended
            tell_error(wrong, self._text, self._place_of_statement(), is_debug=self._is_debug)
            self._jobs.close()
            self._end()
            return 1
        self._is_through = True
        self._watch()
        self._end()
        return 1 if any(job.state is JobState.FAILED for job in self._jobs.started) else 0

    def _run_statements(self) -> None:
        if next(read_script(self._text), None) is None:  # a mistake in the first one need not wait for Spark either
            say("There is no statement to run.")
            return
        if sys.stderr.isatty():
            say("Spark is starting …")
        self._spark = self._start.session()
        script = self._start.script(self._spark, self._jobs, write_line=self._print)
        for outcome in script.statements(self._text):
            self._show(outcome)
            self._done += 1
            if self._is_stopping:
                return

    def _print(self, line: str) -> None:
        """What the connector `print` is given: rows, unless rows are asked for in another form."""
        self._lines.close()
        click.echo(lines(line), err=self._output != "table")

    def _show(self, outcome: Outcome) -> None:
        told = "" if isinstance(outcome.statement, SetOption) else outcome.message  # it says no more, secrets included
        if (job := outcome.job) is not None:
            changed = ", with its changed text" if job.is_changed else ""
            told = f"job {job.name} {f'goes on where it was{changed}' if job.is_continued else 'begins'}"
        say(f"[{outcome.statement.number}] {headline(outcome.statement.text)}{f': {told}' if told else ''}")
        for notice in outcome.notices:
            say(f"    {notice}")
        if outcome.live is not None:
            self._show_live(outcome.live)
        elif outcome.has_rows:
            rows = outcome.rows()
            if self._output == "table" and not rows.num_rows:
                say("No rows.")
            else:
                row_output(self._output, rows.schema).write(rows)
                sys.stdout.flush()

    def _show_live(self, live: LiveRows) -> None:
        """Rows of a streaming SELECT, as they come, until it ends or somebody ends it."""
        write_changes(live, self._output)
        while live.query is not None and live.query.isActive and not live.is_full:
            live.wait(_TICK_S)
        live.stop()

    def _watch(self) -> None:
        """Show progress until no job runs any more."""
        while self._jobs.running:
            self._lines.show(self._jobs.running)
            time.sleep(_TICK_S)
            self._tell_ends()
        self._tell_ends()

    def _tell_ends(self) -> None:
        for job in self._jobs.started:
            if job.state is not JobState.RUNNING and job.name not in self._told:
                self._told.add(job.name)
                self._lines.close()
                tell_end(job)

    def _stop_early(self, stop: StopSignal) -> int:
        """Let micro-batches finish; a second signal ends this at once, by its default."""
        self._is_stopping = True
        if self._spark is None:
            say("Stopped before it began.")
            give_up()
            return stop.exit_code
        if self._is_through:
            say("Stopping after the micro-batches under way …")
        else:
            say(f"Stopping in statement {self._done + 1} …")
        self._jobs.close()
        self._tell_ends()
        self._end()
        return stop.exit_code

    def _end(self) -> None:
        logging.disable()
        if self._spark is not None:
            with contextlib.suppress(Exception):
                self._spark.stop()

    def _place_of_statement(self) -> Place | None:
        """Where the statement begins that was under way; none was while Spark started."""
        if self._spark is None:
            return None
        with contextlib.suppress(ScriptError):
            for number, statement in enumerate(read_script(self._text)):
                if number == self._done:
                    return statement.place
        return None


def _inserts(text: str) -> list[str]:
    """The texts of a script's inserts, as far as it can be read."""
    found: list[str] = []
    with contextlib.suppress(ScriptError):
        for statement in read_script(text):
            if isinstance(statement, Insert | StatementSet):
                found += [one.text for one in getattr(statement, "inserts", (statement,))]
    return found
