"""FencedStore: a store that is written to only as long as it is ours."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from lakeward.errors import RetriableError
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore, StoredObject
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.metadata_store.port import MetadataStore
from lakeward.server.remote.access.ownership import CommonOwnership, Ownership

_log = logging.getLogger(__name__)
#: How old our knowledge may be when something is written (under a new name, so it does no harm), and when something is
#: deleted that another server may count on.
_WRITE_AGE_S = 15.0
_DELETE_AGE_S = 1.0


class FencedStore:
    """A RemoteStore around another one. Reads always pass."""

    def __init__(self, inner: RemoteStore, ownership: Ownership) -> None:
        self._inner = inner
        self.ownership = ownership

    @property
    def url(self) -> str:
        """The root, as clients are told it."""
        return self._inner.url

    async def put(self, path: str, data: bytes) -> None:
        """Store a small file, in place of what is there."""
        await self.ownership.sure(_WRITE_AGE_S)
        await self._inner.put(path, data)

    async def create(self, path: str, data: bytes) -> bool:
        """Store a small file unless one is there; whether it was stored."""
        await self.ownership.sure(_WRITE_AGE_S)
        return await self._inner.create(path, data)

    async def put_file(self, path: str, source: Path, *, pace: Pace | None = None) -> int:
        """Copy a local file into the store; its size."""
        await self.ownership.sure(_WRITE_AGE_S)
        return await self._inner.put_file(path, source, pace=pace)

    async def get(self, path: str) -> bytes:
        """A whole file."""
        return await self._inner.get(path)

    async def get_range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to, not including, `end`; fewer where the file ends before."""
        return await self._inner.get_range(path, start, end)

    async def get_file(self, path: str, target: Path) -> int:
        """Copy a file to a local one, which appears when it is whole; its size."""
        return await self._inner.get_file(path, target)

    async def head(self, path: str) -> StoredObject | None:
        """What is known of a file, None when there is none."""
        return await self._inner.head(path)

    def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """The files below a directory, in order of their paths."""
        return self._inner.list(prefix)

    async def delete(self, paths: Iterable[str]) -> None:
        """Remove files; those that are not there are fine."""
        await self.ownership.sure(_DELETE_AGE_S)
        await self._inner.delete(paths)

    async def delete_all(self, prefix: str) -> None:
        """Remove everything below a directory."""
        await self.ownership.sure(_DELETE_AGE_S)
        await self._inner.delete_all(prefix)

    async def tidy(self, prefix: str) -> None:
        """Remove what interrupted writes left below a directory; nobody may be writing there."""
        await self.ownership.sure(_DELETE_AGE_S)
        await self._inner.tidy(prefix)

    async def close(self) -> None:
        """Let go of connections."""
        await self._inner.close()


async def claim_store(store: RemoteStore, metadata: MetadataStore, clock: Clock, entropy: Entropy) -> FencedStore:
    """A store that is ours from now on; one that belongs to another server is refused.

    A store that does not answer becomes ours as soon as it does, and is not written to before.
    """
    ownership = Ownership(store, metadata, clock, entropy)
    try:
        await ownership.claim()
    except RetriableError as wrong:
        _log.warning("%s Nothing is written to it before this server has taken hold of it.", wrong.message)
    return FencedStore(store, ownership)


def share_store(
    store: RemoteStore, metadata: MetadataStore, clock: Clock, entropy: Entropy, identity: str
) -> FencedStore:
    """A store that another process of this server, known by its identity, has claimed."""
    return FencedStore(store, Ownership(store, metadata, clock, entropy, identity))


def common_store(store: RemoteStore, metadata: MetadataStore, clock: Clock, entropy: Entropy) -> FencedStore:
    """A store that all servers of a cluster write to."""
    return FencedStore(store, CommonOwnership(store, metadata, clock, entropy))
