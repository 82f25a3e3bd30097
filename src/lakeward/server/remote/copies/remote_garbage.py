"""RemoteGarbage: files of the store that nothing names any more.

Replaced manifests and expired segments go after a while, for readers under way. Dropped tables are noted in the
metadata store first, so that a restart goes on with them. What a crash left of a copy is found when its bucket is
copied for the first time after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterable
from typing import NamedTuple

from lakeward.remote.formats.layout import manifest_file, segment_directory
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.server.metadata_store.port import Document, MetadataStore
from lakeward.server.remote.access.copy_trouble import CopyTrouble

AREA = "remote-drops"


class _Due(NamedTuple):
    at_ms: int
    path: str
    is_directory: bool


class RemoteGarbage:
    """What is to be deleted, and when."""

    def __init__(self, metadata: MetadataStore, store: RemoteStore, clock: Clock, delay_ms: int) -> None:
        self._metadata = metadata
        self._store = store
        self._clock = clock
        self._delay_ms = delay_ms
        self._due: list[_Due] = []
        self._drops: dict[str, tuple[Awaitable[object], ...]] = {d.key: () for d in metadata.documents(AREA)}
        self._trouble = CopyTrouble(f"deletions in {store.url}", clock.monotonic)
        self._not_before_s = 0.0
        self._work: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._due) + len(self._drops)

    # -- what is garbage

    def discard_later(self, log_directory: str, manifest_path: str | None, segment_ids: Iterable[str]) -> None:
        """A manifest has been replaced, and segments are no longer named by the new one."""
        at_ms = self._clock.now_ms() + self._delay_ms
        if manifest_path is not None:
            self._due.append(_Due(at_ms, manifest_path, is_directory=False))
        self._due += [_Due(at_ms, segment_directory(log_directory, one), is_directory=True) for one in segment_ids]

    def discard_now(self, log_directory: str, segment_ids: Iterable[str], manifest_id: str | None = None) -> None:
        """Files that nobody was ever told of; they may go at once."""
        self._due += [_Due(0, segment_directory(log_directory, one), is_directory=True) for one in segment_ids]
        if manifest_id is not None:
            self._due.append(_Due(0, manifest_file(log_directory, manifest_id), is_directory=False))

    def drop(self, directory: str, after: Iterable[Awaitable[object]] = ()) -> None:
        """All of a table or partition goes, as soon as some work on it has ended."""
        with self._metadata.change() as change:
            change.put_document(Document(AREA, directory, ""))
        self._drops[directory] = tuple(after)
        self.collect()

    async def sweep(self, manifest: LogManifest, manifest_path: str | None) -> None:
        """Remove what a crash left in a bucket's directory; nobody may be copying there."""
        directory = manifest.place.log
        named = {segment.segment_id for segment in manifest.segments}
        waiting = {one.path for one in self._due}
        orphans = []
        async for found in self._store.list(directory):
            part = found.path.removeprefix(directory + "/").split("/", 1)[0]
            is_named = part in named or found.path == manifest_path
            if not is_named and found.path not in waiting and segment_directory(directory, part) not in waiting:
                orphans.append(found.path)
        await self._store.delete(orphans)
        await self._store.tidy(directory)

    # -- removing it

    def collect(self) -> None:
        """Delete what is due, in the background; call it every now and then."""
        if self._work is None and self._clock.monotonic() >= self._not_before_s and (self._drops or self._ready()):
            self._work = asyncio.get_running_loop().create_task(self._collect())
            self._work.add_done_callback(self._on_end)

    def _ready(self) -> bool:
        now_ms = self._clock.now_ms()
        return any(one.at_ms <= now_ms for one in self._due)

    def _on_end(self, work: asyncio.Task[None]) -> None:
        self._work = None
        if work.cancelled():
            return
        wrong = work.exception()
        if isinstance(wrong, Exception):
            self._not_before_s = self._clock.monotonic() + self._trouble.note_failure(wrong)

    async def _collect(self) -> None:
        for directory, after in list(self._drops.items()):
            await asyncio.gather(*after, return_exceptions=True)
            await self._store.delete_all(directory)
            with self._metadata.change() as change:
                change.delete_document(AREA, directory)
            self._drops.pop(directory, None)
        now_ms = self._clock.now_ms()
        ready = [one for one in self._due if one.at_ms <= now_ms]
        await self._store.delete([one.path for one in ready if not one.is_directory])
        for one in ready:
            if one.is_directory:
                await self._store.delete_all(one.path)
        done: Collection[_Due] = set(ready)
        self._due = [one for one in self._due if one not in done]
        self._trouble.note_success()

    async def stop(self) -> None:
        """Let the rest be for the next time."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
