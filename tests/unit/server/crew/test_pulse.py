"""A tablet server that answers, that hangs, that is gone."""

from __future__ import annotations

import asyncio

from scripted_server import ScriptedServer

from lakeward.rpc.channel import Channel
from lakeward.server.crew.pulse import BEATS, hangs

_BEAT_S = 0.01


async def channel_to(server: ScriptedServer) -> Channel:
    """A connection that is as good as a crew's."""
    return await Channel.open("127.0.0.1", server.port)


async def test_a_server_that_is_silent_hangs() -> None:
    """As long as it answers nothing happens; from then on it is given as many beats as were promised."""
    async with ScriptedServer(1, {}) as server:
        channel = await channel_to(server)
        watching = asyncio.ensure_future(hangs(channel, _BEAT_S))
        await asyncio.sleep(2 * BEATS * _BEAT_S)
        assert not watching.done()
        server.freeze()
        assert await watching
        channel.close()


async def test_a_server_that_hangs_up_does_not_hang() -> None:
    """Somebody else looks after those."""
    async with ScriptedServer(1, {}) as server:
        channel = await channel_to(server)
        watching = asyncio.ensure_future(hangs(channel, _BEAT_S))
        await asyncio.sleep(2 * _BEAT_S)
        channel.close()
        assert not await watching
