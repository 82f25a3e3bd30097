"""States: one that was being opened while another server led its bucket is not kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.tablet.state.states import States

BUCKET = TableBucket(1, None, 0)


class Recovery:
    """Two pieces of work, between which something happens."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        self._meanwhile = meanwhile
        self.is_closed = False

    def pieces(self) -> Iterator[Callable[[], None]]:
        """Both."""
        yield lambda: None
        self._meanwhile()
        yield lambda: None

    def close(self) -> None:
        """It was for nothing."""
        self.is_closed = True


async def test_a_bucket_that_changed_hands_meanwhile_is_opened_again() -> None:
    """Its log may have been cut since: whoever waited is told to try again, and what was read is given up."""

    async def on_thread(work: Callable[[], None]) -> None:
        await asyncio.sleep(0)
        work()

    buckets: Any = SimpleNamespace(table=lambda _: None)
    busy: Any = SimpleNamespace(on_thread=on_thread)
    nothing: Any = SimpleNamespace()
    states = States(buckets, nothing, nothing, busy, nothing, "hash", lambda _, number: number)
    recovery: Any = Recovery(lambda: states.forget(BUCKET.__eq__))
    with pytest.raises(LakewardError) as refused:
        await states._recover(BUCKET, recovery, None)
    assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert recovery.is_closed
    assert states.find(BUCKET) is None
