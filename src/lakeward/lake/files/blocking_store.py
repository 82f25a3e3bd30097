"""BlockingStore: a remote store for code that waits for its answers; one for each bucket in a process."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from lakeward.remote.open_store import open_store
from lakeward.remote.stores.store import RemoteStore, StoredObject

T = TypeVar("T")


class BlockingStore:
    """The calls of a RemoteStore that lake tables need, from any thread."""

    def __init__(self, store: RemoteStore) -> None:
        self._store = store
        self.url = store.url

    def put(self, path: str, data: bytes) -> None:
        """Store a small file, in place of what is there."""
        _run(self._store.put(path, data))

    def create(self, path: str, data: bytes) -> bool:
        """Store a small file unless one is there; whether it was stored."""
        return _run(self._store.create(path, data))

    def put_file(self, path: str, source: Path) -> int:
        """Copy a local file into the store; its size."""
        return _run(self._store.put_file(path, source))

    def get(self, path: str) -> bytes:
        """A whole file."""
        return _run(self._store.get(path))

    def get_range(self, path: str, start: int, end: int) -> bytes:
        """A part of a file."""
        return _run(self._store.get_range(path, start, end))

    def head(self, path: str) -> StoredObject | None:
        """What is known of a file, None when there is none."""
        return _run(self._store.head(path))

    def list(self, prefix: str) -> list[StoredObject]:
        """The files below a directory, in order of their paths."""

        async def list_all() -> list[StoredObject]:
            return [found async for found in self._store.list(prefix)]

        return _run(list_all())

    def delete(self, paths: Iterable[str]) -> None:
        """Remove files; those that are not there are fine."""
        _run(self._store.delete(paths))


def blocking_store(url: str, settings: Mapping[str, str]) -> BlockingStore:
    """The store of a URL; the same one whenever it is asked for in the same way."""
    with _lock:
        return _open(os.getpid(), url, tuple(sorted(settings.items())))


_lock = threading.Lock()


@cache
def _open(_process: int, url: str, settings: tuple[tuple[str, str], ...]) -> BlockingStore:
    return BlockingStore(open_store(url, dict(settings)))


@cache
def _loop(_process: int) -> asyncio.AbstractEventLoop:
    """A loop on a thread of its own, which ends with the process; a forked worker has its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="lakeward-lake-store", daemon=True).start()
    return loop


def _run(work: Coroutine[Any, Any, T]) -> T:
    with _lock:
        loop = _loop(os.getpid())
    return asyncio.run_coroutine_threadsafe(work, loop).result()
