"""Blocking code drives coroutines on a thread of their own."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from lakeward.client.blocking.sync_scan import iterate
from lakeward.client.cluster.loop_thread import LoopThread, _Job
from lakeward.errors import ErrorCode, LakewardError


async def where() -> str:
    """The thread this runs on."""
    return threading.current_thread().name


def test_results_and_errors_come_back() -> None:
    """The caller sees what the coroutine returned or raised."""
    loop = LoopThread("test-loop")
    assert loop.run(where()) == "test-loop"

    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        loop.run(fail())
    loop.close()


def test_closing_ends_the_thread_and_what_runs_on_it() -> None:
    """Nothing is left behind, and closing twice is harmless."""
    loop = LoopThread("test-loop-2")
    ended = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        return task

    loop.run(start())
    loop.close()
    loop.close()
    assert ended.is_set()
    assert "test-loop-2" not in [t.name for t in threading.enumerate()]


def test_a_closed_loop_says_so() -> None:
    """Using a closed connection is a clear error."""
    loop = LoopThread("test-loop-3")
    loop.close()
    with pytest.raises(LakewardError, match="closed"):
        loop.run(where())


def test_what_waits_while_the_loop_is_closed_hears_why() -> None:
    """An error of ours, with words, in the thread that waits."""
    loop = LoopThread("test-loop-closed-meanwhile")
    begun = threading.Event()
    heard: list[str] = []

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    def wait_for_it() -> None:
        with pytest.raises(LakewardError) as told:
            loop.run(wait())
        heard.append(told.value.message)

    waiting = threading.Thread(target=wait_for_it)
    waiting.start()
    assert begun.wait(10)
    loop.close()
    waiting.join(10)
    assert heard == ["The connection was closed meanwhile."]


def test_work_that_comes_while_the_loop_cleans_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread closes the connection at that moment: nobody would cancel the work, and nobody go on with it."""
    loop = LoopThread("test-loop-closing")
    cleans_up, goes_on = threading.Event(), threading.Event()
    has_ended = _Job.has_ended
    heard: list[str] = []

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleans_up.set()
            goes_on.wait(10)

    async def start() -> asyncio.Task[None]:
        task = asyncio.create_task(slow_to_end())
        await asyncio.sleep(0)
        return task

    def wait(job: _Job[Any], patience_s: float) -> bool:
        goes_on.set()
        return has_ended(job, patience_s)

    def ask() -> None:
        with pytest.raises(LakewardError) as told:
            loop.run(asyncio.Event().wait())
        heard.append(told.value.message)

    loop.run(start())
    monkeypatch.setattr(_Job, "has_ended", wait)
    closing = threading.Thread(target=loop.close)
    closing.start()
    assert cleans_up.wait(10)
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    for thread in (closing, asking):
        thread.join(10)
    assert heard == ["The connection was closed meanwhile."]


def test_a_generator_that_is_half_read_ends_with_the_loop() -> None:
    """Python would end it when the garbage is collected, on a loop that is closed, with a traceback."""
    loop = LoopThread("test-loop-half-read")
    ended = threading.Event()

    async def batches() -> AsyncGenerator[Any, None]:
        try:
            for number in range(2):
                yield number
        finally:
            await asyncio.sleep(0)
            ended.set()

    reading = iterate(loop, batches())
    assert next(reading) == 0
    loop.close()
    assert ended.is_set()


def test_a_loop_that_nobody_can_close_any_more_ends_by_itself() -> None:
    """A cell that connects is run again and again; what it left would be a thread and open files each time."""
    ended: list[str] = []

    async def last() -> None:
        await asyncio.sleep(0)
        ended.append("well")

    loop = LoopThread("test-loop-forgotten")
    loop.end_with(last)
    thread = loop._thread
    assert loop.run(where()) == "test-loop-forgotten"
    assert ended == []
    del loop
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    assert ended == ["well"]


def test_what_the_end_of_a_forgotten_loop_meets_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Rows that a writer still held, say; with a sentence, and the loop ends all the same."""

    async def last() -> None:
        raise ErrorCode.NETWORK.error("the server is away")

    loop = LoopThread("test-loop-forgotten-too")
    loop.end_with(last)
    thread = loop._thread
    del loop
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    assert "could not end well: the server is away" in caplog.text


def test_it_stays_in_its_process() -> None:
    """Neither pickled nor copied, and the refusal says what to do instead."""
    loop = LoopThread("test-loop-pickled")
    for hand_over in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match=r"connect there, with lakeward\.connect"):
            hand_over(loop)
    loop.close()


def test_work_that_was_cancelled_before_its_first_step_was_not_forgotten() -> None:
    """Ctrl-C may come between the beginning of a task and its first step; Python would warn of it as never awaited."""

    async def begin_and_cancel() -> None:
        job = _Job(asyncio.get_running_loop(), where())
        job.start()
        job.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert job.has_ended(0)

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        asyncio.run(begin_and_cancel())
    assert not warned


def test_ctrl_c_is_told_when_the_work_has_ended() -> None:
    """Whoever catches it may close what the work used; a generator, say, must not be running any more."""
    loop = LoopThread("test-loop-4")
    ended = threading.Event()

    async def slow_to_end() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(100):
                await asyncio.sleep(0)
            ended.set()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            loop.run(slow_to_end())
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.is_set()
    loop.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # where Python cannot raise it
def test_an_interrupt_at_any_moment_leaves_nothing_running() -> None:
    """Just before the work begins, too: the generator that it came from can be closed at once."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    async def endless() -> AsyncGenerator[int, None]:
        while True:
            yield 1
            await asyncio.sleep(0)

    loop = LoopThread("test-loop-5")
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for n in range(400):
            numbers = endless()
            try:
                # Again after a while: C code of the loop may swallow an exception.
                signal.setitimer(signal.ITIMER_REAL, 20e-6 + n * 1e-6, 0.05)
                while True:
                    loop.run(anext(numbers))
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                loop.run(numbers.aclose())
    finally:
        signal.signal(signal.SIGALRM, before)
        loop.close()


def test_what_is_left_half_read_may_be_let_go_of_anywhere() -> None:
    """The garbage collector may come up on the loop's own thread: it begins there, and the loop goes on."""
    loop = LoopThread("test-loop-let-go")
    closed = [threading.Event(), threading.Event()]

    async def numbers(ended: threading.Event) -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            await asyncio.sleep(0)
            ended.set()

    left = [numbers(one) for one in closed]
    for one in left:
        assert loop.run(anext(one)) == 1
    loop.let_go(left[0])
    assert closed[0].is_set()

    async def collect() -> None:
        loop.let_go(left[1])

    loop.run(collect())
    assert closed[1].wait(10)
    loop.close()
    loop.let_go(left[1])


def test_a_program_may_end_with_something_half_read() -> None:
    """The loop's thread is dead by then: nobody waits for it."""
    program = """
from lakeward.client.blocking.sync_scan import iterate
from lakeward.client.blocking.sync_scan import iterate
from lakeward.client.cluster.loop_thread import LoopThread

async def endless():
    while True:
        yield 1

left = iterate(LoopThread("left"), endless())
print(next(left), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")
