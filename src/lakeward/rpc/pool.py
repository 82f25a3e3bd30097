"""Channels by address, opened on first use and again after they broke."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from lakeward.errors import ErrorCode, LakewardError
from lakeward.rpc.channel import CONNECT_TIMEOUT_MS, Channel
from lakeward.rpc.client_security import OPEN, ClientSecurity

#: host, port, and what the channel is for: bulk reads have their own, so that small requests never wait behind them.
_Key = tuple[str, int, str]


class ChannelPool:
    """At most one open channel per address and purpose; concurrent callers share one attempt to connect."""

    def __init__(self, connect_timeout_ms: float = CONNECT_TIMEOUT_MS, security: ClientSecurity = OPEN) -> None:
        self._connect_timeout_ms = connect_timeout_ms
        self._security = security
        self._channels: dict[_Key, Channel] = {}
        self._opening: dict[_Key, asyncio.Task[Channel]] = {}
        self._closed = False
        self._silence: tuple[float, Callable[[str, int], None]] | None = None

    def on_silence(self, silence_s: float, act: Callable[[str, int], None]) -> None:
        """Have something done with the address of a server that owes an answer for so long; see Channel."""
        self._silence = silence_s, act

    def ready(self, host: str, port: int, purpose: str = "") -> Channel | None:
        """The open channel to an address, if there is one."""
        channel = self._channels.get((host, port, purpose))
        return None if channel is None or channel.closed else channel

    async def channel(self, host: str, port: int, purpose: str = "") -> Channel:
        """An open channel to an address; NETWORK when it cannot be had."""
        if self._closed:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The connection is closed; open a new one.")
        key = (host, port, purpose)
        channel = self._channels.get(key)
        if channel is not None and not channel.closed:
            return channel
        opening = self._opening.get(key)
        if opening is None:
            opening = asyncio.create_task(self._open(key))
            opening.add_done_callback(_retrieve)
            self._opening[key] = opening
        return await asyncio.shield(opening)  # one caller giving up must not fail the others

    async def _open(self, key: _Key) -> Channel:
        host, port, _ = key
        try:
            channel = await Channel.open(
                host, port, connect_timeout_ms=self._connect_timeout_ms, security=self._security
            )
        except asyncio.CancelledError:  # by close(): those who wait for it have not been cancelled themselves
            raise _closed_meanwhile() from None
        finally:
            del self._opening[key]
        if self._closed:
            channel.close()
            raise _closed_meanwhile()
        self._channels[key] = channel
        if self._silence is not None:
            silence_s, act = self._silence
            channel.on_silence(silence_s, partial(act, host, port))
        return channel

    def hang_up(self, host: str, port: int, why: str) -> None:
        """Close whatever is open to an address; what is in flight there fails with NETWORK and this sentence."""
        for (to, at, _), channel in list(self._channels.items()):
            if (to, at) == (host, port):
                channel.close(why)

    async def close(self) -> None:
        """Close every channel, and abandon those being opened."""
        self._closed = True
        for opening in list(self._opening.values()):
            opening.cancel()
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()


def _closed_meanwhile() -> LakewardError:
    return ErrorCode.OPERATION_NOT_ATTEMPTED.error("The connection was closed while it was being opened.")


def _retrieve(opening: asyncio.Task[Channel]) -> None:
    """Take note of a failure even when all who waited for it have given up."""
    if not opening.cancelled():
        opening.exception()
