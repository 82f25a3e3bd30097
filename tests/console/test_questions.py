"""Questions that run beside the loop: as long as they may, and so many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from eventually import soon
from server_process import ServerProcess

import lakeward as client
from lakeward.console.pages.ask.questions import QUESTIONS_PER_VISITOR, Questions
from lakeward.query.duckdb.question.bounded_sql import QuestionBounds
from lakeward.query.duckdb.question.question_error import QuestionError

ENDLESS = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b"
BOUNDS = QuestionBounds(rows_max=3)


@pytest.fixture
async def conn(server: ServerProcess) -> AsyncIterator[client.AsyncConnection]:
    """A connection on the test's own loop."""
    async with await client.aconnect(server.bootstrap) as opened:
        yield opened


async def stays() -> bool:
    """A browser that waits."""
    return False


async def leaves() -> bool:
    """One that has gone."""
    return True


async def test_a_question_ends_when_its_time_is_over(conn: client.AsyncConnection) -> None:
    """And says so; the next one is answered."""
    questions = Questions(time_limit_s=0.2)
    with pytest.raises(QuestionError, match="took longer than"):
        await questions.ask("me", conn, ENDLESS, BOUNDS, stays)
    answer = await Questions().ask("me", conn, "SELECT * FROM range(10)", BOUNDS, stays)
    assert (answer.rows.num_rows, answer.is_cut) == (3, True)


async def test_a_question_of_somebody_who_left_is_stopped(conn: client.AsyncConnection) -> None:
    """Nobody reads for nobody."""
    with pytest.raises(QuestionError, match="was stopped"):
        await Questions().ask("me", conn, ENDLESS, BOUNDS, leaves)


async def test_one_browser_does_not_take_all_places(conn: client.AsyncConnection) -> None:
    """Others are answered while it waits; its places are free again when its questions have ended."""
    questions, gone = Questions(patience_s=0.2), asyncio.Event()

    async def is_gone() -> bool:
        return gone.is_set()

    running = [asyncio.create_task(questions.ask("me", conn, ENDLESS, BOUNDS, is_gone)) for _ in range(2)]
    assert len(running) == QUESTIONS_PER_VISITOR
    await asyncio.sleep(0)
    with pytest.raises(QuestionError, match="2 questions of this browser"):
        await questions.ask("me", conn, "SELECT 1", BOUNDS, stays)
    assert (await questions.ask("you", conn, "SELECT 1", BOUNDS, stays)).rows.num_rows == 1
    gone.set()
    assert await soon(lambda: all(task.done() for task in running))
    assert all(isinstance(task.exception(), QuestionError) for task in running)
    assert (await questions.ask("me", conn, "SELECT 1", BOUNDS, stays)).rows.num_rows == 1
