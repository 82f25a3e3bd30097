"""The blocking door: Connection, a thin facade over AsyncConnection on a background loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lakeward.client.admin.acls import Acls
from lakeward.client.admin.lake import Lake
from lakeward.client.blocking.sync_table import Table
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.forms.results import ClusterOption, DatabaseInfo, ServerInfo
from lakeward.client.tables.connection import AsyncConnection, QueryEngine
from lakeward.client.tables.glance import Glance

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.tables.glance import Known
    from lakeward.model.table import TablePath


class Connection:
    """A connection to a cluster: databases, tables and their data. Safe to share between threads."""

    def __init__(self, loop: LoopThread, inner: AsyncConnection) -> None:
        self._loop = loop
        self._inner = inner
        #: How far the lake is, and what a tiering service says to the cluster.
        self.lake = Lake(loop, inner.lake)
        #: Who may do what.
        self.acls = Acls(loop, inner.acls)

    @classmethod
    def open(cls, bootstrap: str | Sequence[str], engine: QueryEngine, options: Mapping[str, Any]) -> Self:
        """Start a background loop and connect on it; the options are those of `lakeward.connect`."""
        loop = LoopThread("lakeward-client")
        try:
            inner = loop.run(AsyncConnection.open(bootstrap, engine, options))
            loop.end_with(inner.close)
            return cls(loop, inner)
        except BaseException:
            loop.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end(abandons=kind is not None)

    def __repr__(self) -> str:
        return f"lakeward.connect({self._inner.bootstrap!r})"

    @property
    def inner(self) -> AsyncConnection:
        """What this is a facade of."""
        return self._inner

    @property
    def loop(self) -> LoopThread:
        """Where its requests run."""
        return self._loop

    @property
    def lake_properties(self) -> Mapping[str, str]:
        """Properties of the lake's catalog, for queries."""
        return self._inner.lake_properties

    def close(self) -> None:
        """Have open writers send what they hold, close every socket and end the background thread.

        Harmless when done before, or in a forked process. At the end of a `with` that failed nothing more is sent.
        """
        self._end(abandons=False)

    def _end(self, *, abandons: bool) -> None:
        try:
            if not (self._inner.closed or self._loop.is_copy):
                self._loop.run(self._inner.abandon() if abandons else self._inner.close())
        finally:
            self._loop.close()

    # -- databases ----------------------------------------------------------------------------------------------------

    def databases(self) -> list[str]:
        """The names of all databases, sorted."""
        return self._loop.run(self._inner.databases())

    def database(self, name: str) -> DatabaseInfo:
        """What is known of a database."""
        return self._loop.run(self._inner.database(name))

    def create_database(
        self,
        name: str,
        *,
        comment: str | None = None,
        properties: Mapping[str, str] | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Create a database."""
        self._loop.run(
            self._inner.create_database(name, comment=comment, properties=properties, exist_ok=exist_ok),
        )

    def drop_database(self, name: str, *, cascade: bool = False, missing_ok: bool = False) -> None:
        """Drop a database; with `cascade` its tables too."""
        self._loop.run(self._inner.drop_database(name, cascade=cascade, missing_ok=missing_ok))

    # -- tables -------------------------------------------------------------------------------------------------------

    def tables(self, database: str = "fluss") -> list[str]:
        """The names of all tables of a database, sorted."""
        return self._loop.run(self._inner.tables(database))

    def create_table(
        self,
        path: str,
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
    ) -> Table:
        """Create a table and return it.

        `schema` is text as in SQL (`"id INT, name STRING"`), a dict of names and types (as text or DataType), a
        pyarrow.Schema, or a lakeward.Schema. `bucketing="pyfluss"` declares that pyfluss writes the table too, which
        spreads some keys over buckets in its own way (see `table`).
        """
        inner = self._loop.run(
            self._inner.create_table(
                path,
                schema,
                primary_key=primary_key,
                partition_by=partition_by,
                bucket_by=bucket_by,
                buckets=buckets,
                properties=properties,
                custom_properties=custom_properties,
                comment=comment,
                bucketing=bucketing,
                exist_ok=exist_ok,
            )
        )
        return Table(self._loop, inner, self._query)

    def table(self, path: str, *, bucketing: str | None = None) -> Table:
        """A table that exists, by `db.table` or by `table` in the database `fluss`.

        `bucketing` is `"java"` or `"pyfluss"`: who else writes the table, because the two look for some keys in
        different buckets. Without it the table's own `lakeward.bucketing` counts, and without that, Java.
        """
        return Table(self._loop, self._loop.run(self._inner.table(path, bucketing=bucketing)), self._query)

    def glance(self, asked: Sequence[tuple[TablePath, Known | None]]) -> list[Glance[Table]]:
        """Look at tables, of some of which something is known: all that can be told at once."""
        return [
            Glance(None if one.table is None else Table(self._loop, one.table, self._query), one.ends)
            for one in self._loop.run(self._inner.glance(asked))
        ]

    def has_table(self, path: str) -> bool:
        """Whether the table exists."""
        return self._loop.run(self._inner.has_table(path))

    def drop_table(self, path: str, *, missing_ok: bool = False) -> None:
        """Drop a table and its data."""
        self._loop.run(self._inner.drop_table(path, missing_ok=missing_ok))

    def alter_table(
        self,
        path: str,
        *,
        set: Mapping[str, str] | None = None,  # noqa: A002 - reads as in SQL
        reset: Iterable[str] = (),
        add_columns: Any = None,
    ) -> None:
        """Set or reset properties, or add nullable columns at the end (given like a schema)."""
        self._loop.run(self._inner.alter_table(path, set=set, reset=reset, add_columns=add_columns))

    def sql(self, query: str, options: Mapping[str, str] | None = None) -> pa.Table:
        """The answer to a SELECT over tables named `db.table`: lake and log as one, by DuckDB, without Spark.

        `options` are those of a read: `scan.timestamp-millis`, `scan.snapshot-id`, `lake.warehouse`, …
        """
        return self._query(query, options)

    def _query(self, sql: str, options: Mapping[str, str] | None, names: Mapping[str, str] | None = None) -> pa.Table:
        return self._inner.engine.answer(self._inner, self._loop, sql, options, names)

    def metrics(self) -> str:
        """What queries of this connection have read, by tier, and how long they took, as Prometheus' text."""
        return self._inner.metrics()

    # -- the cluster --------------------------------------------------------------------------------------------------

    def servers(self) -> list[ServerInfo]:
        """The servers of the cluster, the coordinator first."""
        return self._loop.run(self._inner.servers())

    def cluster_options(self) -> list[ClusterOption]:
        """The options the cluster runs with."""
        return self._loop.run(self._inner.cluster_options())

    def set_cluster_options(
        self,
        set: Mapping[str, str] | None = None,  # noqa: A002 - reads as in SQL
        reset: Iterable[str] = (),
    ) -> None:
        """Change options of the running cluster, all of them or none."""
        self._loop.run(self._inner.set_cluster_options(set=set, reset=reset))
