"""Wrong logins: slower and slower, then not at all, and forgiven."""

from __future__ import annotations

import pytest

from lakeward.runtime.clock import ManualClock
from lakeward.server.access.bounds.failed_logins import FailedLogins, origin_of


def test_answers_take_longer_and_are_forgiven() -> None:
    """Each failure doubles the pause up to a bound; with time it sinks again."""
    clock = ManualClock()
    failures = FailedLogins(clock.monotonic, per_minute=30, pause_s=0.5)
    assert failures.pause_s("10.0.0.1") == 0.0
    pauses = []
    for _ in range(8):
        failures.add("10.0.0.1")
        pauses.append(failures.pause_s("10.0.0.1"))
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0]
    assert failures.pause_s("10.0.0.2") == 0.0
    clock.advance(60_000)
    assert failures.pause_s("10.0.0.1") == 0.0


def test_too_many_in_a_minute_are_not_looked_at() -> None:
    """Until the count has sunk by one."""
    clock = ManualClock()
    failures = FailedLogins(clock.monotonic, per_minute=3, pause_s=0.5)
    for _ in range(3):
        assert not failures.are_too_many("10.0.0.1")
        failures.add("10.0.0.1")
    assert failures.are_too_many("10.0.0.1")
    assert not failures.are_too_many("10.0.0.2")
    clock.advance(19_000)
    assert failures.are_too_many("10.0.0.1")
    clock.advance(2000)
    assert not failures.are_too_many("10.0.0.1")


def test_a_million_addresses_take_no_more_room_than_ten_thousand() -> None:
    """Who failed longest ago is forgotten."""
    failures = FailedLogins(ManualClock().monotonic, per_minute=1, pause_s=0.5)
    for number in range(10_002):
        failures.add(f"10.0.{number >> 8}.{number & 255}")
    assert len(failures._counts) == 10_000
    assert not failures.are_too_many("10.0.0.0")
    assert failures.are_too_many("10.0.39.17")


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("?", "?"),
    ],
)
def test_an_owner_of_many_addresses_is_one(address: str, origin: str) -> None:
    """A network of IPv6 belongs to somebody."""
    assert origin_of(address) == origin
