"""RemoteIndexes: the indexes of remote segments, read when they are needed and kept as long as there is room."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from lakeward.errors import ErrorCode
from lakeward.remote.formats.layout import INDEX, TIME_INDEX, segment_file
from lakeward.remote.formats.log_manifest import RemoteSegment
from lakeward.remote.stores.store import RemoteStore
from lakeward.storage.log.segment.log_index import LogIndex

#: What an index takes beside its entries.
_OVERHEAD_BYTES = 500


class RemoteIndexes:
    """At most so many bytes of indexes; those used longest ago go first."""

    def __init__(self, store: RemoteStore, bytes_max: int) -> None:
        self._store = store
        self._bytes_max = bytes_max
        self._indexes: OrderedDict[str, LogIndex] = OrderedDict()
        self._bytes = 0
        self._loading: dict[str, asyncio.Task[LogIndex]] = {}

    def __len__(self) -> int:
        return len(self._indexes)

    def peek(self, segment: RemoteSegment) -> LogIndex | None:
        """The indexes of a segment, if they are here."""
        found = self._indexes.get(segment.segment_id)
        if found is not None:
            self._indexes.move_to_end(segment.segment_id)
        return found

    async def get(self, log_directory: str, segment: RemoteSegment) -> LogIndex:
        """The indexes of a segment."""
        found = self.peek(segment)
        if found is not None:
            return found
        key = segment.segment_id
        loading = self._loading.get(key)
        if loading is None:
            loading = self._loading[key] = asyncio.ensure_future(self._load(log_directory, segment))
            loading.add_done_callback(lambda _: self._loading.pop(key, None))
        return await asyncio.shield(loading)

    async def _load(self, log_directory: str, segment: RemoteSegment) -> LogIndex:
        start = segment.start_offset
        paths = [segment_file(log_directory, segment.segment_id, start, suffix) for suffix in (INDEX, TIME_INDEX)]
        offsets, times = await asyncio.gather(*(self._store.get(path) for path in paths))
        index = LogIndex.of_files(offsets, times, segment.size_bytes)
        if index is None:
            raise ErrorCode.LOG_STORAGE.error(f"The index {self._store.url}/{paths[0]} is damaged.")
        self._indexes[segment.segment_id] = index
        self._bytes += index.size_bytes + _OVERHEAD_BYTES
        while self._bytes > self._bytes_max and len(self._indexes) > 1:
            self._bytes -= self._indexes.popitem(last=False)[1].size_bytes + _OVERHEAD_BYTES
        return index
