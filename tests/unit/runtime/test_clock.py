"""Time that can be moved by hand."""

from __future__ import annotations

import os
import time
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from lakeward.runtime.clock import ManualClock, SystemClock


def test_a_manual_clock_stands_still_until_moved() -> None:
    """Time passes only when it is told to."""
    clock = ManualClock(1000)
    assert (clock.now_ms(), clock.monotonic()) == (1000, 0.0)
    clock.advance(1500)
    assert (clock.now_ms(), clock.monotonic()) == (2500, 1.5)


def test_monotonic_time_does_not_notice_a_jump() -> None:
    """Setting the wall clock back does not turn back what is measured."""
    clock = ManualClock(1000)
    clock.advance(100)
    clock.jump_to(5)
    assert (clock.now_ms(), clock.monotonic()) == (5, 0.1)


def test_the_system_clock_counts_milliseconds_since_1970() -> None:
    """Wall time is that of the machine, in milliseconds."""
    before = time.time_ns() // 1_000_000
    assert before <= SystemClock().now_ms() <= time.time_ns() // 1_000_000
    first = SystemClock().monotonic()
    assert SystemClock().monotonic() >= first


def test_the_zone_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """TZ names the zone, so that summer time is known."""
    monkeypatch.setitem(os.environ, "TZ", "Europe/Berlin")
    assert SystemClock().zone() == ZoneInfo("Europe/Berlin")
    monkeypatch.setitem(os.environ, "TZ", ":Asia/Tokyo")
    assert SystemClock().zone() == ZoneInfo("Asia/Tokyo")


def test_a_zone_without_a_name_is_an_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    """A TZ that names no zone still gives one."""
    monkeypatch.setitem(os.environ, "TZ", "no such zone")
    assert SystemClock().zone().utcoffset(None) is not None


def test_a_manual_clock_is_in_utc_unless_told() -> None:
    """Tests do not depend on where they run."""
    assert ManualClock().zone() is UTC
    assert ManualClock(zone=ZoneInfo("Asia/Tokyo")).zone() == ZoneInfo("Asia/Tokyo")
