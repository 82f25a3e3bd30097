"""MetadataBackup: the metadata file in remote storage, at most a second behind.

    lakeward/metadata/<epoch>-<number>.db.gz    the whole file; the highest name that can be read counts, two are kept

Whatever a pointer in the metadata has stopped naming may be deleted from remote storage only once a backup says so
too: `drain` waits for that.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

from lakeward.errors import InvalidError, LakewardError
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.remote.access.copy_trouble import CopyTrouble
from lakeward.server.remote.access.ownership import Ownership

BACKUPS = "lakeward/metadata"
SUFFIX = ".db.gz"
_KEPT = 2
#: Changes come in swarms; those that come within this time go together.
_GATHER_S = 0.3
_PACKING = 1
_SURE_S = 1.0
_LAST_S = 10.0


class MetadataBackup:
    """Copies the metadata after every change, in order, one copy at a time."""

    def __init__(
        self,
        metadata: SqliteMetadataStore,
        store: RemoteStore,
        ownership: Ownership,
        clock: Clock,
        lake_files: Callable[[], Iterable[tuple[str, Path]]] = tuple,
    ) -> None:
        """`lake_files` tells which small files on this machine the metadata names: path in the store, path here."""
        self._metadata = metadata
        self._store = store
        self._ownership = ownership
        self._lake_files = lake_files
        self._changes = 1  # nothing of this epoch is there yet
        self._copied = 0
        self._number = 0
        self._mirrored: set[str] = set()
        self._unnamed: set[str] = set()
        self._wanted = asyncio.Event()
        self._progress = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None
        self.trouble = CopyTrouble(f"backups of the metadata to {store.url}", clock.monotonic)

    @property
    def is_behind(self) -> bool:
        """Whether there are changes that are not in remote storage."""
        return self._copied < self._changes

    def begin(self) -> None:
        """Copy now, and after every change from now on."""
        self._metadata.subscribe(self._note_change)
        self._wanted.set()
        self._task = asyncio.get_running_loop().create_task(self._copy_changes())

    def _note_change(self) -> None:
        self._changes += 1
        self._wanted.set()

    async def drain(self) -> None:
        """Wait until all changes up to now are in remote storage."""
        number = self._changes
        async with self._progress:
            await self._progress.wait_for(lambda: self._copied >= number)

    async def _copy_changes(self) -> None:
        while True:
            await self._wanted.wait()
            await asyncio.sleep(_GATHER_S)
            self._wanted.clear()
            try:
                await self.copy()
            except InvalidError:
                return  # another server has taken over, and says so
            except Exception as wrong:  # noqa: BLE001 - whatever it is, later changes must not be lost with it
                self._wanted.set()
                await asyncio.sleep(self.trouble.note_failure(wrong))

    async def copy(self) -> None:
        """Copy the metadata as it is now; what was there before goes, except for the one before."""
        number = self._changes
        await self._ownership.sure(_SURE_S)
        named = dict(self._lake_files())
        for path in named.keys() - self._mirrored:
            await self._store.put_file(path, named[path])
            self._mirrored.add(path)
        content = await asyncio.to_thread(self._pack)
        name = f"{BACKUPS}/{self._ownership.epoch:010d}-{self._number:012d}{SUFFIX}"
        await self._store.put(name, content)
        self._number += 1
        self.trouble.note_success()
        async with self._progress:
            self._copied = max(self._copied, number)
            self._progress.notify_all()
        stored = await stored_backups(self._store)
        unnamed = self._mirrored - named.keys() - self._unnamed
        await self._store.delete([*stored[_KEPT:], *self._unnamed])
        self._mirrored -= self._unnamed
        self._unnamed = unnamed  # the backup before this one still names them

    def _pack(self) -> bytes:
        return gzip.compress(self._metadata.image().to_bytes(), _PACKING)

    async def stop(self) -> None:
        """Copy once more if there is something to copy, then no more."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._task = None
        if self.is_behind:
            try:
                await asyncio.wait_for(self.copy(), _LAST_S)
            except (LakewardError, TimeoutError) as wrong:
                self.trouble.note_failure(wrong)


async def stored_backups(store: RemoteStore) -> list[str]:
    """The backups in a store, newest first."""
    found = [one.path async for one in store.list(BACKUPS) if one.path.endswith(SUFFIX)]
    return sorted(found, reverse=True)


def unpack(content: bytes) -> bytes:
    """A backup as a metadata file; raises ValueError when it is damaged."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as wrong:
        raise ValueError(str(wrong)) from wrong
