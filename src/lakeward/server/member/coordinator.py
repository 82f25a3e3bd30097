"""CoordinatorLink: the coordinator, as a tablet server asks it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from lakeward.protocol.api import Api
from lakeward.rpc.channel import Channel


class CoordinatorLink(Protocol):
    """Whom to ask."""

    async def ask(self, api: Api, request: Any) -> Any:
        """The answer; an error is raised as it was given."""
        ...


class ChannelLink:
    """A coordinator at the other end of a connection; whoever asks before that is there waits for it."""

    def __init__(self) -> None:
        self._channel: asyncio.Future[Channel] = asyncio.get_running_loop().create_future()

    def connect(self, channel: Channel) -> None:
        """It can be asked from now on."""
        self._channel.set_result(channel)

    async def ask(self, api: Api, request: Any) -> Any:
        """The answer; an error is raised as it was given."""
        channel = await asyncio.shield(self._channel)
        return await channel.request(api, request)
