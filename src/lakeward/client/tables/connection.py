"""AsyncConnection: the asyncio door to a cluster."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlencode

from lakeward.client.admin.acls import AsyncAcls
from lakeward.client.admin.admin import Admin, path_of, table_info
from lakeward.client.admin.lake import AsyncLake
from lakeward.client.cluster.cluster import Cluster, addresses
from lakeward.client.cluster.http_page import HttpPage, read_page
from lakeward.client.cluster.loop_thread import CallersLoop, LoopThread
from lakeward.client.cluster.remote_page import document_of, one_document
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.settings import ClientSettings
from lakeward.client.keys.conventions import with_bucketing
from lakeward.client.tables.glance import Glance, Known, glance
from lakeward.client.tables.table import AsyncTable
from lakeward.model.table import TablePath
from lakeward.rpc.client_security import ClientSecurity
from lakeward.rpc.login import Login

if TYPE_CHECKING:
    import pyarrow as pa

_PAGE_S = 10.0


class QueryEngine(Protocol):
    """Answers SELECTs over the tables of connections. It stands above the client, which is handed one."""

    def answer(
        self,
        conn: AsyncConnection,
        loop: LoopThread,
        sql: str,
        options: Mapping[str, str] | None,
        names: Mapping[str, str] | None,
    ) -> pa.Table:
        """The answer as Arrow; blocks, while requests run on the loop. `names` are short names of tables."""
        ...

    def metrics(self, conn: AsyncConnection) -> str:
        """What queries of a connection have read, as Prometheus' text."""
        ...


class AsyncConnection(Admin):
    """A connection to a cluster, with the methods of Connection as coroutines."""

    def __init__(self, bootstrap: str, cluster: Cluster, engine: QueryEngine, lake: Mapping[str, str]) -> None:
        super().__init__(cluster)
        self.bootstrap = bootstrap
        self.closed = False
        self.lake = AsyncLake(cluster)
        #: Who may do what.
        self.acls = AsyncAcls(cluster)
        #: Properties of the lake's catalog, for queries; a bucket is reached as that of remote storage is.
        self.lake_properties: Mapping[str, str] = {**cluster.settings.store_options, **lake}
        self.engine = engine
        self._writer_ids = WriterIds(cluster)

    @classmethod
    async def open(
        cls,
        bootstrap: str | Sequence[str],
        engine: QueryEngine,
        options: Mapping[str, Any],
        login: Login | None = None,
    ) -> Self:
        """Connect and learn which servers there are; the options are those of `lakeward.connect`.

        `login` is for those who come in the name of somebody else who has proven a password to them.
        """
        found, options = addresses(bootstrap), dict(options)
        lake = options.pop("lake", None) or {}
        settings = ClientSettings.of(options)
        if login is not None:
            settings = replace(settings, security=replace(settings.security, login=login))
        cluster = Cluster(found, settings)
        try:
            await cluster.metadata.refresh()
        except BaseException:
            await cluster.close()
            raise
        return cls(",".join(map(str, found)), cluster, engine, lake)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await (self.close() if kind is None else self.abandon())

    async def close(self) -> None:
        """Have open writers send what they hold, then close every socket; harmless when done before."""
        if self.closed:
            return
        try:
            await self._cluster.finish()
        finally:
            await self.abandon()

    async def abandon(self) -> None:
        """Close every socket, without waiting for what open writers hold."""
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

    async def glance(self, asked: Sequence[tuple[TablePath, Known | None]]) -> list[Glance[AsyncTable]]:
        """Look at tables, of some of which something is known: all that can be told at once."""
        return await glance(self._cluster, self.table, asked)

    async def sql(self, query: str, options: Mapping[str, str] | None = None) -> pa.Table:
        """The answer to a SELECT over tables named `db.table`; takes what Connection.sql takes."""
        return await self._query(query, options)

    async def _query(
        self, sql: str, options: Mapping[str, str] | None, names: Mapping[str, str] | None = None
    ) -> pa.Table:
        """On a thread, since queries block; a query that nobody waits for asks no more."""
        loop = CallersLoop()
        try:
            return await asyncio.to_thread(self.engine.answer, self, loop, sql, options, names)
        except asyncio.CancelledError:
            loop.leave()
            raise

    async def http_page(self, path: str, timeout_s: float = _PAGE_S) -> HttpPage:
        """A page of the first server, such as `/health`; NETWORK where it has none, as those of Apache Fluss."""
        first = addresses(self.bootstrap)[0]
        return await asyncio.to_thread(read_page, first.host, first.port, path, self.security, timeout_s)

    async def remote_page(self, table: str = "", timeout_s: float = _PAGE_S) -> HttpPage:
        """`/remote` of all servers as one page, with the buckets of a table if one is named; the first server's where
        that has none."""
        path = f"/remote?{urlencode({'table': table})}" if table else "/remote"
        first = await self.http_page(path, timeout_s)
        document = document_of(first.text) if first.is_there else None
        if document is None:
            return first
        roles: dict[tuple[str, int], set[str]] = {}
        for server in await self.servers():
            roles.setdefault((server.host, server.port), set()).add(server.role)
        asked = [asyncio.to_thread(read_page, *one, path, self.security, timeout_s) for one in roles]
        pages = await asyncio.gather(*asked, return_exceptions=True)
        told: dict[bool, list[Mapping[str, Any]]] = {False: [], True: []}
        silent = []
        for (host, port), page in zip(roles, pages, strict=True):
            found = document_of(page.text) if isinstance(page, HttpPage) and page.is_there else None
            if found is None:
                silent.append(f"{host}:{port}")
            else:
                told["tablet" in roles[host, port]].append(found)
        return HttpPage(first.status, json.dumps(one_document(document, told[False], told[True], silent)))

    @property
    def security(self) -> ClientSecurity:
        """How this connection comes in; a password in it is shown to nobody who prints it."""
        return self._cluster.settings.security

    def metrics(self) -> str:
        """What queries of this connection have read, by tier, and how long they took, as Prometheus' text."""
        return self.engine.metrics(self)
