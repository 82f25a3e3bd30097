"""Keys that end are renewed in time."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.remote.s3.credentials import Credentials, RenewedCredentials
from lakeward.runtime.clock import ManualClock

_MINUTE_MS = 60_000


class _Source:
    """Gives keys that live for a while, and counts."""

    def __init__(self, clock: ManualClock, life_ms: int | None) -> None:
        self._clock = clock
        self._life_ms = life_ms
        self.count = 0

    def __call__(self) -> Credentials:
        self.count += 1
        expires_ms = None if self._life_ms is None else self._clock.now_ms() + self._life_ms
        return Credentials(f"key-{self.count}", "secret", "token", expires_ms)


def test_keys_that_never_end_are_asked_for_once() -> None:
    """Years later they are the same."""
    clock = ManualClock()
    source = _Source(clock, None)
    renewed = RenewedCredentials(source, clock)
    renewed()
    clock.advance(1000 * 24 * 60 * _MINUTE_MS)
    assert renewed().access_key == "key-1"


def test_keys_of_an_hour_are_renewed_five_minutes_before() -> None:
    """Nobody is handed keys that end while they are used."""
    clock = ManualClock()
    renewed = RenewedCredentials(_Source(clock, 60 * _MINUTE_MS), clock)
    assert renewed().access_key == "key-1"
    clock.advance(55 * _MINUTE_MS - 1)
    assert renewed().access_key == "key-1"
    clock.advance(1)
    assert renewed().access_key == "key-2"


def test_keys_with_a_short_life_are_used_for_most_of_it() -> None:
    """Four fifths, or they would be renewed at every call."""
    clock = ManualClock()
    renewed = RenewedCredentials(_Source(clock, 5 * _MINUTE_MS), clock)
    renewed()
    clock.advance(4 * _MINUTE_MS - 1)
    assert renewed().access_key == "key-1"
    clock.advance(1)
    assert renewed().access_key == "key-2"


def test_a_source_that_fails_is_asked_again() -> None:
    """A failure is not kept."""
    clock = ManualClock()
    answers = iter([ErrorCode.STORAGE.error("no"), Credentials("key", "secret")])

    def source() -> Credentials:
        answer = next(answers)
        if isinstance(answer, LakewardError):
            raise answer
        return answer

    renewed = RenewedCredentials(source, clock)
    with pytest.raises(LakewardError):
        renewed()
    assert renewed().access_key == "key"


def test_keys_do_not_show_themselves() -> None:
    """Neither in logs nor in the output of a debugger."""
    shown = repr(Credentials("key-1", "secret-2", "token-3", 4))
    assert not any(word in shown for word in ("key-1", "secret-2", "token-3"))
