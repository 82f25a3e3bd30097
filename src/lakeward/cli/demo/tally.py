"""DemoTally: how many orders there are, counted as one table and half by half, while more come in."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lakeward.cli.output.listing import count, say
from lakeward.errors import LakewardError, RetriableError
from lakeward.runtime.clock import SystemClock

if TYPE_CHECKING:
    from lakeward.cli.demo.screen import DemoScreen
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

_PAUSE_S, _LIVE_PAUSE_S = 4, 1


@dataclass(frozen=True, slots=True)
class Halves:
    """One moment of a table: all rows of a union read, and what each half of the same plan gave by itself."""

    union: int
    cold: int
    hot: int

    def __str__(self) -> str:
        sign = "=" if self.union == self.cold + self.hot else "≠"
        return f"{count(self.union, 'order')} {sign} {self.cold:,} in the lake + {self.hot:,} only in the log"


def count_halves(conn: Connection, table: Table, lake: Mapping[str, str]) -> Halves:
    """Count a log table three times by one plan: one snapshot of the lake, one set of end offsets of the log.

    Orders that are placed or tiered meanwhile are in none of the three.
    """
    from lakeward.options.spark import LAKE_PREFIX
    from lakeward.query.lake.lake_cache import lake_cache_of
    from lakeward.query.plan.planner import plan_read
    from lakeward.query.plan.splits import LakeSplit
    from lakeward.query.read.read import read_splits
    from lakeward.query.request.request import ReadRequest

    lake_cache_of(conn.inner).forget_readers()  # what was told to be in the lake is to be counted there
    options = {LAKE_PREFIX + key: value for key, value in lake.items()}
    request = ReadRequest(table.path, columns=table.info.schema.names[:1], options=options)
    plan = plan_read(conn, request)
    cold = [split for split in plan.splits if isinstance(split, LakeSplit)]
    hot = [split for split in plan.splits if not isinstance(split, LakeSplit)]
    union, *halves = (
        sum(rows.num_rows for rows in read_splits(conn, request, splits)) for splits in (plan.splits, cold, hot)
    )
    return Halves(union, *halves)


class DemoTally:
    """Says a line every few seconds, from when it is entered until it is left."""

    def __init__(self, conn: Connection, table: Table, lake: Mapping[str, str] | None, screen: DemoScreen) -> None:
        self._screen = screen
        self._conn = conn
        self._table = table
        self._lake = lake
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="demo-tally", daemon=True)

    def __enter__(self) -> Self:
        if self._lake is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopping.set()
        if self._lake is not None:
            self._thread.join()

    def _tell(self) -> None:
        assert self._lake is not None
        while not self._stopping.wait(_LIVE_PAUSE_S if self._screen.is_live else _PAUSE_S):
            try:
                found = count_halves(self._conn, self._table, self._lake)
                self._screen.tell(self._figures(found), f"── {found}")
            except RetriableError:
                continue  # the lake has moved on; the next line is about that
            except LakewardError as wrong:
                say(f"── The orders could not be counted: {wrong.message}")
                return

    def _figures(self, found: Halves) -> str:
        from lakeward.tiering.watch.lag import lag_of

        seconds = lag_of(self._conn, self._table, SystemClock().now_ms()).seconds
        late = "" if seconds is None else f", {seconds:.1f} s"
        return f"{found}   lag: {count(found.hot, 'order')}{late}   Ctrl-C stops"
