"""Buckets that are worked on beside the loop: who waits, who does not, and in which order they are let in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.messages.kv import PrefixLookupRequest
from lakeward.rpc.error_answers import error_of
from lakeward.server.tablet.state.busy import BusyBuckets

A, B, C = (TableBucket(1, None, number) for number in range(3))
REQUEST = PrefixLookupRequest(table_id=1, buckets_req=())


class Asked:
    """A request that wants some buckets, and what it is answered; plays the exchange as well."""

    def __init__(self, busy: BusyBuckets, name: str, answers: list[str], *buckets: TableBucket) -> None:
        self.busy, self.name, self.answers, self.buckets = busy, name, answers, buckets
        self.is_done = False
        self.work: threading.Event | None = None

    def handle(self, request: Any, exchange: Any) -> str | None:
        """Answer, or wait; may have work to do before."""
        if not self.busy.holds(self.buckets, exchange) and self.work is not None:
            work, self.work = self.work, None
            self.busy.begin(self.buckets[0], wait_for(self.busy, work))
        if self.busy.holds(self.buckets, exchange):
            self.busy.park(self.buckets, self.handle, request, exchange)
            return None
        return self.name

    def reply(self, message: str) -> None:
        """It is answered."""
        self.is_done = True
        self.answers.append(message)

    def fail(self, wrong: Any) -> None:
        """It is refused."""
        self.reply(f"{self.name}: {wrong.code.name}")

    def fail_unless_done(self, wrong: Exception) -> None:
        """It is refused, whatever was raised."""
        self.fail(error_of(wrong, self.name, "somebody"))

    def settle(self, ask: Any, *what: Any) -> None:
        """It is answered with what a function returns or raises."""
        try:
            message = ask(*what)
        except LakewardError as wrong:
            self.fail(wrong)
            return
        if message is not None:
            self.reply(message)

    def come(self) -> None:
        """The request arrives."""
        message = self.handle(REQUEST, self)
        if message is not None:
            self.reply(message)


async def wait_for(busy: BusyBuckets, event: threading.Event) -> None:
    """Work on a thread that ends when it is told to."""
    await busy.on_thread(event.wait)


@pytest.fixture
async def busy() -> AsyncIterator[BusyBuckets]:
    """Nothing is worked on yet."""
    made = BusyBuckets(asyncio.get_running_loop(), ThreadPoolExecutor(max_workers=2))
    yield made
    await made.stop()


@pytest.fixture
def answers() -> list[str]:
    """What was answered, in order."""
    return []


async def until(answers: list[str], count: int) -> None:
    """Let the loop turn until so many are answered."""
    while len(answers) < count:  # noqa: ASYNC110 - what answers sets no event
        await asyncio.sleep(0.001)


async def test_only_those_wait_who_want_a_bucket_that_is_worked_on(busy: BusyBuckets, answers: list[str]) -> None:
    """Others are answered meanwhile; the ones that waited come in the order of their arrival."""
    done = threading.Event()
    busy.begin(A, wait_for(busy, done))
    for name, *buckets in [("1", A), ("2", B), ("3", A), ("4", C)]:
        Asked(busy, name, answers, *buckets).come()
    assert answers == ["2", "4"]
    done.set()
    await until(answers, 4)
    assert answers == ["2", "4", "1", "3"]


async def test_nobody_overtakes_a_request_of_two_buckets(busy: BusyBuckets, answers: list[str]) -> None:
    """A request that waits for one bucket holds its place in front of the other too."""
    done = threading.Event()
    busy.begin(A, wait_for(busy, done))
    for name, *buckets in [("both", A, B), ("later", B), ("free", C)]:
        Asked(busy, name, answers, *buckets).come()
    assert answers == ["free"]
    done.set()
    await until(answers, 3)
    assert answers == ["free", "both", "later"]


async def test_who_has_more_work_to_do_keeps_its_place(busy: BusyBuckets, answers: list[str]) -> None:
    """A request whose turn has come may have its bucket worked on again; those behind it go on waiting."""
    first, second = threading.Event(), threading.Event()
    busy.begin(A, wait_for(busy, first))
    worker = Asked(busy, "worker", answers, A)
    worker.work = second
    worker.come()
    Asked(busy, "behind", answers, A).come()
    first.set()
    while worker.work is not None:  # noqa: ASYNC110 - what begins work sets no event
        await asyncio.sleep(0.001)
    Asked(busy, "last", answers, A).come()
    assert answers == []
    second.set()
    await until(answers, 3)
    assert answers == ["worker", "behind", "last"]


async def test_work_that_fails_lets_everybody_in(
    busy: BusyBuckets, answers: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged with the bucket, and the requests find out for themselves."""

    def fail() -> None:
        raise ErrorCode.KV_STORAGE.error("The disk is full.")

    async def work() -> None:
        await busy.on_thread(fail)

    busy.begin(A, work())
    Asked(busy, "1", answers, A).come()
    await until(answers, 1)
    assert answers == ["1"]
    assert str(A) in caplog.text
    assert "The disk is full." in caplog.text


async def test_state_that_is_worked_on_is_closed_afterwards(busy: BusyBuckets, answers: list[str]) -> None:
    """A table that is dropped meanwhile loses its state when the thread has let go of it."""
    done = threading.Event()
    busy.begin(A, wait_for(busy, done))
    busy.when_free(A, lambda: answers.append("closed"))
    busy.when_free(B, lambda: answers.append("closed at once"))
    Asked(busy, "1", answers, A).come()
    assert answers == ["closed at once"]
    done.set()
    await until(answers, 3)
    assert answers == ["closed at once", "closed", "1"]


async def test_the_result_of_work_answers_a_request(busy: BusyBuckets, answers: list[str]) -> None:
    """What a thread has found is sent; a failure is sent too, as an error."""

    async def nothing() -> str:
        raise ErrorCode.KV_STORAGE.error()

    async def bug() -> str:
        raise ValueError("bug")

    async def found() -> str:
        return await busy.alone(A, lambda: "found")

    for number, answer in enumerate((nothing(), bug(), found())):
        busy.answer_later(Answered(busy, f"{number}", answers), answer)
    await until(answers, 3)
    assert sorted(answers) == ["0: KV_STORAGE", "1: UNKNOWN_SERVER_ERROR", "found"]


class Answered(Asked):
    """A request of an API."""

    class api:  # noqa: N801 - plays an enum's member
        """Its API."""

        name = "SCAN_KV"


async def test_buckets_are_held_together(busy: BusyBuckets, answers: list[str]) -> None:
    """Work on two buckets keeps both until it has ended, whatever comes of it; a bucket may be named twice."""
    done = threading.Event()

    async def work() -> str:
        await busy.on_thread(done.wait)
        raise ErrorCode.KV_STORAGE.error("no")

    result = busy.together([A, B, A], work())
    for name, *buckets in [("1", A), ("2", B), ("3", C)]:
        Asked(busy, name, answers, *buckets).come()
    assert answers == ["3"]
    done.set()
    await until(answers, 3)
    assert answers == ["3", "1", "2"]
    with pytest.raises(LakewardError, match="no"):
        await result
