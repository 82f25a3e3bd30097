"""Questions that run: on threads beside the loop, so many at a time, no longer than they may, and for nobody else.

A question whose browser has gone is stopped; its place is free when its thread has ended, and not before.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.loop_thread import CallersLoop
from lakeward.client.tables.connection import AsyncConnection
from lakeward.errors import ErrorCode
from lakeward.query.duckdb.question.bounded_sql import BoundedAnswer, BoundedQuestion, QuestionBounds
from lakeward.query.duckdb.question.question_error import QuestionError

QUESTIONS_MAX = 4
QUESTIONS_PER_VISITOR = 2
TIME_LIMIT_S = 30.0
_LOOK_S = 0.1
#: How long a question waits for a place.
_PATIENCE_S = 5.0

IsGone = Callable[[], Awaitable[bool]]


class Questions:
    """The questions of one console."""

    def __init__(self, time_limit_s: float = TIME_LIMIT_S, patience_s: float = _PATIENCE_S) -> None:
        self._time_limit_s = time_limit_s
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(QUESTIONS_MAX, "lakeward-question")
        self._by_visitor: Counter[str] = Counter()
        self._left = asyncio.Event()

    async def ask(
        self, visitor: str, connection: AsyncConnection, sql: str, bounds: QuestionBounds, is_gone: IsGone
    ) -> BoundedAnswer:
        """The answer; QuestionError for what is wrong with it, or that it was stopped."""
        await self._take_place(visitor)
        loop = CallersLoop()
        question = BoundedQuestion(Connection(loop, connection), sql, bounds)
        work = asyncio.get_running_loop().run_in_executor(self._threads, question.answer)
        work.add_done_callback(lambda _: self._leave(visitor))
        try:
            why = await self._wait(work, is_gone)
        except asyncio.CancelledError:
            _stop(question, loop)
            raise
        if why is None:
            return work.result()
        while not work.done():  # an interrupt that comes between two statements is lost
            _stop(question, loop)
            await asyncio.wait({work}, timeout=_LOOK_S)
        work.exception()  # looked at
        raise QuestionError(ErrorCode.REQUEST_TIME_OUT, why)

    async def _wait(self, work: asyncio.Future[BoundedAnswer], is_gone: IsGone) -> str | None:
        """Until it is answered; or why nobody waits any longer."""
        end = asyncio.get_running_loop().time() + self._time_limit_s
        while not work.done():
            await asyncio.wait({work}, timeout=_LOOK_S)
            if work.done():
                break
            if asyncio.get_running_loop().time() > end:
                return (
                    f"The question took longer than {self._time_limit_s:.0f} seconds and was stopped. Ask for less, or "
                    "ask it by `lakeward sql`, which waits."
                )
            if await is_gone():
                return "The question was stopped."
        return None

    async def _take_place(self, visitor: str) -> None:
        """Take a place; those of questions that were stopped a moment ago are free soon."""
        end = asyncio.get_running_loop().time() + self._patience_s
        while (full := self._full(visitor)) and (left := end - asyncio.get_running_loop().time()) > 0:
            self._left.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), left)
        if full:
            raise QuestionError(ErrorCode.STORAGE_BACKPRESSURE, full)
        self._by_visitor[visitor] += 1

    def _full(self, visitor: str) -> str:
        """Why there is no place; empty if there is one."""
        if self._by_visitor[visitor] >= QUESTIONS_PER_VISITOR:
            return f"{QUESTIONS_PER_VISITOR} questions of this browser are being answered; wait, or stop one."
        if self._by_visitor.total() >= QUESTIONS_MAX:
            return f"{QUESTIONS_MAX} questions are being answered, which is as many as may be; try again soon."
        return ""

    def _leave(self, visitor: str) -> None:
        self._left.set()
        self._by_visitor[visitor] -= 1
        if not self._by_visitor[visitor]:
            del self._by_visitor[visitor]


def _stop(question: BoundedQuestion, loop: CallersLoop) -> None:
    loop.leave()
    question.stop()
