"""ObjectSource: segments in an object store, got piece by piece into the cache of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from urllib.parse import urlsplit

from lakeward.client.remote.access import RemoteAccess
from lakeward.client.remote.piece_cache import PieceCache
from lakeward.client.remote.segment import Segment
from lakeward.errors import NotFoundError
from lakeward.records.batch.column_sums import sums_bytes_max

_STRETCHES_PER_PIECE = 4


class ObjectSource:
    """Ranged gets, a few at a time over all scans of a connection."""

    piece_bytes = 4 << 20
    gap_bytes = 128 << 10
    batch_bytes_min = 512 << 10

    def __init__(self, access: RemoteAccess, cache: PieceCache, workers: Executor, at_once: int) -> None:
        self._access = access
        self._cache = cache
        self._workers = workers
        self._turns = asyncio.Semaphore(at_once)
        # Stretches are small: what a piece takes in bytes, several of them take in time.
        self._short_turns = asyncio.Semaphore(at_once * _STRETCHES_PER_PIECE)

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""

        async def load() -> bytes:
            async with self._turns:
                return await self._get_piece(segment, number)

        return await self._cache.piece(f"{segment.url}#{number}", load, self._workers)

    async def stretches(self, segment: Segment, places: Sequence[tuple[int, int]]) -> memoryview:
        """The bytes of several stretches of a segment, one behind the other; fewer where the segment ends."""

        async def load() -> bytes:
            async with asyncio.TaskGroup() as group:
                parts = [group.create_task(self._get_stretch(segment, *place)) for place in places]
            return b"".join(part.result() for part in parts)

        key = f"{segment.url}#{','.join(f'{start}-{stop}' for start, stop in places)}"
        try:
            return await self._cache.piece(key, load, self._workers)
        except ExceptionGroup as several:
            raise several.exceptions[0] from several

    async def columns(self, segment: Segment) -> memoryview | None:
        """The sums of a segment's columns, None when it has none."""

        async def load() -> bytes:
            return await self._get(segment, segment.columns_name, 0, sums_bytes_max(segment.size_bytes))

        try:
            return await self._cache.piece(f"{segment.url}#columns", load, self._workers)
        except NotFoundError:
            return None

    async def _get_stretch(self, segment: Segment, start: int, stop: int) -> bytes:
        async with self._short_turns:
            return await self._get(segment, segment.name, start, stop)

    async def _get_piece(self, segment: Segment, number: int) -> bytes:
        start = number * self.piece_bytes
        end = min(start + self.piece_bytes, segment.size_bytes)
        data = await self._get(segment, segment.name, start, end)
        if len(data) != end - start:
            raise segment.damage_error(f"it has {start + len(data)} of {segment.size_bytes} bytes")
        return data

    async def _get(self, segment: Segment, name: str, start: int, end: int) -> bytes:
        parts = urlsplit(segment.directory)
        path = f"{parts.path.strip('/')}/{name}"
        return await self._access.read(f"{parts.scheme}://{parts.netloc}", path, start, end)
