"""StatementWork: work on a thread of its own, which Ctrl-C ends; the main thread waits for it and tells how long."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.setup.beside import begin_beside

if TYPE_CHECKING:
    from lakeward.spark.setup.session_behind import SessionBehind

T = TypeVar("T")
_TICK_S = 0.1
#: Sooner than this nobody wonders what is going on.
_PATIENCE_S = 1.0
#: What does not end within this after Ctrl-C is left behind.
_CANCEL_S = 5.0
_CANCEL_EVERY_S = 0.5


class StoppedError(Exception):
    """Somebody pressed Ctrl-C, or time ran out."""


class StatementWork:
    """One piece of work at a time: what was left behind is waited for before the next one begins."""

    def __init__(self, spark: SessionBehind, interrupts: Interrupts, clock: Clock | None = None) -> None:
        self._spark = spark
        self._interrupts = interrupts
        self._clock = clock or SystemClock()
        self._count = 0
        self._left: Future[Any] | None = None
        self._note = _Note(self._clock)

    def do(self, work: Callable[[], T], *, within_s: float = float("inf")) -> T:
        """What comes of it; StoppedError after Ctrl-C or when the time is up."""
        self._count += 1
        group = f"lakeward-shell-{os.getpid()}-{self._count}"

        def run() -> T:
            with self._spark.work_of(group):
                return work()

        if self._interrupts.take():
            raise StoppedError
        try:
            self._await_left()
            begun = begin_beside(run, "statement")
            end_s = self._clock.monotonic() + within_s
            while not wait([begun], _TICK_S).done:
                if (is_pressed := self._interrupts.take()) or self._clock.monotonic() > end_s:
                    return self._cancel(begun, group, is_pressed=is_pressed)
                self._note.show(self._spark.is_awaited)
            return begun.result()
        finally:
            self._note.clear()

    def _await_left(self) -> None:
        while self._left is not None and not wait([self._left], _TICK_S).done:
            if self._interrupts.take():
                raise StoppedError
            self._note.show(self._spark.is_awaited)
        self._left = None

    def _cancel(self, begun: Future[T], group: str, *, is_pressed: bool) -> T:
        """Jobs of Spark are cancelled, those too that begin later; what goes on all the same is left behind.

        What ends well in spite of it is told: a table may have been made. The rows behind a plan are not fetched then.
        """

        def cancel() -> None:
            self._spark.cancel(group)
            while not wait([begun], _CANCEL_EVERY_S).done:
                self._spark.cancel(group)

        begin_beside(cancel, "cancel")
        end_s = self._clock.monotonic() + (_CANCEL_S if self._spark.is_there else 0)
        while not wait([begun], _TICK_S).done and self._clock.monotonic() < end_s and not self._interrupts.take():
            pass
        if begun.done() and begun.exception() is None:
            if is_pressed:
                self._interrupts.keep()
            return begun.result()
        self._left = None if begun.done() else begun
        raise StoppedError


class _Note:
    """A line on stderr that tells what is waited for, and goes away."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._since_s: float | None = None
        self._shown = ""
        self._is_fancy = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"

    def show(self, is_spark_awaited: bool) -> None:
        now_s = self._clock.monotonic()
        if self._since_s is None:
            self._since_s = now_s
        passed_s = now_s - self._since_s
        if passed_s < _PATIENCE_S:
            return
        what, end = ("Spark is starting", "stops waiting") if is_spark_awaited else ("Running", "ends it")
        text = f"{what} … {passed_s:.0f} s, Ctrl-C {end}" if self._is_fancy else f"{what} …"
        if text != self._shown and (self._is_fancy or (is_spark_awaited and not self._shown)):
            self._shown = text
            sys.stderr.write(f"\r\x1b[2K\x1b[2m{text}\x1b[0m" if self._is_fancy else f"{text}\n")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._shown and self._is_fancy:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
        self._since_s, self._shown = None, ""
