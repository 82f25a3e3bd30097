"""Wrong logins that are found here: slower and slower, then not looked at, and forgiven."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.clock import ManualClock
from lakeward.sql_server.access.guesses import Guesses


async def test_guesses_are_paused_then_refused_then_forgiven() -> None:
    """By address, with the pauses and the limit that the cluster has by default."""
    clock, pauses = ManualClock(), list[float]()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    guesses = Guesses(clock.monotonic, sleep)
    for _ in range(30):
        guesses.check("10.0.0.1")
        guesses.add("10.0.0.1")
        await guesses.pause("10.0.0.1")
    assert pauses[:4] == [0.5, 1.0, 2.0, 4.0]
    assert pauses[-1] == 10.0
    with pytest.raises(LakewardError) as refusal:
        guesses.check("10.0.0.1")
    assert refusal.value.code is ErrorCode.RETRIABLE_AUTHENTICATE
    guesses.check("10.0.0.2")
    clock.advance(60_000)
    guesses.check("10.0.0.1")
