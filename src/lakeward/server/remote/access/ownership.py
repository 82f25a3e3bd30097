"""Ownership: one server at a time writes to a remote directory, and one that was replaced finds out.

    lakeward/owner/<epoch>.json    who writes since when; made once, never changed; the highest epoch counts
    lakeward/alive.json            written again every few seconds by a server that runs
    lakeward/alive/<number>.json   the same by each of its tablet servers, which know how far their buckets are

A server takes a new epoch when it starts, `lakeward restore` takes one for the server it rebuilds. Whoever finds an
epoch higher than its own has been replaced: it writes nothing more to remote storage, and takes no more writes.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.remote.stores.store import RemoteStore
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.metadata_store.port import Document, MetadataStore

OWNERS = "lakeward/owner"
ALIVE = "lakeward/alive.json"
TABLETS_ALIVE = "lakeward/alive"
AREA = "remote-owner"
_SERVER_ID = "server-id"
_KEPT = 3
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Owner:
    """Who writes to a remote directory, as of an epoch."""

    epoch: int
    server_id: str
    host: str
    since_ms: int

    def __str__(self) -> str:
        return f"epoch {self.epoch}, started on {self.host}"


class Ownership:
    """A server's right to write to a store. Nothing is asked of the store before `claim`, or whatever needs it."""

    def __init__(
        self,
        store: RemoteStore,
        metadata: MetadataStore,
        clock: Clock,
        entropy: Entropy,
        held_by: str | None = None,
    ) -> None:
        """`held_by` is the identity of this server where another of its processes has claimed the store."""
        self._store = store
        self._clock = clock
        self._is_held = held_by is not None
        self._server_id = held_by or metadata.document(AREA, _SERVER_ID) or new_server_id(metadata, entropy)
        self._seen_s = 0.0
        self._claiming = asyncio.Lock()
        self.owner: Owner | None = None
        self.replaced_by: Owner | None = None

    @property
    def epoch(self) -> int:
        """The epoch that is ours; something must have been `sure` of it before."""
        assert self.owner is not None
        return self.owner.epoch

    async def claim(self) -> None:
        """Take the next epoch; refused when another server was the last to write."""
        async with self._claiming:
            if self.owner is not None:
                return
            newest = await newest_owner(self._store)
            if self._is_held:
                if newest is None or newest.server_id != self._server_id:
                    raise ErrorCode.STORAGE.error(f"The coordinator has not taken hold of {self._store.url} yet.")
                self.owner, self._seen_s = newest, self._clock.monotonic()
                return
            if newest is not None and newest.server_id != self._server_id:
                raise ErrorCode.INVALID_CONFIG.error(
                    f"The remote storage {self._store.url} belongs to another server ({newest}), not to this data "
                    "directory. If that server is lost, `lakeward restore` rebuilds it in an empty directory; a new "
                    "server needs a remote.data.dir of its own."
                )
            self.owner = await take_over(self._store, self._server_id, self._clock)
            self._seen_s = self._clock.monotonic()

    async def look(
        self, ends: Mapping[TableBucket, int], *, tablet: int | None = None, is_stopped: bool = False
    ) -> None:
        """See whether the directory is still ours, and give a sign of life.

        `ends` are the log ends of buckets that have more than was copied: what would be lost now. `tablet` is the
        number of a tablet server that gives its own sign.
        """
        await self.sure(0)
        content = {
            "epoch": self.epoch,
            "server_id": self._server_id,
            "at_ms": self._clock.now_ms(),
            "is_stopped": is_stopped,
            "ends": [[*bucket, end] for bucket, end in ends.items()],
        }
        path = ALIVE if tablet is None else f"{TABLETS_ALIVE}/{tablet}.json"
        await self._store.put(path, json.dumps(content).encode())

    async def sure(self, age_s: float) -> None:
        """Refuse to go on once another server has the directory, by what was found at most this many seconds ago."""
        if self.owner is None:
            await self.claim()
        elif self.replaced_by is None and self._clock.monotonic() - self._seen_s > age_s:
            newest = await newest_owner(self._store)
            self._seen_s = self._clock.monotonic()
            if newest is not None and newest.epoch > self.owner.epoch:
                self.replaced_by = newest
        if self.replaced_by is not None:
            raise takeover_error(self._store.url, self.replaced_by)


class CommonOwnership(Ownership):
    """Nobody owns the directory of a cluster: its servers share it, and its coordinator refuses who leads no more."""

    async def claim(self) -> None:
        """There is nothing to claim."""

    async def sure(self, age_s: float) -> None:
        """What is written counts when the coordinator says so."""


async def take_over(store: RemoteStore, server_id: str, clock: Clock) -> Owner:
    """The next epoch, whoever had the last one."""
    for _ in range(_TRIES):
        newest = await newest_owner(store)
        owner = Owner(0 if newest is None else newest.epoch + 1, server_id, socket.gethostname(), clock.now_ms())
        path = f"{OWNERS}/{owner.epoch:010d}.json"
        if await store.create(path, json.dumps({"version": 1, **asdict(owner)}).encode()):
            await store.delete((await _owner_files(store))[:-_KEPT])
            return owner
    raise ErrorCode.STORAGE.error(f"Several servers are taking over {store.url} at the same time; start one of them.")


def new_server_id(metadata: MetadataStore, entropy: Entropy) -> str:
    """Give a data directory an identity of its own."""
    server_id = str(entropy.uuid())
    with metadata.change() as change:
        change.put_document(identity_document(server_id))
    return server_id


def identity_of(metadata: MetadataStore) -> str | None:
    """What a data directory is called in remote storage; None before it has used any."""
    return metadata.document(AREA, _SERVER_ID)


def identity_document(server_id: str) -> Document:
    """How a data directory remembers its identity."""
    return Document(AREA, _SERVER_ID, server_id)


async def newest_owner(store: RemoteStore) -> Owner | None:
    """Whose epoch is the highest; None in a directory that nobody has used."""
    found = await _owner_files(store)
    if not found:
        return None
    try:
        node = json.loads(await store.get(found[-1]))
        return Owner(int(node["epoch"]), str(node["server_id"]), str(node["host"]), int(node["since_ms"]))
    except (ValueError, KeyError, TypeError) as wrong:
        raise ErrorCode.STORAGE.error(f"{store.url}/{found[-1]} cannot be understood: {wrong!r}.") from wrong


def takeover_error(url: str, by: Owner) -> LakewardError:
    """What a server says that has been replaced."""
    return ErrorCode.FENCED_LEADER_EPOCH.error(
        f"Another server has taken over {url} ({by}): this one was replaced and takes no more writes. Stop it and use "
        "the other."
    )


async def _owner_files(store: RemoteStore) -> list[str]:
    return sorted([one.path async for one in store.list(OWNERS)])
