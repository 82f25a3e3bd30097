"""LiveView: the rows of a streaming SELECT as they are now, drawn again as they change, until somebody ends it."""

from __future__ import annotations

import contextlib
import io
import os
import select
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.commands.scripts.live_output import write_changes
from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.cli.commands.scripts.shell.keys import HeldKeys
from lakeward.cli.output.listing import count, say
from lakeward.cli.output.row_output import row_output
from lakeward.runtime.clock import Clock, SystemClock
from lakeward.spark.setup.beside import begin_beside

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.spark.scripts.state.live_rows import LiveRows

_TICK_S = 0.25
_STOP_S = 20.0
_ROWS_LEFT_MAX = 1000
_OTHER_SCREEN, _FIRST_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _END_OF_LINE, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"


class LiveView:
    """On a screen of its own, which goes away; the last state stays. Elsewhere changes are written one by one."""

    def __init__(
        self, live: LiveRows, interrupts: Interrupts, keys: HeldKeys, output: str, clock: Clock | None = None
    ) -> None:
        self._live = live
        self._interrupts = interrupts
        self._keys = keys
        self._output = output
        self._clock = clock or SystemClock()
        self._begun_s = self._clock.monotonic()
        self._changes = 0
        self._marks = [(self._begun_s, 0)]
        live.listen(self._count_changes)

    def run(self) -> None:
        """Show it until Ctrl-C or q, until LIMIT is reached, or until it fails, which raises why."""
        is_drawn = self._output == "table" and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        ended = begin_beside(self._await_end, "live-view")
        try:
            if is_drawn:
                with _own_screen(self._keys) as screen:
                    while not ended.done() and not self._interrupts.take() and not screen.is_left(_TICK_S):
                        screen.draw(self.lines())
            else:
                write_changes(self._live, self._output)
                while not wait([ended], _TICK_S).done and not self._interrupts.take():
                    pass
        finally:
            wait([begin_beside(self._live.stop, "live-view-stop")], _STOP_S)
            if is_drawn:
                self._leave_rows()
        if ended.done():
            ended.result()

    def lines(self) -> list[str]:
        """What is on the screen: figures, and as many rows as fit."""
        columns, height = shutil.get_terminal_size()
        rows = self._live.rows
        room = max(1, height - 3)
        shown = rows[-room:]
        part = f" (the last {len(shown):,})" if len(shown) < len(rows) else ""
        told = f" {count(len(rows), 'row')}{part}   {count(self._changes, 'change')}   {self._rate():,.0f} changes/s"
        bar = click.style(f"{told}   Ctrl-C ends "[:columns].ljust(columns), reverse=True)
        text = self._text(shown, columns) if shown else "Waiting for rows …"
        return [bar, *text.split("\n")][:height]

    def _text(self, rows: Sequence[tuple[Any, ...]], width: int) -> str:
        out = io.StringIO()
        row_output("table", self._live.schema, out, width=width).write(_table(self._live.schema, rows))
        return out.getvalue().rstrip("\n")

    def _leave_rows(self) -> None:
        rows = self._live.rows
        if rows:
            row_output("table", self._live.schema).write(_table(self._live.schema, rows[-_ROWS_LEFT_MAX:]))
            sys.stdout.flush()
        passed_s = self._clock.monotonic() - self._begun_s
        say(f"({count(len(rows), 'row')} after {count(self._changes, 'change')} in {passed_s:,.0f} s)")

    def _await_end(self) -> None:
        query = self._live.query
        while query is not None and query.isActive and not self._live.is_full:
            self._live.wait(_TICK_S)
        if query is not None and not query.isActive and (wrong := query.exception()) is not None:
            raise wrong

    def _count_changes(self, changes: Sequence[object]) -> None:
        self._changes += len(changes)
        self._marks = [*self._marks[-20:], (self._clock.monotonic(), self._changes)]

    def _rate(self) -> float:
        """Changes a second, over the last micro-batches."""
        (first_s, first), now_s = self._marks[0], self._clock.monotonic()
        return (self._changes - first) / max(now_s - first_s, _TICK_S)


def _table(schema: pa.Schema, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


class _Screen:
    """A screen of its own: keys are not echoed, Ctrl-Z gives the terminal back for a while."""

    def draw(self, lines: Sequence[str]) -> None:
        text = f"{_END_OF_LINE}\r\n".join(lines)
        sys.stdout.write(f"{_HOME}{text}{_END_OF_LINE}{_BELOW}")
        sys.stdout.flush()

    def is_left(self, patience_s: float) -> bool:
        """Wait a moment; whether q was pressed meanwhile."""
        if not select.select([sys.stdin], [], [], patience_s)[0]:
            return False
        keys = os.read(sys.stdin.fileno(), 1 << 10)
        return not keys or b"q" in keys.lower()


@contextlib.contextmanager
def _own_screen(keys: HeldKeys) -> Iterator[_Screen]:
    def enter() -> None:
        keys.hold()
        _put(_OTHER_SCREEN)

    def leave() -> None:
        _put(_FIRST_SCREEN)
        keys.release()

    def suspend(_number: int, _frame: object) -> None:
        leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTSTP)  # goes on here after `fg`
        signal.signal(signal.SIGTSTP, suspend)
        enter()

    before = signal.signal(signal.SIGTSTP, suspend)
    _put(_OTHER_SCREEN)
    try:
        yield _Screen()
    finally:
        _put(_FIRST_SCREEN)
        signal.signal(signal.SIGTSTP, before)


def _put(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
