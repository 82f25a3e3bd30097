"""So many bytes a second, over all copies."""

from __future__ import annotations

import asyncio

import pytest

from lakeward.remote.stores.pace import Pace
from lakeward.runtime.clock import ManualClock


class _Sleeper:
    """Moves the clock instead of waiting."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    async def __call__(self, seconds: float) -> None:
        self._clock.advance(round(seconds * 1000))
        await asyncio.sleep(0)


async def test_bytes_pass_at_the_rate() -> None:
    """A hundred pieces of a tenth of a second's bytes take ten seconds, but for the first, which waits for nobody."""
    clock = ManualClock()
    pace = Pace(1000, clock, _Sleeper(clock))
    for _ in range(100):
        await pace.take(100)
    assert clock.monotonic() == pytest.approx(9.9)


async def test_time_that_nobody_used_is_not_saved_up() -> None:
    """After a pause there is no burst beyond the first piece."""
    clock = ManualClock()
    pace = Pace(1000, clock, _Sleeper(clock))
    clock.advance(60_000)
    for _ in range(11):
        await pace.take(100)
    assert clock.monotonic() == pytest.approx(61.0)


async def test_those_who_share_a_pace_share_its_rate() -> None:
    """Two copies at once together go no faster than one."""
    clock = ManualClock()
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pace = Pace(1000, clock, sleep)
    await asyncio.gather(*(pace.take(500) for _ in range(4)))
    assert waits == [0.5, 1.0, 1.5]
