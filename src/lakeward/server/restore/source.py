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
from lakeward.server.remote.access.ownership import ALIVE
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
    """The last sign of life, its age measured by the store's own clock."""
    await store.put(_PROBE, b"")
    now, seen = await store.head(_PROBE), await store.head(ALIVE)
    await store.delete([_PROBE])
    if now is None or seen is None:
        return None
    try:
        node = json.loads(await store.get(ALIVE))
        ends = {TableBucket(*bucket): end for *bucket, end in node.get("ends", ())}
        stopped = bool(node.get("is_stopped", False))
        return SignOfLife(int(node["at_ms"]), now.modified_ms - seen.modified_ms, stopped, ends)
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
