"""Worker threads of a connection."""

from __future__ import annotations

import asyncio
import threading

import pytest

from lakeward.client.cluster.workers import Workers
from lakeward.errors import LakewardError


async def test_work_that_the_end_comes_before_fails_with_a_sentence() -> None:
    """Whoever waits for it has not been cancelled, and must not be; nobody would be told of anything else."""
    loop = asyncio.get_running_loop()
    workers = Workers(1, "test-workers")
    is_busy, goes_on = threading.Event(), threading.Event()

    def hold() -> str:
        is_busy.set()
        goes_on.wait(10)
        return "done"

    begun = loop.run_in_executor(workers, hold)
    queued = loop.run_in_executor(workers, str)
    assert await asyncio.to_thread(is_busy.wait, 10)
    workers.end()
    goes_on.set()
    assert await begun == "done"
    with pytest.raises(LakewardError, match="closed meanwhile"):
        await queued
    with pytest.raises(LakewardError, match="closed meanwhile"):
        await loop.run_in_executor(workers, str)
