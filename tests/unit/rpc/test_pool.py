"""One channel per address and purpose, shared, and opened again after it broke."""

from __future__ import annotations

import asyncio

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.rpc.channel import Channel
from lakeward.rpc.pool import ChannelPool


class Opened:
    """Stands for a channel."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        self.closed = False

    def close(self, why: str | None = None) -> None:
        """Close it."""
        self.closed, self.why = True, why


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Opened]:
    """Every channel that was opened, without a network."""
    made: list[Opened] = []

    async def open_(host: str, port: int, *, connect_timeout_ms: float, security: object) -> Opened:
        await asyncio.sleep(0)
        if port == 1:
            raise ErrorCode.NETWORK.error("refused")
        made.append(Opened(host, port))
        return made[-1]

    monkeypatch.setattr(Channel, "open", open_)
    return made


async def test_callers_share_one_channel(opened: list[Opened]) -> None:
    """However many ask at once, there is one connection to an address."""
    pool = ChannelPool()
    found = await asyncio.gather(*(pool.channel("a", 9) for _ in range(5)))
    assert len(opened) == 1
    assert all(c is found[0] for c in found)
    assert pool.ready("a", 9) is found[0]


async def test_each_purpose_has_its_own_channel(opened: list[Opened]) -> None:
    """Bulk reads never stand before small requests."""
    pool = ChannelPool()
    assert await pool.channel("a", 9) is not await pool.channel("a", 9, "scan")


async def test_a_broken_channel_is_replaced(opened: list[Opened]) -> None:
    """The next caller gets a fresh connection."""
    pool = ChannelPool()
    first = await pool.channel("a", 9)
    first.close()
    assert pool.ready("a", 9) is None
    assert await pool.channel("a", 9) is not first


async def test_a_failed_attempt_is_told_to_all_and_tried_again_later(opened: list[Opened]) -> None:
    """Failing to connect leaves nothing behind."""
    pool = ChannelPool()
    for _ in range(2):
        wrong = await asyncio.gather(pool.channel("a", 1), pool.channel("a", 1), return_exceptions=True)
        assert [type(w) for w in wrong] == [ErrorCode.NETWORK.kind] * 2


async def test_one_caller_giving_up_does_not_fail_the_others(opened: list[Opened]) -> None:
    """Connecting is shared work."""
    pool = ChannelPool()
    first = asyncio.ensure_future(pool.channel("a", 9))
    second = asyncio.ensure_future(pool.channel("a", 9))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is opened[0]


async def test_closing_closes_every_channel(opened: list[Opened]) -> None:
    """After close nothing is open and nothing can be opened."""
    pool = ChannelPool()
    await pool.channel("a", 9)
    await pool.channel("b", 9)
    await pool.close()
    assert all(c.closed for c in opened)
    with pytest.raises(LakewardError, match="closed"):
        await pool.channel("a", 9)


async def test_all_channels_to_one_address_are_hung_up(opened: list[Opened]) -> None:
    """Those for other purposes, too, with a sentence; others stay."""
    pool = ChannelPool()
    for place in (("a", 9, ""), ("a", 9, "scan"), ("b", 9, "")):
        await pool.channel(*place)
    pool.hang_up("a", 9, "It is gone.")
    assert [(one.address[0], one.closed) for one in opened] == [("a", True), ("a", True), ("b", False)]
    assert opened[0].why == "It is gone."


async def test_who_waits_for_a_channel_when_the_pool_is_closed_is_not_cancelled(
    opened: list[Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error with words: a task that hears that it was cancelled ends without one, and its reader waits for ever."""

    async def never(host: str, port: int, *, connect_timeout_ms: float, security: object) -> Opened:
        return await asyncio.Event().wait() or Opened(host, port)

    monkeypatch.setattr(Channel, "open", never)
    pool = ChannelPool()
    waiting = asyncio.ensure_future(pool.channel("a", 9))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(LakewardError, match="closed while it was being opened"):
        await waiting
