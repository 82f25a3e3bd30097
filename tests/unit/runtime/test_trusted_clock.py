"""A clock that jumps is told, waited for, believed at last; deletes wait longer."""

from __future__ import annotations

import pytest

from lakeward.runtime.clock import ManualClock
from lakeward.runtime.trusted_clock import TrustedClock

_DAY_MS = 86_400_000
_JUMP_MS = 400 * _DAY_MS
_MINUTE_MS = 60_000


@pytest.fixture
def wall() -> ManualClock:
    """The machine's."""
    return ManualClock()


@pytest.fixture
def clock(wall: ManualClock) -> TrustedClock:
    """The server's."""
    return TrustedClock(wall)


def test_a_clock_that_runs_is_followed(clock: TrustedClock, wall: ManualClock) -> None:
    """Small corrections, too."""
    for _ in range(100):
        wall.advance(_MINUTE_MS)
        wall.jump_to(wall.now_ms() + 1000)
        assert clock.now_ms() == clock.settled_ms() == wall.now_ms()


def test_ahead_and_back_within_minutes_is_as_if_nothing_had_been(
    clock: TrustedClock, wall: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Time is counted on from before the jump; both are told."""
    before = clock.now_ms()
    wall.jump_to(before + _JUMP_MS)
    wall.advance(_MINUTE_MS)
    assert clock.now_ms() == before + _MINUTE_MS
    assert clock.trouble is not None
    assert "400 days" in clock.trouble
    wall.jump_to(wall.now_ms() - _JUMP_MS)
    assert clock.now_ms() == before + _MINUTE_MS
    assert clock.trouble is None
    assert "right again" in caplog.text


def test_a_jump_that_stays_is_believed_and_deletes_wait_a_day(clock: TrustedClock, wall: ManualClock) -> None:
    """Ten minutes for stamps, a day for what cannot be undone."""
    before = clock.now_ms()
    wall.jump_to(before + _JUMP_MS)
    clock.now_ms()
    wall.advance(11 * _MINUTE_MS)
    assert clock.now_ms() == wall.now_ms()
    assert clock.settled_ms() == before + 11 * _MINUTE_MS
    wall.advance(_DAY_MS)
    assert clock.settled_ms() == wall.now_ms()


def test_a_clock_that_is_set_back_is_believed_in_the_end(clock: TrustedClock, wall: ManualClock) -> None:
    """Nothing waits for ever."""
    wall.jump_to(wall.now_ms() - _JUMP_MS)
    clock.now_ms()
    wall.advance(11 * _MINUTE_MS)
    assert clock.now_ms() == clock.settled_ms() == wall.now_ms()


def test_a_start_with_a_clock_far_ahead_deletes_nothing_for_a_day(wall: ManualClock) -> None:
    """Whether the server was off for so long or the clock is wrong cannot be known; a day is little to wait."""
    seen = wall.now_ms()
    wall.jump_to(seen + _JUMP_MS)
    clock = TrustedClock(wall)
    clock.begin(seen)
    assert clock.now_ms() == wall.now_ms()
    assert clock.settled_ms() == seen
    wall.advance(_DAY_MS)
    assert clock.settled_ms() == wall.now_ms()
