"""ShellLoop: asks, runs, tells, and asks again; Spark starts behind the first prompt, and no error ends it."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

import click

from lakeward.cli.commands.scripts.shell.completion.completer import StatementCompleter
from lakeward.cli.commands.scripts.shell.completion.words import CLEARS, EXITS, HELP, HELPS, WELCOME, command_of
from lakeward.cli.commands.scripts.shell.history import StatementHistory
from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.cli.commands.scripts.shell.keys import HeldKeys
from lakeward.cli.commands.scripts.shell.prompt_line import PromptLine
from lakeward.cli.commands.scripts.shell.statement_work import StatementWork, StoppedError
from lakeward.cli.commands.scripts.spark_quiet import quiet_spark
from lakeward.cli.output.listing import say, say_error
from lakeward.errors import LakewardError
from lakeward.runtime.clock import SystemClock
from lakeward.spark.scripts.jobs.job_home import JobHome
from lakeward.spark.setup.beside import begin_beside, give_up
from lakeward.spark.setup.session_behind import GivenUpError, SessionBehind

if TYPE_CHECKING:
    from lakeward.cli.commands.scripts.script_start import ScriptStart
    from lakeward.language.statements.statement import Statement
    from lakeward.spark.scripts.jobs.job import Job
    from lakeward.spark.scripts.jobs.jobs import Jobs
    from lakeward.spark.scripts.script import Script
    from lakeward.spark.scripts.state.outcome import Outcome

_JOBS_END_S, _SPARK_END_S, _TICK_S = 60.0, 10.0, 0.1


class ShellLoop:
    """One shell, from its first prompt to its end."""

    def __init__(
        self, start: ScriptStart, home: JobHome, *, output: str, is_debug: bool, checkpoints: str | None = None
    ) -> None:
        self._start = start
        self._output = output
        self._is_debug = is_debug
        self._checkpoints = checkpoints
        self._home = home
        self._spark = SessionBehind(start.session)
        self._interrupts = Interrupts()
        self._keys = HeldKeys()
        self._work = StatementWork(self._spark, self._interrupts)
        self._guard = threading.Lock()
        self._script: Script | None = None
        self._jobs: Jobs | None = None
        self._told: set[Job] = set()
        self._clock = SystemClock()
        self._has_failed = False
        """Whether Spark could not be started; then its log is kept."""

    def run(self, first: str | None) -> None:
        """Run a text first, if there is one; then what is typed, until somebody ends it."""
        history, completer = StatementHistory(self._home.history_file), StatementCompleter(self.script)
        line = PromptLine(history, completer, self._keys, self._interrupts, self._begin)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        say(WELCOME)
        with quiet_spark(self._start.log), self._interrupts.heard(), self._keys.holding():
            try:
                if first is not None:
                    self._begin()
                    self._run_text(first)
                self._ask(line)
            finally:
                self._end()
                if not self._has_failed:
                    self._start.log.unlink(missing_ok=True)

    def script(self) -> Script:
        """The script that statements run in; made when it is first needed, on whatever thread that is."""
        with self._guard:
            if self._script is None:
                from lakeward.spark.scripts.jobs.jobs import Jobs

                self._jobs = Jobs(self._home, checkpoints=self._checkpoints)
                self._script = self._start.script(self._spark.session, self._jobs)
            return self._script

    def _begin(self) -> None:
        """What statements need is loaded while the first one is typed."""
        self._spark.begin()
        begin_beside(self.script, "script")

    def _ask(self, line: PromptLine) -> None:
        while True:
            try:
                self._tell_ends()
                text = line.ask()
            except KeyboardInterrupt:
                continue
            except EOFError:
                text = "exit"
            word = command_of(text)
            if word in EXITS:
                if self._may_end():
                    return
            elif word in HELPS:
                say(HELP)
            elif word in CLEARS:
                click.clear()
            elif text.strip():
                self._run_text(text)

    def _run_text(self, text: str) -> None:
        """Statements one after the other; an error or Ctrl-C leaves those that follow."""
        if not text.isascii() and (at := _first_surrogate(text)) is not None:
            say_error(f"Error: What was typed is not UTF-8, from character {at + 1} on.")
            return
        from lakeward.cli.commands.scripts.script_error import tell_error
        from lakeward.cli.commands.scripts.shell.answer import Answer
        from lakeward.language.grammar import read_script
        from lakeward.language.grammar.text.split import split_script

        count = 1
        answer = Answer(self._work, self._interrupts, self._keys, self._output)
        self._interrupts.take()
        try:
            statements = read_script(text)
            while (outcome := self._work.do(lambda: self._next(statements))) is not None:
                answer.show(outcome)
                count += 1
        except (StoppedError, GivenUpError):
            say("Stopped.")
        except Exception as wrong:  # noqa: BLE001 - whatever it is, the next statement may be better
            self._has_failed |= not self._spark.is_there
            tell_error(wrong, text, is_debug=self._is_debug)
            with contextlib.suppress(LakewardError):
                if left := sum(1 for _ in split_script(text)) - count:
                    say(f"{left} more of what was typed {'was' if left == 1 else 'were'} not run.")

    def _next(self, statements: Iterator[Statement]) -> Outcome | None:
        statement = next(statements, None)
        return None if statement is None else self.script().execute(statement)

    def _tell_ends(self) -> None:
        """Jobs that ended since somebody looked."""
        if self._jobs is None or not self._jobs.started:
            return
        from lakeward.cli.commands.scripts.job_lines import tell_end

        running = self._jobs.running
        for job in self._jobs.started:
            if job not in running and job not in self._told:
                self._told.add(job)
                tell_end(job)

    def _may_end(self) -> bool:
        running = self._jobs.running if self._jobs is not None else []
        if not running:
            return True
        names = ", ".join(job.name for job in running)
        say(f"With this shell end its jobs: {names}.")
        say("Each goes on where it was when the same statement is run again, here or by `lakeward run`.")
        try:
            with self._keys.releasing(), self._interrupts.raising():
                click.echo("End them? [y/N] ", nl=False, err=True)
                return input().strip().lower() in {"y", "yes"}
        except EOFError:  # Ctrl-D once more
            say("")
            return True
        except KeyboardInterrupt:
            say("")
            return False

    def _end(self) -> None:
        """Jobs end with their micro-batches, then Spark does; Ctrl-C ends both at once."""
        logging.disable()
        if self._jobs is not None and self._jobs.running:
            say("Stopping after the micro-batches under way …")
            self._await(begin_beside(self._jobs.stop, "jobs-stop"), _JOBS_END_S)
            self._tell_ends()
        self._await(begin_beside(self._spark.stop, "spark-stop"), _SPARK_END_S)
        give_up()

    def _await(self, begun: Future[None], within_s: float) -> None:
        end_s = self._clock.monotonic() + within_s
        while not wait([begun], _TICK_S).done and not self._interrupts.take() and self._clock.monotonic() < end_s:
            pass


def _first_surrogate(text: str) -> int | None:
    """Where a byte stands that could not be read as UTF-8."""
    return next((at for at, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
