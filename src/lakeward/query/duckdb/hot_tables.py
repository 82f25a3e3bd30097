"""HotTables: what a connection keeps of the hot rows of tables between its queries, so that only news are fetched.

Nothing gets stale: where logs end is asked for every plan, and what is kept is used up to there, with what is new
fetched behind it. It is made anew when the lake has a newer snapshot, when other columns are asked for, when a log ends
earlier than it did, and when another batch is where it ended (`client.read.log_marks`). That batch is fetched for every
query: whoever may not read the table any more gets nothing of what is kept. A table whose rows are asked for once, by
a query that reads them once, is not kept at all.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lakeward.client.forms.results import BucketId
from lakeward.options.spark import lake_options
from lakeward.query.duckdb.duck_tables import TooLargeError
from lakeward.query.duckdb.hot_rows import HotLoader, HotRows, Window
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.splits import LakeSplit, LogSplit
from lakeward.query.plan.union import TAIL_CHANGES_MAX
from lakeward.query.request.options import StartupMode, Tiers
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.tables.connection import AsyncConnection
    from lakeward.model.table import TableInfo

_BYTES_MAX = 1 << 30
#: Of the machine's memory: what one connection keeps at most, and what must be free for it to keep anything.
_SHARE_MAX, _SHARE_FREE = 1 / 8, 1 / 10
_TABLES_MAX = 256
_MEMORY = Path("/proc/meminfo")

_lock = Lock()
_of_connections: WeakKeyDictionary[AsyncConnection, HotTables] = WeakKeyDictionary()


class _Slot:
    """A table: its lock, what is kept of it, and what was too large to be."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.kept: HotRows | None = None
        self.is_asked_again = False
        self.too_large: Hashable = None


class HotTables:
    """Safe to share between threads; `free_share` tells how much of the machine's memory is free."""

    def __init__(self, bytes_max: int, free_share: Callable[[], float]) -> None:
        self.process = os.getpid()
        self._bytes_max = bytes_max
        self._free_share = free_share
        self._lock = Lock()
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()

    @property
    def bytes(self) -> int:
        """About how much memory is taken."""
        with self._lock:
            return sum(slot.kept.bytes for slot in self._slots.values() if slot.kept is not None)

    def rows(
        self, conn: Connection, table: Table, request: ReadRequest, plan: Plan, *, is_joined: bool
    ) -> HotRows | None:
        """What is hot of a plan, to be held while it is used; None where rows are to be read without keeping them."""
        if not _is_kept(request, plan):
            return None
        info = table.info
        slot = self._slot(
            (info.path, info.table_id, info.schema_id, tuple(sorted(lake_options(request.options).items())))
        )
        with slot.lock:
            again, slot.is_asked_again = slot.is_asked_again, True
            if not (is_joined or again):
                return None
            kept = slot.kept
            found = self._find(slot, HotLoader(conn, table, request, self._bytes_max), info, request, plan)
        if found is None or kept is None or found.tables != kept.tables:
            self._make_room()
        return found

    def clear(self) -> None:
        """Keep nothing; what queries hold stays until they end."""
        with self._lock:
            self._slots.clear()

    def _find(
        self, slot: _Slot, loader: HotLoader, info: TableInfo, request: ReadRequest, plan: Plan
    ) -> HotRows | None:
        is_keyed = info.descriptor.has_primary_key
        windows, snapshot_id = _windows(plan), plan.summary.lake.snapshot_id if plan.summary.lake else None
        wanted = request.columns or info.schema.names
        columns = tuple(dict.fromkeys([*wanted, *(info.schema.primary_key if is_keyed else ())]))
        kept = slot.kept
        if kept is not None and snapshot_id == kept.snapshot_id and not kept.windows.keys() <= windows.keys():
            return None  # a few of its partitions
        if kept is not None and not kept.leads_to(columns, snapshot_id, windows):
            if kept.leads_to((), snapshot_id, windows):  # it lacks columns alone: the next query may want both
                columns = tuple(dict.fromkeys([*kept.columns, *columns]))
            kept = slot.kept = None
        if self._free_share() < _SHARE_FREE or slot.too_large == (columns, snapshot_id):
            return None
        marks = {} if kept is None else loader.marks(kept.windows)
        if kept is not None and not kept.is_marked(marks):
            columns, kept, slot.kept = kept.columns, None, None
        begun = kept or HotRows(columns, snapshot_id, {})
        if begun.windows != windows:  # before the rows: if the logs change between, the next query sees it
            marks = loader.marks(windows)
        begun = replace(begun, marks=marks)
        try:
            if is_keyed:
                lakes = [s for s in plan.splits if isinstance(s, LakeSplit)]
                found = loader.of_changes(begun, windows, lakes)
            else:
                found = loader.of_log(begun, windows)
        except TooLargeError:
            slot.kept, slot.too_large = None, (columns, snapshot_id)
            return None
        slot.kept = found
        return found

    def _slot(self, key: Hashable) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > _TABLES_MAX:
                self._slots.popitem(last=False)
            return slot

    def _make_room(self) -> None:
        """What was used longest ago leaves first; all of it where the machine is short of memory."""
        if self._free_share() < _SHARE_FREE:
            self.clear()
        with self._lock:
            kept = [slot for slot in self._slots.values() if slot.kept is not None]
            left = sum(slot.kept.bytes for slot in kept if slot.kept is not None)
            for slot in kept[:-1]:
                if left <= self._bytes_max:
                    return
                left -= slot.kept.bytes if slot.kept is not None else 0
                slot.kept = None


def hot_tables_of(connection: AsyncConnection) -> HotTables:
    """What a connection keeps; a process that was forked begins anew."""
    with _lock:
        found = _of_connections.get(connection)
        if found is None or found.process != os.getpid():
            found = _of_connections[connection] = HotTables(_bytes_max(), free_share)
        return found


def free_share() -> float:
    """How much of the machine's memory is free, between 0 and 1; all of it where nobody tells."""
    told = _memory()
    return told["MemAvailable"] / told["MemTotal"] if told.get("MemTotal") and "MemAvailable" in told else 1.0


def _bytes_max() -> int:
    total = _memory().get("MemTotal")
    return _BYTES_MAX if total is None else min(_BYTES_MAX, int(total * 1024 * _SHARE_MAX))


def _memory() -> dict[str, int]:
    try:
        lines = (line.split() for line in _MEMORY.read_text().splitlines())
        return {words[0].rstrip(":"): int(words[1]) for words in lines if len(words) > 1}
    except (OSError, ValueError):  # another system
        return {}


def _is_kept(request: ReadRequest, plan: Plan) -> bool:
    settings = request.settings
    is_now = not settings.travels and settings.mode is StartupMode.FULL and settings.tiers is Tiers.ALL
    if request.view is not View.ROWS or request.limit is not None or settings.skip_damaged or not is_now:
        return False
    changes = sum(s.log_offsets for s in plan.splits if isinstance(s, LakeSplit))
    return bool(_windows(plan)) and changes <= TAIL_CHANGES_MAX


def _windows(plan: Plan) -> dict[BucketId, Window]:
    """From where to where the log of each bucket is read."""
    found: dict[BucketId, Window] = {}
    for split in plan.splits:
        tail = split.tail if isinstance(split, LakeSplit) else split
        if isinstance(tail, LogSplit) and tail.stop > tail.start:
            begin, end = found.get(tail.id, (tail.start, tail.stop))
            found[tail.id] = (min(begin, tail.start), max(end, tail.stop))
    return found
