"""What a remote directory says of the server that wrote it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.remote.stores.store import RemoteStore
from lakeward.server.remote.access.ownership import ALIVE, TABLETS_ALIVE
from lakeward.server.remote.copies.metadata_backup import stored_backups, unpack

#: A server gives a sign of life every five seconds; one that has been silent for so long is taken to be gone.
ALIVE_MS = 20_000
_PROBE = "lakeward/restore-probe"


@dataclass(frozen=True, slots=True)
class SignOfLife:
    """The last one of a server."""

    at_ms: int
    age_ms: int
    was_stopped: bool
    #: Log ends of buckets that had more than was copied.
    ends: Mapping[TableBucket, int] = field(default_factory=dict)


async def sign_of_life(store: RemoteStore) -> SignOfLife | None:
    """The last sign of life, its age measured by the store's own clock; the server's with those of its tablet servers.

    A log never gets shorter, so what a tablet server said of a bucket that is another's by now holds still.
    """
    await store.put(_PROBE, b"")
    now = await store.head(_PROBE)
    await store.delete([_PROBE])
    if now is None:
        return None
    own = await _sign(store, ALIVE, now.modified_ms)
    if own is None:
        return None
    epoch, seen = own
    ends, tablets = dict(seen.ends), []
    for path in await tablets_signs(store):
        told = await _sign(store, path, now.modified_ms)
        if told is None:
            continue
        for bucket, end in told[1].ends.items():
            ends[bucket] = max(ends.get(bucket, 0), end)
        if told[0] == epoch:
            tablets.append(told[1])
    all_of_them = [seen, *tablets]
    return SignOfLife(
        min(one.at_ms for one in all_of_them),
        min(one.age_ms for one in all_of_them),
        all(one.was_stopped for one in all_of_them),
        ends,
    )


async def tablets_signs(store: RemoteStore) -> list[str]:
    """The files of tablet servers, of those that are no more, too."""
    return sorted([one.path async for one in store.list(TABLETS_ALIVE)])


async def _sign(store: RemoteStore, path: str, now_ms: int) -> tuple[int, SignOfLife] | None:
    """One sign, and the epoch of who gave it; None when there is none that can be understood."""
    seen = await store.head(path)
    if seen is None:
        return None
    try:
        node = json.loads(await store.get(path))
        ends = {TableBucket(*bucket): end for *bucket, end in node.get("ends", ())}
        stopped = bool(node.get("is_stopped", False))
        return int(node.get("epoch", 0)), SignOfLife(int(node["at_ms"]), now_ms - seen.modified_ms, stopped, ends)
    except (NotFoundError, ValueError, KeyError, TypeError):
        return None


async def fetch_metadata(store: RemoteStore, target: Path) -> list[str]:
    """Bring the newest backup that can be read; says which newer ones could not."""
    troubles: list[str] = []
    found = await stored_backups(store)
    if not found:
        raise ErrorCode.INVALID_CONFIG.error(
            f"There is nothing to restore in {store.url}: no server has kept its metadata there."
        )
    for path in found:
        try:
            _write(target, unpack(await store.get(path)))
        except (NotFoundError, ValueError) as wrong:
            troubles.append(f"The backup {path} of the metadata cannot be read ({wrong}); an older one was taken.")
        else:
            return troubles
    raise ErrorCode.STORAGE.error(f"No backup of the metadata in {store.url} can be read: {'; '.join(troubles)}")


def _write(path: Path, content: bytes) -> None:
    """Write a metadata file; ValueError when it is damaged."""
    path.write_bytes(content)
    try:
        with closing(sqlite3.connect(path)) as connection:
            answer = connection.execute("PRAGMA integrity_check").fetchone()[0]
    except sqlite3.Error as wrong:
        raise ValueError(str(wrong)) from wrong
    if answer != "ok":
        raise ValueError(answer)
