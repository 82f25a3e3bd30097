"""Scrape: the text of all metrics, made in steps between which clients are served, and kept for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import TypeVar

_T = TypeVar("_T")
#: Time that steps take before others have their turn.
_SLICE_S = 0.001
#: A text that takes longer to make is made again only after some times that long.
_QUICK_S = 0.002
_REST = 4


async def take_steps(steps: Generator[None, None, _T], now: Callable[[], float]) -> _T:
    """What steps lead to; the loop goes on in between. `now` tells seconds that never go back."""
    until = now() + _SLICE_S
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: _T = end.value
            return value
        if now() >= until:
            await asyncio.sleep(0)
            until = now() + _SLICE_S


class Scrape:
    """However many ask, it is made once at a time."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        steps: Callable[[], Generator[None, None, str]],
        now: Callable[[], float],
    ) -> None:
        self._loop = loop
        self._steps = steps
        self._now = now
        self._text = ""
        self._kept_until = 0.0
        self._under_way: asyncio.Task[str] | None = None

    def __call__(self) -> asyncio.Future[str]:
        """The text, as it is now or was a moment ago."""
        if self._now() < self._kept_until:
            kept: asyncio.Future[str] = self._loop.create_future()
            kept.set_result(self._text)
            return kept
        if self._under_way is None or self._under_way.done():
            self._under_way = self._loop.create_task(self._make())
        return asyncio.shield(self._under_way)

    async def _make(self) -> str:
        begun = self._now()
        self._text = await take_steps(self._steps(), self._now)
        spent = self._now() - begun
        self._kept_until = begun + spent * (1 + _REST) if spent > _QUICK_S else begun
        return self._text
