"""ObjectSource: segments in an object store, got piece by piece into the cache of this process."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor
from urllib.parse import urlsplit

from lakeward.client.remote.access import RemoteAccess
from lakeward.client.remote.piece_cache import PieceCache
from lakeward.client.remote.segment import Segment


class ObjectSource:
    """Ranged gets, a few at a time over all scans of a connection."""

    piece_bytes = 4 << 20

    def __init__(self, access: RemoteAccess, cache: PieceCache, workers: Executor, at_once: int) -> None:
        self._access = access
        self._cache = cache
        self._workers = workers
        self._turns = asyncio.Semaphore(at_once)

    async def piece(self, segment: Segment, number: int) -> memoryview:
        """The bytes of one piece; shorter where the segment ends."""

        async def load() -> bytes:
            async with self._turns:
                return await self._get_piece(segment, number)

        return await self._cache.piece(f"{segment.url}#{number}", load, self._workers)

    async def _get_piece(self, segment: Segment, number: int) -> bytes:
        parts = urlsplit(segment.directory)
        start = number * self.piece_bytes
        end = min(start + self.piece_bytes, segment.size_bytes)
        path = f"{parts.path.strip('/')}/{segment.name}"
        data = await self._access.read(f"{parts.scheme}://{parts.netloc}", path, start, end)
        if len(data) != end - start:
            raise segment.damage_error(f"it has {start + len(data)} of {segment.size_bytes} bytes")
        return data
