"""Slow work on disk, beside the loop."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lakeward.errors import ErrorCode
from lakeward.server.disk_thread import DiskThread


async def test_work_is_done_in_order_and_can_be_waited_for() -> None:
    """What was given first is done first."""
    disk = DiskThread(ThreadPoolExecutor(1))
    done: list[int] = []
    for number in range(20):
        disk.later(lambda number=number: done.append(number))  # type: ignore[misc]
    await disk.settle()
    assert done == list(range(20))
    disk.close()


@pytest.mark.parametrize("wrong", [OSError("full"), ErrorCode.LOG_STORAGE.error("full"), ValueError("a bug")])
async def test_work_that_fails_is_told_and_the_next_is_done(wrong: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """A thread that ended would let nothing be synced any more; only a bug is traced."""
    disk = DiskThread(ThreadPoolExecutor(1))
    done: list[int] = []

    def fail() -> None:
        raise wrong

    disk.later(fail)
    disk.later(lambda: done.append(1))
    await disk.settle()
    disk.close()
    assert done == [1]
    (record,) = caplog.records
    assert bool(record.exc_info) == isinstance(wrong, ValueError)
