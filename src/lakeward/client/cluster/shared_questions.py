"""Questions about the same table become one: whoever asks while one is under way shares the next with all who do.

A writer of thousands of buckets asks for the leader of each, all in the same moment; each answer names all of them.
An answer that is under way may be older than the reason to ask, so nobody joins that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from lakeward.errors import LakewardError
from lakeward.model.table import TablePath

#: Nobody waits longer for a question under way: whom it is put to may have fallen silent, and the next goes elsewhere.
_WAIT_S = 1.0

Ask = Callable[[TablePath | None, frozenset[str]], Awaitable[None]]


@dataclass(slots=True)
class _Question:
    """What is asked of a table by all who share it."""

    partitions: set[str]
    task: asyncio.Task[None] = field(init=False)


class SharedQuestions:
    """One event loop's questions; `ask` sends one, of a table and some of its partitions."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._under_way: dict[TablePath | None, _Question] = {}
        self._next: dict[TablePath | None, _Question] = {}

    async def ask(self, path: TablePath | None, partitions: Iterable[str]) -> None:
        """Have it asked, from now on; whoever is cancelled leaves the question to the others."""
        wanted = frozenset(partitions)
        question = self._next.get(path)
        if question is None:
            before = self._under_way.get(path)
            of_all = self._next if before else self._under_way
            question = of_all[path] = _Question(set())
            question.task = asyncio.get_running_loop().create_task(self._run(path, question, before))
            question.task.add_done_callback(_take_note)
        question.partitions |= wanted
        try:
            await asyncio.shield(question.task)
        except LakewardError:
            if question.partitions == wanted:
                raise
            await self._ask(path, wanted)  # a partition of somebody else may be gone

    async def _run(self, path: TablePath | None, question: _Question, before: _Question | None) -> None:
        if before is not None:
            await asyncio.wait([before.task], timeout=_WAIT_S)
            self._under_way[path] = self._next.pop(path)
        try:
            await self._ask(path, frozenset(question.partitions))
        finally:
            if self._under_way.get(path) is question:
                del self._under_way[path]

    def close(self) -> None:
        """Nobody waits for an answer any more."""
        for question in (*self._next.values(), *self._under_way.values()):
            question.task.cancel()


def _take_note(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()  # all who asked may have been cancelled
