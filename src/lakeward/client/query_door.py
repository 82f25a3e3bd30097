"""Queries from asyncio: planned and answered on a thread, while every request runs on the loop of the caller."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from lakeward.client.loop_thread import LoopThread
from lakeward.errors import ErrorCode

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.connection import AsyncConnection

T = TypeVar("T")


class CallersLoop(LoopThread):
    """The loop that is running, for blocking code on other threads; a query that nobody waits for asks no more."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result, which the loop's own thread must not do."""
        if self._left:
            work.close()
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error("The query was cancelled.")
        return super().run(work)

    def leave(self) -> None:
        """Nobody waits any more."""
        self._left = True

    def close(self) -> None:
        """It is the caller's."""


async def query(
    conn: AsyncConnection, sql: str, options: Mapping[str, str] | None, names: Mapping[str, str] | None = None
) -> pa.Table:
    """The answer to a SELECT, as Connection.sql gives it."""
    from lakeward.client.sync import Connection

    loop = CallersLoop()
    # By name, since plans stand above the client.
    run_sql = import_module("lakeward.query.sql").run_sql
    try:
        answer: pa.Table = await asyncio.to_thread(
            run_sql, Connection(loop, conn, conn.lake_properties), sql, options, names
        )
    except asyncio.CancelledError:
        loop.leave()
        raise
    return answer
