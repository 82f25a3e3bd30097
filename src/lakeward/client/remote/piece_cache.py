"""PieceCache: pieces of remote segments on disk, the least recently used removed first.

One cache serves all connections of a process that use the same directory, from whatever event loop. A file is mapped
when its piece is read; a mapping outlives the file, so anything can be removed at any time.
"""

from __future__ import annotations

import asyncio
import logging
import mmap
import os
import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from pathlib import Path

from lakeward.client.remote.cache_directory import CacheDirectory

_log = logging.getLogger("lakeward.client")


class PieceCache:
    """Pieces by key, up to `limit_bytes` of them. Use `shared_cache` and `release`."""

    def __init__(self, parent: Path, limit_bytes: int) -> None:
        self._directory = CacheDirectory(parent)
        self.limit_bytes = limit_bytes
        self.users = 0
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[Path, int]] = OrderedDict()
        self._loading: dict[str, Future[memoryview]] = {}
        self._total_bytes = 0
        self._made = 0
        self._is_warned = False
        self._is_closed = False

    async def piece(self, key: str, load: Callable[[], Awaitable[bytes]], workers: Executor) -> memoryview:
        """The piece of a key; loaded once, however many ask for it at the same time."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        while True:
            with self._lock:
                under_way = self._loading.get(key)
                if under_way is None:
                    mine = self._loading[key] = Future()
                    break
            try:
                return await asyncio.shield(asyncio.wrap_future(under_way))
            except asyncio.CancelledError:
                if task.cancelling() or not under_way.cancelled():
                    raise
                # Who loaded it was cancelled, not we: now it is our turn.
        try:
            found = await loop.run_in_executor(workers, self._find, key)
            if found is None:
                found = await loop.run_in_executor(workers, self._keep, key, await load())
        except asyncio.CancelledError:
            self._end_load(key)
            mine.cancel()
            raise
        except BaseException as wrong:
            self._end_load(key)
            mine.set_exception(wrong)
            raise
        self._end_load(key)
        mine.set_result(found)
        return found

    def _end_load(self, key: str) -> None:
        with self._lock:
            del self._loading[key]

    # -- on a worker thread -------------------------------------------------------------------------------------------

    def _find(self, key: str) -> memoryview | None:
        with self._lock:
            found = self._files.get(key)
            if found is None:
                return None
            self._files.move_to_end(key)
        try:
            return _map(found[0], found[1])
        except OSError:
            self._forget(key)
            return None

    def _keep(self, key: str, data: bytes) -> memoryview:
        with self._lock:
            self._made += 1
            path = self._directory.path / f"{self._made}.piece"
        try:
            path.write_bytes(data)
            mapped = _map(path, len(data))
        except OSError as wrong:
            self._warn(wrong)
            path.unlink(missing_ok=True)
            return memoryview(data)
        with self._lock:
            self._files[key] = (path, len(data))
            self._total_bytes += len(data)
        self._make_room()
        return mapped

    def _make_room(self) -> None:
        while True:
            with self._lock:
                if self._total_bytes <= self.limit_bytes:
                    return
                path = self._remove(next(iter(self._files)))
            path.unlink(missing_ok=True)

    def _forget(self, key: str) -> None:
        with self._lock:
            if key in self._files:
                self._remove(key)

    def _remove(self, key: str) -> Path:
        path, size = self._files.pop(key)
        self._total_bytes -= size
        return path

    def _warn(self, wrong: OSError) -> None:
        """Without a file a piece stays in memory while it is read: slower for others, wrong for nobody."""
        if not self._is_warned and not self._is_closed:
            self._is_warned = True
            _log.warning("Remote log segments cannot be kept in %s: %s", self._directory.path, wrong)

    def close(self) -> None:
        """Remove all files."""
        self._is_closed = True
        self._directory.remove()


_shared: dict[tuple[int, Path], PieceCache] = {}
_sharing = threading.Lock()


def shared_cache(parent: Path, limit_bytes: int) -> PieceCache:
    """The cache of this process in a directory; `release` it. The largest limit that was asked for counts."""
    key = (os.getpid(), parent)
    with _sharing:
        cache = _shared.get(key)
        if cache is None:
            cache = _shared[key] = PieceCache(parent, limit_bytes)
        cache.users += 1
        cache.limit_bytes = max(cache.limit_bytes, limit_bytes)
        return cache


def release(parent: Path) -> None:
    """One user less; the last one's leaving removes the files."""
    key = (os.getpid(), parent)
    with _sharing:
        cache = _shared.get(key)
        if cache is None:
            return
        cache.users -= 1
        if not cache.users:
            del _shared[key]
            cache.close()


def _map(path: Path, size: int) -> memoryview:
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
