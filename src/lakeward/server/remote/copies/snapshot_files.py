"""The files of one bucket's snapshots in remote storage: which are there, which a new snapshot still lacks.

A file that never changes and is in an earlier snapshot with the same name, size and checksum is not copied again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.remote.formats.snapshot_metadata import (
    FILE_NAME,
    SHARED,
    SnapshotFile,
    SnapshotMetadata,
    path_in_store,
    snapshot_directory,
)
from lakeward.remote.stores.pace import Pace
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.entropy import Entropy
from lakeward.server.books.kv_snapshots import RemoteSnapshot
from lakeward.storage.kv.store.snapshots import MANIFEST, Snapshot

#: Files that an engine never changes once they are written.
_IMMUTABLE = (".sst", ".blob")
_PARALLEL = 4

_Identity = tuple[str, int, int]


@dataclass(slots=True)
class Upload:
    """A snapshot whose files are in the store; nothing names them yet."""

    metadata: SnapshotMetadata
    #: What was copied for it, to be removed if it is abandoned.
    new_paths: list[str] = field(default_factory=list)


class SnapshotFiles:
    """One bucket's directory in the store."""

    def __init__(self, store: RemoteStore, directory: str, bucket: TableBucket) -> None:
        self._store = store
        self._directory = directory
        self._bucket = bucket
        self._known: dict[_Identity, SnapshotFile] = {}
        self._metadata: dict[int, SnapshotMetadata] = {}
        self.is_swept = False

    # -- reading

    async def metadata(self, snapshot: RemoteSnapshot) -> SnapshotMetadata:
        """What a snapshot consists of."""
        found = self._metadata.get(snapshot.snapshot_id)
        if found is None:
            found = await read_metadata(self._store, snapshot.metadata_path)
            self._metadata[snapshot.snapshot_id] = found
        return found

    async def learn(self, snapshots: Iterable[RemoteSnapshot]) -> None:
        """Find out which files earlier snapshots have, if that is not known."""
        for snapshot in snapshots:
            if snapshot.snapshot_id in self._metadata:
                continue
            try:
                metadata = await self.metadata(snapshot)
                self._remember(metadata, await read_identities(self._store, metadata, self._directory))
            except (NotFoundError, ValueError):
                continue  # damaged: nothing of it is used again

    def know_only(self, snapshots: Iterable[RemoteSnapshot]) -> None:
        """Somebody else has removed all others: their files are there no more."""
        kept = {one.snapshot_id for one in snapshots}
        self._metadata = {number: found for number, found in self._metadata.items() if number in kept}
        needed = {file.path for found in self._metadata.values() for file in found.files}
        self._known = {identity: file for identity, file in self._known.items() if file.path in needed}

    def _remember(self, metadata: SnapshotMetadata, identities: dict[str, tuple[int, int]]) -> None:
        for file in metadata.shared_files:
            size_and_checksum = identities.get(file.name)
            if size_and_checksum is not None:
                self._known[file.name, *size_and_checksum] = file

    # -- writing

    async def upload(self, snapshot: Snapshot, snapshot_id: int, entropy: Entropy, pace: Pace | None) -> Upload:
        """Copy what the store lacks of a snapshot. Whatever fails, nothing stays behind."""
        own_directory = snapshot_directory(self._directory, snapshot_id)
        shared: list[SnapshotFile] = []
        own: list[SnapshotFile] = []
        work: list[tuple[str, str, int]] = []
        for name, (size, crc) in {**snapshot.files, MANIFEST: (_size_of_manifest(snapshot), 0)}.items():
            is_shared = name.endswith(_IMMUTABLE)
            known = self._known.get((name, size, crc)) if is_shared else None
            if known is None:
                parent = f"{self._directory}/{SHARED}" if is_shared else own_directory
                path = f"{parent}/{entropy.uuid()}"
                work.append((name, path, size))
                known = SnapshotFile(f"{self._store.url}/{path}", size, name)
            (shared if is_shared else own).append(known)
        new_paths = [path for _, path, _ in work]
        try:
            await self._copy(snapshot, work, pace)
        except BaseException:
            await self.discard(new_paths)
            raise
        metadata = SnapshotMetadata(
            bucket=self._bucket,
            snapshot_id=snapshot_id,
            location=f"{self._store.url}/{own_directory}",
            shared_files=tuple(shared),
            own_files=tuple(own),
            incremental_bytes=sum(size for _, _, size in work),
            log_offset=snapshot.log_offset,
            row_count=snapshot.row_count,
        )
        return Upload(metadata, new_paths)

    async def _copy(self, snapshot: Snapshot, work: Sequence[tuple[str, str, int]], pace: Pace | None) -> None:
        turns = asyncio.Semaphore(_PARALLEL)
        failures: list[BaseException] = []

        async def copy(name: str, path: str, size: int) -> None:
            async with turns:
                if failures:
                    return
                try:
                    arrived = await self._store.put_file(path, snapshot.path / name, pace=pace)
                    if arrived != size:
                        raise ErrorCode.KV_STORAGE.error(
                            f"Of {snapshot.path / name} {arrived} bytes arrived and not {size}."
                        )
                except Exception as wrong:  # noqa: BLE001 - raised below, when no file is under way any more
                    failures.append(wrong)

        await asyncio.gather(*(copy(*one) for one in work))
        for wrong in failures:
            raise wrong

    async def seal(self, uploaded: Upload, snapshot: Snapshot) -> str:
        """Write the snapshot's metadata, which makes it whole; its path."""
        metadata = uploaded.metadata
        path = f"{snapshot_directory(self._directory, metadata.snapshot_id)}/{FILE_NAME}"
        uploaded.new_paths.append(path)
        await self._store.put(path, metadata.to_json())
        self._metadata[metadata.snapshot_id] = metadata
        self._remember(metadata, dict(snapshot.files))
        return path

    def sweep_again(self) -> None:
        """Something may be left that nothing names: it is looked for before the next copy."""
        self.is_swept = False

    async def discard(self, paths: Sequence[str]) -> None:
        """Remove files that nothing names; if that fails too, the next sweep finds them."""
        self.is_swept = False
        with suppress(LakewardError):
            await self._store.delete(paths)

    # -- removing

    async def remove(self, gone: Iterable[RemoteSnapshot], left: Iterable[RemoteSnapshot]) -> None:
        """Remove the files of snapshots, but not those that others have too."""
        needed = {file.path for one in left for file in (await self.metadata(one)).files}
        paths: list[str] = []
        for snapshot in gone:
            try:
                metadata = await self.metadata(snapshot)
            except (NotFoundError, ValueError):
                continue
            paths += [self._relative(file.path) for file in metadata.files if file.path not in needed]
            paths.append(snapshot.metadata_path)
            self._metadata.pop(snapshot.snapshot_id, None)
        self._known = {identity: file for identity, file in self._known.items() if file.path in needed}
        await self._store.delete(paths)

    async def sweep(self, snapshots: Iterable[RemoteSnapshot]) -> None:
        """Remove what no snapshot names: leftovers of crashes. Nobody may be copying here."""
        needed: set[str] = set()
        for one in snapshots:
            needed |= {one.metadata_path, *(self._relative(file.path) for file in (await self.metadata(one)).files)}
        orphans = [found.path async for found in self._store.list(self._directory) if found.path not in needed]
        await self._store.delete(orphans)
        self.is_swept = True

    def _relative(self, path: str) -> str:
        return path_in_store(path, self._directory)


async def read_metadata(store: RemoteStore, path: str) -> SnapshotMetadata:
    """A snapshot's metadata; raises NotFoundError when it is gone, ValueError when it is damaged."""
    return SnapshotMetadata.of_json(await store.get(path))


async def read_identities(store: RemoteStore, metadata: SnapshotMetadata, directory: str) -> dict[str, tuple[int, int]]:
    """Size and checksum of each file, as the server wrote them down when it took the snapshot."""
    for file in metadata.own_files:
        if file.name == MANIFEST:
            node = json.loads(await store.get(path_in_store(file.path, directory)))
            return {name: (facts["bytes"], facts["crc32c"]) for name, facts in node["files"].items()}
    return {}


def _size_of_manifest(snapshot: Snapshot) -> int:
    return snapshot.disk.facts(snapshot.path / MANIFEST).size
