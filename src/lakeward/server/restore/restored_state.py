"""The state of a bucket: the newest snapshot that the remote log reaches, older ones if it is no good."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lakeward.errors import NotFoundError
from lakeward.remote.formats.log_manifest import LogManifest
from lakeward.remote.formats.snapshot_metadata import path_in_store
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.books.kv_snapshots import RemoteSnapshot
from lakeward.server.remote.copies.snapshot_files import read_metadata
from lakeward.storage.kv.store.snapshots import newest_good_snapshot

_PARALLEL = 8


@dataclass(slots=True)
class RestoredState:
    """What a bucket's state is rebuilt from."""

    #: The offset from which the log is needed.
    log_offset: int
    row_count: int
    size_bytes: int
    #: Snapshots that cannot be used, and never will be.
    useless: set[int]
    troubles: list[str]
    #: Whether neither snapshot nor log tells what the rows were before `log_offset`.
    is_lost: bool = False


async def restore_state(
    store: RemoteStore, manifest: LogManifest, snapshots: Sequence[RemoteSnapshot], directory: Path
) -> RestoredState:
    """Bring a snapshot; without any the state is rebuilt from the whole log."""
    end = max(manifest.copied_end_offset, 0)
    first = end if manifest.start_offset is None else manifest.start_offset
    useless: set[int] = set()
    troubles: list[str] = []
    for snapshot in reversed(snapshots):
        if not first <= snapshot.log_offset <= end:
            useless.add(snapshot.snapshot_id)
            troubles.append(
                f"snapshot {snapshot.snapshot_id} goes on at offset {snapshot.log_offset}, but the remote log has "
                f"offsets {first} to {end}"
            )
            continue
        try:
            row_count, size = await _fetch(store, manifest.place.kv, snapshot, directory)
        except (NotFoundError, ValueError) as wrong:
            shutil.rmtree(directory, ignore_errors=True)
            useless.add(snapshot.snapshot_id)
            troubles.append(f"snapshot {snapshot.snapshot_id} is damaged ({wrong}), an older one is taken")
            continue
        return RestoredState(snapshot.log_offset, row_count, size, useless, troubles)
    if first > 0:
        troubles.append(f"no snapshot is left and the remote log begins at offset {first}: older rows are lost")
    return RestoredState(first, 0, 0, useless, troubles, is_lost=first > 0)


async def _fetch(store: RemoteStore, kv_directory: str, snapshot: RemoteSnapshot, directory: Path) -> tuple[int, int]:
    """Bring one snapshot, all of it as it was written; its rows and bytes."""
    metadata = await read_metadata(store, snapshot.metadata_path)
    target = directory / f"snapshot-{snapshot.snapshot_id + 1:010d}"
    target.mkdir(parents=True, exist_ok=True)
    turns = asyncio.Semaphore(_PARALLEL)

    async def fetch(path: str, name: str) -> int:
        if "/" in name or name in {"", ".", ".."}:
            raise ValueError(f"'{name}' is no name of a file")
        async with turns:
            return await store.get_file(path_in_store(path, kv_directory), target / name)

    done = await asyncio.gather(*(fetch(file.path, file.name) for file in metadata.files), return_exceptions=True)
    for one in done:
        if isinstance(one, BaseException):
            raise one
    good = await asyncio.to_thread(newest_good_snapshot, LocalFiles(), directory)
    if good is None or good.log_offset != snapshot.log_offset:
        raise ValueError("a file is not as it was written")
    return good.row_count, sum(file.size_bytes for file in metadata.files)
