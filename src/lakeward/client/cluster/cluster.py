"""Cluster: what everything on one connection shares. Settings, channels, metadata, worker threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any, Protocol
from weakref import WeakSet

from lakeward.client.cluster.direct_lines import DirectLines
from lakeward.client.cluster.metadata_cache import Address, MetadataCache
from lakeward.client.cluster.vigil import Vigil
from lakeward.client.cluster.workers import Workers
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.remote.sources import RemoteSegments
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.snapshot import GetFileSystemSecurityTokenRequest, GetFileSystemSecurityTokenResponse
from lakeward.rpc.channel import Channel
from lakeward.rpc.pool import ChannelPool
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.entropy import Entropy, SystemEntropy

DEFAULT_PORT = 9123
#: Encoding and decoding leave the interpreter lock, so threads fill cores; more than this many only fill memory.
_WORKERS_MAX = 8
#: What asked twice does nothing twice. A writer id that nobody uses harms nobody.
_REPEATABLE = ("LIST_", "GET_", "DESCRIBE_", "TABLE_EXISTS", "DATABASE_EXISTS", "INIT_WRITER")
_ATTEMPTS = 3


class Finishes(Protocol):
    """A writer that somebody may have forgotten to close."""

    async def finish(self) -> None:
        """Send what it holds, and end."""
        ...


class Cluster:
    """A cluster as one connection sees it."""

    def __init__(self, bootstrap: Sequence[Address], settings: ClientSettings, entropy: Entropy | None = None) -> None:
        chance = entropy or SystemEntropy()
        self.settings = settings
        #: How long a server, and how long a file store, is left alone that could not do what it was asked.
        self.backoff = Backoff(0.02, 1.0, chance)
        self.store_backoff = Backoff(0.05, 5.0, chance)
        self.pool = ChannelPool(settings.connect_timeout_ms, settings.security)
        self.metadata = MetadataCache(
            self.pool, bootstrap, settings.request_timeout_ms, settings.away_ms, settings.silence_ms
        )
        self._vigil = Vigil(self.pool, self.metadata)
        self.pool.on_silence(settings.silence_ms / 1000, self._vigil.doubt)
        self.workers = Workers(min(os.cpu_count() or 2, _WORKERS_MAX), "lakeward-worker")
        self.lines = DirectLines(settings, self.workers, self._vigil)
        #: Writers that hold rows, and that no `async with` will close.
        self.unclosed: WeakSet[Finishes] = WeakSet()

    async def ask(self, api: Api, message: Any) -> Any:
        """Send a request to the coordinator; again when it did not get there, or when it only reads."""
        return await self._ask(self._coordinator, api, message)

    async def ask_tablet(self, api: Api, message: Any) -> Any:
        """Send a request to some tablet server, under the same conditions."""
        return await self._ask(self.tablet, api, message)

    async def _ask(self, to: Callable[[], Awaitable[Channel]], api: Api, message: Any) -> Any:
        for _ in range(_ATTEMPTS - 1):
            sent = False
            try:
                channel = await to()
                sent = True
                return await channel.request(api, message, timeout_ms=self.settings.request_timeout_ms)
            except LakewardError as wrong:
                repeatable = wrong.code is ErrorCode.NOT_COORDINATOR_LEADER or (
                    wrong.code is ErrorCode.NETWORK and (not sent or api.name.startswith(_REPEATABLE))
                )
                if not repeatable:
                    raise
            await self.metadata.refresh()
        return await (await to()).request(api, message, timeout_ms=self.settings.request_timeout_ms)

    async def _coordinator(self) -> Channel:
        address = self.metadata.coordinator
        if address is None:
            await self.metadata.refresh()
            address = self.metadata.coordinator
        if address is None:
            raise ErrorCode.NOT_COORDINATOR_LEADER.error("The cluster names no coordinator now; try again.")
        return await self.pool.channel(address.host, address.port)

    async def leader(self, path: TablePath, bucket: TableBucket, partition: str | None, purpose: str = "") -> Channel:
        """A channel to the leader of a bucket; waits for an election."""
        while True:
            if self.metadata.leader(bucket) is None:
                await self.metadata.wait_for_leaders(path, [bucket], partition)
            address = self.metadata.leader(bucket)
            assert address is not None
            at_hand = self.pool.ready(address.host, address.port, purpose)
            if at_hand is not None:
                return at_hand
            try:
                async with asyncio.timeout(self.settings.silence_ms / 1000):
                    return await self.pool.channel(address.host, address.port, purpose)
            except TimeoutError:  # it is called on; meanwhile somebody else may have become the leader
                self.metadata.forget(bucket)
            except RetriableError:  # servers name a leader that has died until its successor is chosen
                self.metadata.forget(bucket)
                raise

    def leader_at_hand(self, bucket: TableBucket) -> Channel | None:
        """An open channel to the leader of a bucket, where nothing has to be waited for."""
        address = self.metadata.leader(bucket)
        return None if address is None else self.pool.ready(address.host, address.port)

    async def tablet(self) -> Channel:
        """A channel to some tablet server."""
        address = self.metadata.any_tablet()
        if address is None:
            await self.metadata.refresh()
            address = self.metadata.any_tablet()
        if address is None:
            raise ErrorCode.LEADER_NOT_AVAILABLE.error("The cluster has no tablet server now; try again.")
        try:
            return await self.pool.channel(address.host, address.port)
        except RetriableError:  # servers name one that has died until it is back
            self.metadata.shun(address)
            raise

    @cached_property
    def remote(self) -> RemoteSegments:
        """Log segments that are in a file store, not on a server."""
        return RemoteSegments(self.settings, self.workers, self._security_token)

    async def _security_token(self) -> GetFileSystemSecurityTokenResponse:
        ask = GetFileSystemSecurityTokenRequest()
        told: GetFileSystemSecurityTokenResponse = await self.ask_tablet(Api.GET_FILESYSTEM_SECURITY_TOKEN, ask)
        return told

    async def finish(self) -> None:
        """Have writers that nobody has closed send what they hold; raises the first failure of them."""
        each = (writer.finish() for writer in list(self.unclosed))
        wrong = [one for one in await asyncio.gather(*each, return_exceptions=True) if one is not None]
        if wrong:
            raise wrong[0]

    async def close(self) -> None:
        """Close all channels, remove files and end the worker threads."""
        if "remote" in self.__dict__:
            await self.remote.close()
        self.lines.close()
        self._vigil.close()
        self.metadata.close()
        await self.pool.close()
        self.workers.end()


def addresses(bootstrap: str | Sequence[str]) -> list[Address]:
    """`host:port,host:port` or a list of them; the port may be left out."""
    texts = bootstrap.split(",") if isinstance(bootstrap, str) else list(bootstrap)
    found = [_address(text.strip()) for text in texts if text.strip()]
    if not found:
        raise ErrorCode.INVALID_CONFIG.error("No bootstrap address was given; write it as 'host:port'.")
    return found


def _address(text: str) -> Address:
    host, colon, port = text.rpartition(":")
    if not colon:
        return Address(text, DEFAULT_PORT)
    if not port.isdecimal() or not 0 < int(port) < 65536 or not host:
        raise ErrorCode.INVALID_CONFIG.error(f"'{text}' is not an address; write it as 'host:port'.")
    return Address(host.strip("[]"), int(port))


def pb_path(path: TablePath) -> PbTablePath:
    """A table's name as the protocol writes it."""
    return PbTablePath(database_name=path.database, table_name=path.table)
