"""What the server's log hears of a store that fails."""

from __future__ import annotations

import pytest

from lakeward.runtime.clock import ManualClock
from lakeward.server.remote.access.copy_trouble import CopyTrouble


def test_a_long_outage_is_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    """One when it begins and one when it is over, however often it was tried in between."""
    clock = ManualClock()
    trouble = CopyTrouble("copies to x", clock.monotonic)
    for _ in range(50):
        clock.advance(int(1000 * trouble.note_failure(OSError("no route"))))
    trouble.note_success()
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "copies to x fail and will be tried again until they work: no route" in caplog.text
    assert "work again after" in caplog.text
    assert trouble.failures_total == 50


def test_pauses_grow_up_to_half_a_minute_and_begin_anew() -> None:
    """A store that is down is not asked all the time; one that is back is asked at once."""
    trouble = CopyTrouble("copies", ManualClock().monotonic)
    pauses = [trouble.note_failure(OSError()) for _ in range(10)]
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (0.5, 30.0)
    trouble.note_success()
    assert not trouble.is_there
    assert trouble.note_failure(OSError()) == 0.5


def test_a_store_that_fails_by_turns_is_told_of_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """No storm of lines, also when every other copy works."""
    clock = ManualClock()
    trouble = CopyTrouble("copies", clock.monotonic)
    for _ in range(59):
        trouble.note_failure(OSError())
        trouble.note_success()
        clock.advance(1000)
    assert len(caplog.records) == 2
    clock.advance(1000)
    trouble.note_failure(OSError())
    assert len(caplog.records) == 3
