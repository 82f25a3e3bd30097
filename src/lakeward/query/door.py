"""connect: a connection of the client with a query engine in its hands. What users call stands above both."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.tables.connection import AsyncConnection
from lakeward.query.duckdb.duck_session import load_duckdb
from lakeward.runtime.process.held_signals import hold_signals

if TYPE_CHECKING:
    import pyarrow as pa


def connect(bootstrap: str | Sequence[str] = "localhost:9123", **options: Any) -> Connection:
    """Connect to a Lakeward or Apache Fluss cluster.

    `bootstrap` is `host:port`, several of them separated by commas, or a list. Options are those of Apache Fluss,
    without `client.` and with underscores (`writer_acks="all"`), or as they are (`**{"client.writer.acks": "all"}`).
    `lake={"warehouse": …}` are properties of the lake's catalog for queries, by the names of its library; they win over
    what tables say themselves. Options `s3.*` say how remote storage is reached, and a lake that is in S3.
    """
    return Connection.open(bootstrap, DuckEngine(), options)


def aconnect(bootstrap: str | Sequence[str] = "localhost:9123", **options: Any) -> Opening:
    """Connect to a Lakeward or Apache Fluss cluster from asyncio; takes what `connect` takes.

    `conn = await aconnect(…)`, or `async with aconnect(…) as conn`.
    """
    return Opening(AsyncConnection.open(bootstrap, DuckEngine(), options))


class Opening(Coroutine[Any, Any, AsyncConnection]):
    """A connection that is being opened: a coroutine, which `async with` takes as well."""

    def __init__(self, work: Coroutine[Any, Any, AsyncConnection]) -> None:
        self._work = work
        self._opened: AsyncConnection | None = None

    def send(self, value: Any) -> Any:
        """As coroutines have it."""
        return self._work.send(value)

    def throw(self, *wrong: Any) -> Any:
        """As coroutines have it."""
        return self._work.throw(*wrong)

    def close(self) -> None:
        """As coroutines have it."""
        self._work.close()

    def __await__(self) -> Generator[Any, Any, AsyncConnection]:
        return self._work.__await__()

    async def __aenter__(self) -> AsyncConnection:
        self._opened = await self._work
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, wrong: BaseException | None, at: TracebackType | None
    ) -> None:
        assert self._opened is not None
        await self._opened.__aexit__(kind, wrong, at)


class DuckEngine:
    """SQL by DuckDB; it, and Arrow, load with the first query."""

    def answer(
        self,
        conn: AsyncConnection,
        loop: LoopThread,
        sql: str,
        options: Mapping[str, str] | None,
        names: Mapping[str, str] | None,
    ) -> pa.Table:
        """The answer to a SELECT, as `run_sql` gives it."""
        return _load_sql()(Connection(loop, conn), sql, options, names)

    def metrics(self, conn: AsyncConnection) -> str:
        """What queries of a connection have read, by tier, and how long they took, as Prometheus' text."""
        from lakeward.query.read.query_metrics import metrics_of

        return metrics_of(conn).text()


@cache
def _load_sql() -> Callable[..., pa.Table]:
    """All that SQL needs, or nothing of it: modules that a Ctrl-C left half loaded are never loaded again."""
    with hold_signals():
        from lakeward.query.duckdb.sql import run_sql

        load_duckdb()
    return run_sql
