"""What the plans of a connection remember of lakes: tables, for a moment, and the files of snapshots.

Neither makes an answer stale. Of an older snapshot the log has the rest, and where logs end is asked for every plan.
The files of a snapshot never change. Reads of the lake alone do not take a remembered table, since for them the newest
snapshot is the answer; nor do those of partitions, whose last rows may be in the lake alone at any moment.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from lakeward.lake.port import LakeReader, LakeSnapshot
from lakeward.model.table import TableInfo
from lakeward.options.spark import lake_options
from lakeward.query.lake.cold_part import ColdPart, open_reader
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection

_LIFE_S = 1.0
_TABLES_MAX = 64
#: Files that all remembered snapshots may have together; one costs about half a kilobyte.
_FILES_MAX = 100_000

_lock = Lock()
_of_connections: WeakKeyDictionary[AsyncConnection, LakeCache] = WeakKeyDictionary()


class LakeCache:
    """Safe to share between threads; two that ask at once may both look, and the later answer is kept."""

    def __init__(self, clock: Clock, life_s: float = _LIFE_S, files_max: int = _FILES_MAX) -> None:
        self._clock = clock
        self._life_s = life_s
        self._files_max = files_max
        self._lock = Lock()
        self._readers: OrderedDict[Hashable, tuple[float, LakeReader]] = OrderedDict()
        self._parts: OrderedDict[Hashable, ColdPart] = OrderedDict()
        self._files = 0

    def reader(self, info: TableInfo, options: Mapping[str, str]) -> LakeReader | None:
        """The lake's table as it was a moment ago at most; None, which is not remembered, when it is not there yet."""
        key = (info.path, info.table_id, info.schema_id, tuple(sorted(lake_options(options).items())))
        now_s = self._clock.monotonic()
        with self._lock:
            known = self._readers.get(key)
            if known is not None and now_s - known[0] < self._life_s:
                return known[1]
        found = open_reader(info, options)
        with self._lock:
            self._readers.pop(key, None)
            if found is not None:
                self._readers[key] = (now_s, found)
            while len(self._readers) > _TABLES_MAX:
                self._readers.popitem(last=False)
        return found

    def forget_readers(self) -> None:
        """A plan was overtaken: the next one sees the newest snapshots."""
        with self._lock:
            self._readers.clear()

    def cold_part(self, key: Hashable, make: Callable[[], ColdPart]) -> ColdPart:
        """What a snapshot holds; `key` is all that it depends on. The least used leave first."""
        with self._lock:
            known = self._parts.get(key)
            if known is not None:
                self._parts.move_to_end(key)
                return known
        found = make()
        with self._lock:
            if key not in self._parts and found.files_in_all <= self._files_max:
                self._parts[key] = found
                self._files += found.files_in_all
            while self._files > self._files_max:
                _, gone = self._parts.popitem(last=False)
                self._files -= gone.files_in_all
        return found


def cold_key(info: TableInfo, snapshot: LakeSnapshot, request: ReadRequest, partitions: Iterable[int]) -> Hashable:
    """All that the files of a plan depend on. Ids of snapshots may come again in a lake's table that was made again."""
    return (
        (info.path, info.table_id, info.schema_id),
        tuple(sorted(lake_options(request.options).items())),
        (snapshot.snapshot_id, snapshot.round_id, snapshot.committed_ms),
        repr(request.filters),  # 1 and true are the same to Python
        tuple(partitions),
    )


def lake_cache_of(connection: AsyncConnection) -> LakeCache:
    """What the plans of a connection remember."""
    with _lock:
        found = _of_connections.get(connection)
        if found is None:
            found = _of_connections[connection] = LakeCache(SystemClock())
        return found
