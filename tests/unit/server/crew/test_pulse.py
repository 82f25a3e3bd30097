"""A tablet server that answers, that hangs, that is gone."""

from __future__ import annotations

import asyncio
import gc

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


async def test_whoever_stops_watching_is_not_told_of_a_line_that_broke_meanwhile() -> None:
    """A crew that is stopped: its servers have hung up already."""
    said: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: said.append(context))
    async with ScriptedServer(1, {}) as server:
        channel = await channel_to(server)
        server.freeze()
        watching = asyncio.ensure_future(hangs(channel, 60))
        await asyncio.sleep(_BEAT_S)
        channel.close()
        watching.cancel()
        await asyncio.wait([watching])
    del watching, channel
    gc.collect()
    assert said == []


async def test_a_server_that_hangs_up_does_not_hang() -> None:
    """Somebody else looks after those."""
    async with ScriptedServer(1, {}) as server:
        channel = await channel_to(server)
        watching = asyncio.ensure_future(hangs(channel, _BEAT_S))
        await asyncio.sleep(2 * _BEAT_S)
        channel.close()
        assert not await watching
