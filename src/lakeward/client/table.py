"""AsyncTable: the factory of writers and scans, and what can be asked of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakeward.client.admin import table_info
from lakeward.client.cluster import Cluster
from lakeward.client.offsets import TableOffsets
from lakeward.client.partitions import Partitions
from lakeward.client.results import AppendResult, BucketId, PartitionInfo
from lakeward.client.scan import AsyncScan, ScanRange, Start
from lakeward.client.writer import AsyncWriter
from lakeward.client.writer_ids import WriterIds
from lakeward.model.table import TableInfo, TablePath

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.routing import Router


class AsyncTable:
    """A table, with the methods of Table as coroutines."""

    def __init__(self, cluster: Cluster, ids: WriterIds, info: TableInfo) -> None:
        self._cluster = cluster
        self._ids = ids
        self.info = info

    def __repr__(self) -> str:
        return f"<lakeward table {self.path}>"

    @property
    def path(self) -> TablePath:
        """The table's full name."""
        return self.info.path

    @property
    def schema(self) -> pa.Schema:
        """The table's columns as an Arrow schema."""
        from lakeward.records.arrow_types import arrow_schema

        return arrow_schema(self.info.schema)

    async def refresh(self) -> None:
        """Ask the server again what the table looks like."""
        self.info = await table_info(self._cluster, self.path)
        self.__dict__.pop("_router", None)
        self.__dict__.pop("_partitions", None)

    @cached_property
    def _router(self) -> Router:
        from lakeward.client.routing import Router

        return Router(self.info, round_robin=self._cluster.settings.round_robin)

    @cached_property
    def _partitions(self) -> Partitions:
        return Partitions(self._cluster, self.info)

    # -- rows in ------------------------------------------------------------------------------------------------------

    async def append(self, data: Any) -> AppendResult:
        """Append rows and return when all are acknowledged; takes what Table.append takes."""
        async with self.writer() as writer:
            await writer.write(data)
            await writer.flush()
            return writer.result()

    def writer(
        self, *, batch_rows: int | None = None, batch_bytes: int | None = None, linger_ms: float | None = None
    ) -> AsyncWriter:
        """A pipelined writer: `async with table.writer() as w: await w.write(data)`."""
        return AsyncWriter(
            self._cluster,
            self._ids,
            self.info,
            self._router,
            self._partitions,
            batch_rows=batch_rows,
            batch_bytes=batch_bytes,
            linger_ms=linger_ms,
        )

    # -- rows out -----------------------------------------------------------------------------------------------------

    def scan(
        self,
        columns: Iterable[str] | None = None,
        *,
        start: Start = "earliest",
        end: Start | None = "latest",
        limit: int | None = None,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
        buckets: Iterable[int] | None = None,
        metadata_columns: bool = False,
    ) -> AsyncScan:
        """Describe a read of the log; takes what Table.scan takes."""
        return AsyncScan(
            self._cluster,
            self.info,
            self._partitions,
            ScanRange(
                columns=None if columns is None else tuple(columns),
                start=start,
                end=end,
                limit=limit,
                partitions=None if partitions is None else tuple(partitions),
                buckets=None if buckets is None else tuple(buckets),
                metadata_columns=metadata_columns,
            ),
        )

    async def head(self, n: int = 10) -> pa.Table:
        """A few rows of the table, the quick way."""
        from lakeward.client.limit_scan import limit_scan

        return await limit_scan(self._cluster, self.info, self._partitions, n)

    async def count(self) -> int:
        """How many rows the table holds."""
        return await self._offsets.count()

    async def offsets(self, at: Start = "latest") -> dict[BucketId, int]:
        """The offset of each bucket at `"earliest"`, `"latest"`, or at a time (datetime or Timestamp)."""
        found = await self._offsets.of_all(at)
        return {place.id: offset for place, offset in found.items()}

    @property
    def _offsets(self) -> TableOffsets:
        return TableOffsets(self._cluster, self.info, self._partitions)

    # -- partitions ---------------------------------------------------------------------------------------------------

    async def partitions(self) -> list[PartitionInfo]:
        """The partitions of the table."""
        return await self._partitions.all()

    async def create_partition(self, spec: Mapping[str, str], *, exist_ok: bool = False) -> None:
        """Create a partition, e.g. `{"dt": "2026-08-01"}`."""
        await self._partitions.create(spec, exist_ok=exist_ok)

    async def drop_partition(self, spec: Mapping[str, str], *, missing_ok: bool = False) -> None:
        """Drop a partition and its data."""
        await self._partitions.drop(spec, missing_ok=missing_ok)
