"""Vigil: a server owes an answer; whether it is only slow, or the cluster goes on without it.

A process that is frozen, and a network that swallows packets, keep connections open. Nothing breaks, so a request would
be waited for until its time is up, although the cluster has had another leader for long. So the others are asked. Who
is a server of the cluster no longer is hung up on; whoever waited for it finds the successor, and numbered batches that
go again are stored once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import CancelledError

from lakeward.client.cluster.metadata_cache import Address, MetadataCache
from lakeward.errors import LakewardError
from lakeward.rpc.pool import ChannelPool

#: A thread waits so long for what the cluster says before it goes on waiting for the server.
_ASK_S = 3.0


class Vigil:
    """The doubts of one connection; each server is asked about once at a time."""

    def __init__(self, pool: ChannelPool, metadata: MetadataCache) -> None:
        self._pool = pool
        self._metadata = metadata
        self._asking: dict[Address, asyncio.Task[bool]] = {}

    def doubt(self, host: str, port: int) -> None:
        """A server owes an answer: look whether it is still there, and hang up if not."""
        self._ask(Address(host, port))

    def asker(self, address: Address) -> Callable[[], bool]:
        """The same for a thread that waits: tells whether to give up. Made on the event loop."""
        loop = asyncio.get_running_loop()

        async def ask() -> bool:
            return await asyncio.shield(self._ask(address))

        def is_given_up() -> bool:
            asked = asyncio.run_coroutine_threadsafe(ask(), loop)
            try:
                return asked.result(_ASK_S)
            except TimeoutError:
                asked.cancel()
                return False
            except CancelledError:  # the connection is closed
                return True

        return is_given_up

    def _ask(self, address: Address) -> asyncio.Task[bool]:
        asking = self._asking.get(address)
        if asking is None:
            self._metadata.shun(address)
            asking = self._asking[address] = asyncio.get_running_loop().create_task(self._is_gone(address))
            asking.add_done_callback(lambda _: self._asking.pop(address, None))
        return asking

    async def _is_gone(self, address: Address) -> bool:
        try:
            await self._metadata.refresh()
        except LakewardError:  # nobody can tell
            return False
        if self._metadata.names(address):
            return False
        self._pool.hang_up(*address, f"{address} says nothing, and the cluster goes on without it.")
        return True

    def close(self) -> None:
        """Ask no more."""
        for asking in list(self._asking.values()):
            asking.cancel()
