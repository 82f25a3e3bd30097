"""Pending: a write request whose buckets are done one after the other, some of them later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.errors import LakewardError
from lakeward.rpc.dispatch import Exchange

#: An offset, or why there is none.
Outcome = int | LakewardError
Done = Callable[[Outcome], None]


class Pending:
    """Gathers an outcome for each bucket and answers when it has all of them."""

    def __init__(self, count: int, exchange: Exchange, answer: Callable[[list[Outcome]], Any]) -> None:
        self._outcomes: list[Outcome | None] = [None] * count
        self._open = count
        self.exchange = exchange
        self._answer = answer
        self._is_started = False

    def done_at(self, place: int) -> Done:
        """What to call with the outcome of one bucket."""

        def finish(outcome: Outcome) -> None:
            self._outcomes[place] = outcome
            self._open -= 1
            if isinstance(outcome, LakewardError):
                self.exchange.note_refusal(outcome)
            if self._is_started and not self._open:
                self.exchange.reply(self._answer(self._all()))

        return finish

    def answer_or_wait(self) -> Any | None:
        """All buckets have been begun: the answer if all are done too, else None and it will be given later."""
        self._is_started = True
        return None if self._open else self._answer(self._all())

    def _all(self) -> list[Outcome]:
        return [outcome for outcome in self._outcomes if outcome is not None]
