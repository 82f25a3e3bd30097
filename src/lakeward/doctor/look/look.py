"""Look: parts of the facts asked for side by side, within one time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lakeward.errors import LakewardError
from lakeward.options.secrets import without_passwords

#: Each question answers with one part of the facts or several, by name.
Question = Callable[[], Awaitable[Mapping[str, Any]]]


class Look:
    """What was learned so far, and why the rest was not."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.missing: dict[str, str] = {}

    async def ask(self, questions: Mapping[str, Question], timeout_s: float) -> None:
        """Ask all of them; a question is named after the parts that it answers, with spaces between."""
        tasks = {asyncio.ensure_future(ask()): names for names, ask in questions.items()}
        try:
            done, late = await asyncio.wait(tasks, timeout=timeout_s) if tasks else (set(), set())
        finally:
            for task in tasks:
                task.cancel()
        for task in done:
            self._note(tasks[task], task)
        for task in late:
            self._miss(tasks[task], f"there was no answer within {timeout_s:g} s.")

    def _note(self, names: str, task: asyncio.Future[Mapping[str, Any]]) -> None:
        wrong = task.exception()
        if wrong is None:
            self.found |= task.result()
        elif isinstance(wrong, LakewardError | OSError | ValueError | LookupError):
            self._miss(names, sentence(wrong))
        else:
            raise wrong

    def _miss(self, names: str, why: str) -> None:
        for name in names.split():
            self.missing.setdefault(name, why)


def sentence(wrong: BaseException) -> str:
    """Why something could not be learned."""
    told = wrong.message if isinstance(wrong, LakewardError) else str(wrong)
    return without_passwords(told or type(wrong).__name__)
