"""Blocking code beside the loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from lakeward.console.cluster.beside import beside
from lakeward.errors import ErrorCode, LakewardError


class Inner:
    """As much of a connection as a facade needs to be made."""

    lake = acls = None


INNER: Any = Inner()


def test_what_it_returns_and_what_it_raises_arrive() -> None:
    """As if it had been called here."""

    def fail(_conn: object) -> None:
        raise ErrorCode.STORAGE.error("full")

    async def ask() -> tuple[str, str]:
        found = await beside(INNER, lambda conn: type(conn).__name__)
        with pytest.raises(LakewardError) as wrong:
            await beside(INNER, fail)
        return found, wrong.value.message

    assert asyncio.run(ask()) == ("Connection", "full")


def test_nobody_waits_longer_than_their_patience_and_only_so_many_wait_at_once() -> None:
    """A lake that hangs costs its threads, not the console."""
    end = threading.Event()

    async def ask() -> list[BaseException | None]:
        waits = [beside(INNER, lambda _: end.wait(60), patience_s=0.2) for _ in range(40)]
        answers = await asyncio.gather(*waits, return_exceptions=True)
        end.set()
        return [one for one in answers if isinstance(one, BaseException)]

    told = [one.message for one in asyncio.run(ask()) if isinstance(one, LakewardError)]
    assert len(told) == 40
    assert sum("no answer within" in one for one in told) == 16
    assert sum("too much at once" in one for one in told) == 24
