"""Flows: the same steps in the same order, whether their long parts are done here or on a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.tablet.requests.flow import Flow, run_beside, run_here


def _refuse() -> None:
    raise ErrorCode.KV_STORAGE.error("no")


def _work(seen: list[Any], parts: list[Callable[[], Any]]) -> Flow[int]:
    for part in parts:
        try:
            seen.append((yield part))
        except LakewardError as wrong:
            seen.append(wrong.code)
    return len(parts)


def _beside(flow: Flow[Any]) -> Any:
    async def run() -> Any:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as threads:
            return await run_beside(flow, lambda part: loop.run_in_executor(threads, part))

    return asyncio.run(run())


@pytest.mark.parametrize("run", [run_here, _beside])
def test_parts_are_done_in_order_and_may_fail(run: Callable[[Flow[Any]], Any]) -> None:
    """A flow is handed what its part returned or raised, and goes on."""
    seen: list[Any] = []
    assert run(_work(seen, [lambda: 1, _refuse, lambda: 3])) == 3
    assert seen == [1, ErrorCode.KV_STORAGE, 3]
    assert run(_work(seen, [])) == 0


@pytest.mark.parametrize("run", [run_here, _beside])
def test_what_a_flow_does_not_expect_is_raised(run: Callable[[Flow[Any]], Any]) -> None:
    """A bug in a part reaches whoever runs the flow."""
    with pytest.raises(ZeroDivisionError):
        run(_work([], [lambda: 1 // 0]))


def test_only_the_parts_are_on_a_thread() -> None:
    """What stands between them is done where the flow is run."""
    where: list[int] = []

    def flow() -> Flow[None]:
        where.append(threading.get_ident())
        where.append((yield threading.get_ident))
        where.append(threading.get_ident())

    _beside(flow())
    assert where[0] == where[2] == threading.get_ident() != where[1]
