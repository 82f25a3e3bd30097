"""connect: a connection of the client with a query engine in its hands. What users call stands above both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.client.blocking.sync import Connection
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.tables.connection import AsyncConnection

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


async def aconnect(bootstrap: str | Sequence[str] = "localhost:9123", **options: Any) -> AsyncConnection:
    """Connect to a Lakeward or Apache Fluss cluster from asyncio; takes what `connect` takes."""
    return await AsyncConnection.open(bootstrap, DuckEngine(), options)


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
        from lakeward.query.duckdb.sql import run_sql

        return run_sql(Connection(loop, conn), sql, options, names)

    def metrics(self, conn: AsyncConnection) -> str:
        """What queries of a connection have read, by tier, and how long they took, as Prometheus' text."""
        from lakeward.query.read.query_metrics import metrics_of

        return metrics_of(conn).text()
