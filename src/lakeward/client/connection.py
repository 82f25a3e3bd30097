"""AsyncConnection: the asyncio door to a cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lakeward.client.admin import Admin, path_of, table_info
from lakeward.client.cluster import Cluster, addresses
from lakeward.client.keyed.conventions import with_bucketing
from lakeward.client.lake import AsyncLake
from lakeward.client.settings import ClientSettings
from lakeward.client.table import AsyncTable
from lakeward.client.writer_ids import WriterIds
from lakeward.model.table import TablePath

if TYPE_CHECKING:
    import pyarrow as pa


async def aconnect(bootstrap: str | Sequence[str] = "localhost:9123", **options: Any) -> AsyncConnection:
    """Connect to a Lakeward or Apache Fluss cluster from asyncio; takes what `connect` takes."""
    lake = options.pop("lake", None)
    opened = await AsyncConnection.open(bootstrap, options)
    opened.lake_properties = {**opened.lake_properties, **(lake or {})}
    return opened


class AsyncConnection(Admin):
    """A connection to a cluster, with the methods of Connection as coroutines."""

    def __init__(self, bootstrap: str, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.bootstrap = bootstrap
        self.closed = False
        self.lake = AsyncLake(cluster)
        #: Properties of the lake's catalog, for queries; a bucket is reached as that of remote storage is.
        self.lake_properties: Mapping[str, str] = cluster.settings.store_options
        self._writer_ids = WriterIds(cluster)

    @classmethod
    async def open(cls, bootstrap: str | Sequence[str], options: Mapping[str, Any]) -> AsyncConnection:
        """Connect and learn which servers there are."""
        found = addresses(bootstrap)
        cluster = Cluster(found, ClientSettings.of(options))
        try:
            await cluster.metadata.refresh()
        except BaseException:
            await cluster.close()
            raise
        return cls(",".join(map(str, found)), cluster)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every socket; harmless when done before."""
        if not self.closed:
            self.closed = True
            await self._cluster.close()

    async def create_table(
        self,
        path: str | TablePath,
        schema: Any,
        *,
        primary_key: Sequence[str] | str | None = None,
        partition_by: Sequence[str] | str | None = None,
        bucket_by: Sequence[str] | str | None = None,
        buckets: int | None = None,
        properties: Mapping[str, str] | None = None,
        custom_properties: Mapping[str, str] | None = None,
        comment: str | None = None,
        bucketing: str | None = None,
        exist_ok: bool = False,
    ) -> AsyncTable:
        """Create a table and return it; takes what Connection.create_table takes."""
        rest = {
            "partition_by": partition_by,
            "bucket_by": bucket_by,
            "buckets": buckets,
            "properties": properties,
            "custom_properties": with_bucketing(custom_properties, bucketing),
            "comment": comment,
        }
        await self._create_table(path_of(path), schema, primary_key, exist_ok, rest)
        return await self.table(path)

    async def table(self, path: str | TablePath, *, bucketing: str | None = None) -> AsyncTable:
        """A table that exists; takes what Connection.table takes."""
        info = await table_info(self._cluster, path_of(path))
        return AsyncTable(self._cluster, self._writer_ids, info, bucketing, self._query)

    async def sql(self, query: str, options: Mapping[str, str] | None = None) -> pa.Table:
        """The answer to a SELECT over tables named `db.table`; takes what Connection.sql takes."""
        return await self._query(query, options)

    async def _query(
        self, sql: str, options: Mapping[str, str] | None, names: Mapping[str, str] | None = None
    ) -> pa.Table:
        from lakeward.client.query_door import query

        return await query(self, sql, options, names)

    def metrics(self) -> str:
        """What queries of this connection have read, by tier, and how long they took, as Prometheus' text."""
        told: str = import_module("lakeward.query.query_metrics").metrics_of(self).text()
        return told
