"""Many who ask about the same table at the same time ask once, and nobody is told what was known before they asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from lakeward.client.cluster import shared_questions
from lakeward.client.cluster.shared_questions import SharedQuestions
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath

ORDERS, ITEMS = TablePath("shop", "orders"), TablePath("shop", "items")


class Server:
    """Takes questions, and answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[TablePath | None, list[str], asyncio.Future[None]]] = []
        self.questions = SharedQuestions(self._ask)

    async def _ask(self, path: TablePath | None, partitions: frozenset[str]) -> None:
        answer = asyncio.get_running_loop().create_future()
        self.asked.append((path, sorted(partitions), answer))
        await answer

    def begin(self, path: TablePath | None = ORDERS, *partitions: str) -> asyncio.Task[None]:
        """Somebody asks."""
        return asyncio.ensure_future(self.questions.ask(path, partitions))

    async def answer(self, number: int, wrong: LakewardError | None = None) -> None:
        """Answer a question, and let those who asked go on."""
        await settle()
        answer = self.asked[number][2]
        answer.set_result(None) if wrong is None else answer.set_exception(wrong)
        await settle()

    @property
    def told(self) -> list[tuple[TablePath | None, list[str]]]:
        """What has been asked."""
        return [(path, partitions) for path, partitions, _ in self.asked]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A server whose questions end with the test."""
    made = Server()
    yield made
    made.questions.close()
    await settle()


async def settle() -> None:
    """Let all that can happen now happen."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_thousand_who_ask_at_once_ask_twice(server: Server) -> None:
    """Once for the first, and once for all who came while that was under way: its answer may be old to them."""
    first, *others = [server.begin() for _ in range(1000)]
    await server.answer(0)
    assert first.done()
    assert not any(one.done() for one in others)
    await server.answer(1)
    assert all(one.done() for one in others)
    assert len(server.asked) == 2


async def test_partitions_are_asked_for_together_and_tables_apart(server: Server) -> None:
    """A question about nothing but the servers is apart as well."""
    server.begin(ORDERS, "a"), server.begin(ITEMS), server.begin(None)
    server.begin(ORDERS, "b"), server.begin(ORDERS, "c", "b")
    await settle()
    assert server.told == [(ORDERS, ["a"]), (ITEMS, []), (None, [])]
    await server.answer(0)
    assert server.told[3:] == [(ORDERS, ["b", "c"])]


async def test_a_partition_of_somebody_else_that_is_gone_fails_nobody_else(server: Server) -> None:
    """Each asks again alone, and who asked for it is told."""
    server.begin()
    good, bad = server.begin(ORDERS, "here"), server.begin(ORDERS, "gone")
    await server.answer(0)
    wrong = ErrorCode.PARTITION_NOT_EXISTS.error("gone")
    await server.answer(1, wrong)
    assert sorted(partitions for _, partitions in server.told[2:]) == [["gone"], ["here"]]
    for number, (_, partitions) in enumerate(server.told[2:], 2):
        await server.answer(number, wrong if partitions == ["gone"] else None)
    assert good.done()
    assert good.exception() is None
    with pytest.raises(LakewardError, match="gone"):
        await bad


async def test_an_error_is_told_to_all_who_shared_it(server: Server) -> None:
    """And the next question is a new one."""
    server.begin()
    shared = [server.begin(), server.begin()]
    await server.answer(0)
    await server.answer(1, ErrorCode.NETWORK.error("away"))
    assert [str(one.exception()) for one in shared] == ["away", "away"]
    server.begin()
    await settle()
    assert len(server.asked) == 3


async def test_whoever_is_cancelled_leaves_the_question_to_the_others(server: Server) -> None:
    """Also the one who began it."""
    first = server.begin()
    second, third = server.begin(), server.begin()
    await settle()
    first.cancel()
    second.cancel()
    await server.answer(0)
    await server.answer(1)
    assert third.done()
    assert third.exception() is None


async def test_a_question_that_nobody_answers_does_not_hold_up_the_next(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server that it was put to may be frozen; the next is put to another one."""
    monkeypatch.setattr(shared_questions, "_WAIT_S", 0.01)
    silent = server.begin()
    others = [server.begin(), server.begin()]
    await asyncio.sleep(0.05)
    await server.answer(1)
    assert all(one.done() for one in others)
    assert not silent.done()
    await server.answer(0)
    assert silent.done()
