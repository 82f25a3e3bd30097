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
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lakeward.client.forms.results import BucketId
from lakeward.client.tables.glance import Known
from lakeward.options.spark import lake_options
from lakeward.query.duckdb.duck_tables import TooLargeError
from lakeward.query.duckdb.hot_rows import HotLoader, HotRows, Window
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import SeenLogs
from lakeward.query.plan.splits import LakeSplit, LogSplit
from lakeward.query.plan.union import TAIL_CHANGES_MAX
from lakeward.query.request.options import StartupMode, Tiers
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import View

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table
    from lakeward.client.read.log_marks import LogEnd, LogMark
    from lakeward.client.tables.connection import AsyncConnection
    from lakeward.model.table import TableInfo

_BYTES_MAX = 1 << 30
#: Of the machine's memory: what one connection keeps at most, and what must be free for it to keep anything.
_SHARE_MAX, _SHARE_FREE = 1 / 8, 1 / 10
_TABLES_MAX = 256
_MEMORY = Path("/proc/meminfo")
#: What it begins with is all that is asked for: the total, and what is available.
_MEMORY_BYTES = 128

_lock = Lock()
_of_connections: WeakKeyDictionary[AsyncConnection, HotTables] = WeakKeyDictionary()


class _Slot:
    """A table: its lock, what is kept of it, and what was too large to be."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.info: TableInfo | None = None
        self.kept: HotRows | None = None
        self.is_asked_again = False
        self.too_large: Hashable = None

    def know(self, info: TableInfo) -> None:
        """Begin anew where the table is another one, or has another schema."""
        if not _is_same(self.info, info):
            self.kept, self.is_asked_again, self.too_large = None, False, None
        self.info = info


@dataclass(frozen=True, slots=True)
class KeptTable:
    """What is kept of a table, and what it looked like."""

    info: TableInfo
    rows: HotRows

    @property
    def question(self) -> Known:
        """What there is to ask, to learn whether it still holds, and what is new."""
        return Known(self.info, {id_: end - (id_ in self.rows.windows) for id_, end in self.rows.ends.items()})

    def seen(self, info: TableInfo, told: Mapping[BucketId, LogEnd]) -> SeenLogs | None:
        """Where its logs end, if they are those that the rows came from; None leaves it to other questions."""
        rows, stretches = self.rows, {}
        if not _is_same(self.info, info) or len(rows.ends) != info.bucket_count:
            return None
        for id_, end in rows.ends.items():
            window, one = rows.windows.get(id_), told.get(id_)
            if one is None or one.end < end or (window is None and one.end > end):
                return None
            if window is not None and (one.mark is None or one.mark != rows.marks.get(id_)):
                return None
            stretches[id_] = (end if window is None else window[0], one.end)
        return SeenLogs(rows.snapshot_id, stretches)


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

    def look(self, request: ReadRequest) -> KeptTable | None:
        """What is kept of a table; None also while others are at it, and where a glance does not tell that it holds."""
        with self._lock:
            slot = self._slots.get(_key(request))
        if slot is None or not slot.lock.acquire(blocking=False):
            return None
        try:
            if slot.info is None or slot.kept is None or not slot.kept.ends:
                return None
            return KeptTable(slot.info, slot.kept)
        finally:
            slot.lock.release()

    def rows(
        self,
        conn: Connection,
        table: Table,
        request: ReadRequest,
        plan: Plan,
        seen: HotRows | None = None,
        *,
        is_joined: bool,
    ) -> HotRows | None:
        """What is hot of a plan, to be held while it is used; None where rows are to be read without keeping them.

        `seen` is what was kept and was found to hold when this plan's ends of logs were asked for.
        """
        if not _is_kept(request, plan):
            return None
        info, slot = table.info, self._slot(_key(request))
        with slot.lock:
            slot.know(info)
            again, slot.is_asked_again = slot.is_asked_again, True
            if not (is_joined or again):
                return None
            kept = slot.kept
            found = self._find(slot, HotLoader(conn, table, request, self._bytes_max), info, request, plan, seen)
        if found is None or kept is None or found.tables != kept.tables:
            self._make_room()
        return found

    def clear(self) -> None:
        """Keep nothing; what queries hold stays until they end."""
        with self._lock:
            self._slots.clear()

    def _find(
        self,
        slot: _Slot,
        loader: HotLoader,
        info: TableInfo,
        request: ReadRequest,
        plan: Plan,
        seen: HotRows | None,
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
        marks: Mapping[BucketId, LogMark] = {}
        if kept is not None:
            marks = kept.marks if kept is seen else loader.marks(kept.windows)
            if not kept.is_marked(marks):
                columns, kept, slot.kept = kept.columns, None, None
        begun = kept or HotRows(columns, snapshot_id, {})
        if begun.windows != windows:  # before the rows: if the logs change between, the next query sees it
            marks = loader.marks(windows)
        ends = {id_: stop for id_, (_, stop) in (plan.stretches or {}).items()}
        if (begun.marks, begun.ends) != (marks, ends):
            begun = replace(begun, marks=marks, ends=ends)
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
        with _MEMORY.open("rb") as told:
            lines = (line.split() for line in told.read(_MEMORY_BYTES).splitlines())
        return {words[0].decode().rstrip(":"): int(words[1]) for words in lines if len(words) > 2}
    except (OSError, ValueError):  # another system
        return {}


def _key(request: ReadRequest) -> Hashable:
    return request.path, tuple(sorted(lake_options(request.options).items()))


def _is_same(one: TableInfo | None, other: TableInfo) -> bool:
    return one is not None and (one.table_id, one.schema_id) == (other.table_id, other.schema_id)


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
