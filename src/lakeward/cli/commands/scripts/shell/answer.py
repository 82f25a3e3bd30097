"""Answer: what a statement gave, on the screen: a sentence, rows, a view that changes, or a job."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.cli.commands.scripts.shell.keys import HeldKeys
from lakeward.cli.commands.scripts.shell.live_view import LiveView
from lakeward.cli.commands.scripts.shell.statement_work import StatementWork, StoppedError
from lakeward.cli.output.listing import count, say
from lakeward.cli.output.row_output import row_output
from lakeward.cli.output.text_table import shorten

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.spark.scripts.state.outcome import Outcome

#: More than this nobody reads on a screen.
ROWS_SHOWN_MAX = 1000
#: How long the rows that are not shown are counted.
_COUNT_S = 5.0
_MESSAGE_MAX = 2000


class Answer:
    """Shows outcomes; whatever asks Spark is done beside, so that Ctrl-C is heard."""

    def __init__(self, work: StatementWork, interrupts: Interrupts, keys: HeldKeys, output: str) -> None:
        self._work = work
        self._interrupts = interrupts
        self._keys = keys
        self._output = output

    def show(self, outcome: Outcome) -> None:
        """Show one; StoppedError if somebody did not want to see all of it."""
        for notice in outcome.notices:
            say(notice)
        if outcome.live is not None:
            LiveView(outcome.live, self._interrupts, self._keys, self._output).run()
        elif outcome.has_rows:
            self._show_rows(outcome)
        elif outcome.job is not None:
            how = "goes on where it was" if outcome.job.is_continued else "begins"
            say(f"Job {outcome.job.name} {how}. SHOW JOBS tells how it is, STOP JOB {outcome.job.name} ends it.")
        else:
            say(shorten(outcome.message, _MESSAGE_MAX) or "Done.")

    def _show_rows(self, outcome: Outcome) -> None:
        rows = self._work.do(lambda: _first_rows(outcome))
        shown = rows.slice(0, ROWS_SHOWN_MAX)
        if not rows.num_rows and self._output == "table":
            say("No rows.")
            return
        row_output(self._output, rows.schema).write(shown)
        sys.stdout.flush()
        if rows.num_rows <= ROWS_SHOWN_MAX:
            if self._output == "table":
                say(f"({count(rows.num_rows, 'row')})")
            return
        say(f"… and {self._count_rest(outcome)}: LIMIT or WHERE shows fewer, `lakeward run -e … -o csv` all of them.")

    def _count_rest(self, outcome: Outcome) -> str:
        frame = outcome.frame
        if frame is None:
            return count(outcome.rows().num_rows - ROWS_SHOWN_MAX, "more row")
        try:
            rest = self._work.do(frame.count, within_s=_COUNT_S) - ROWS_SHOWN_MAX
        except StoppedError:
            rest = 0
        return count(rest, "more row") if rest > 0 else "more rows"


def _first_rows(outcome: Outcome) -> pa.Table:
    """Those that are shown, and one more if there are more."""
    if outcome.frame is None:
        return outcome.rows()
    return outcome.frame.limit(ROWS_SHOWN_MAX + 1).toArrow()
