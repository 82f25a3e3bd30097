"""Calls that fail in a way that may pass are made again."""

from __future__ import annotations

import pytest

from lakeward.errors import DeniedError, ErrorCode, LakewardError, RetriableError
from lakeward.remote.stores.retry import longest_pause_ms, retry
from lakeward.runtime.clock import ManualClock, SystemClock


async def test_a_call_that_succeeds_in_the_end_was_no_failure() -> None:
    """Two failures, then a result."""
    answers = iter([ErrorCode.STORAGE.error("busy"), ErrorCode.STORAGE.error("busy"), "done"])

    async def attempt() -> str:
        answer = next(answers)
        if isinstance(answer, LakewardError):
            raise answer
        return answer

    assert await retry(attempt, 60_000, SystemClock()) == "done"


async def test_when_the_time_is_over_the_failure_is_told() -> None:
    """A call that took all the time by itself is not made again."""
    clock, tries = ManualClock(), 0

    async def attempt() -> None:
        nonlocal tries
        tries += 1
        clock.advance(1000)
        raise ErrorCode.STORAGE.error("busy")

    with pytest.raises(RetriableError):
        await retry(attempt, 1000, clock)
    assert tries == 1


async def test_what_will_not_pass_is_not_repeated() -> None:
    """A denied call is denied again."""
    tries = 0

    async def attempt() -> None:
        nonlocal tries
        tries += 1
        raise DeniedError(ErrorCode.STORAGE, "no")

    with pytest.raises(DeniedError):
        await retry(attempt, 60_000, SystemClock())
    assert tries == 1


@pytest.mark.parametrize(("timeout_ms", "pause_ms"), [(100, 100), (2000, 500), (600_000, 5000)])
def test_pauses_fit_into_the_time(timeout_ms: int, pause_ms: int) -> None:
    """There are a few tries in a short time, and no long silence in a long one."""
    assert longest_pause_ms(timeout_ms) == pause_ms
