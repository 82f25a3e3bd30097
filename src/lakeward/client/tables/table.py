"""AsyncTable: the factory of writers and scans, and what can be asked of a table."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakeward.client.admin.admin import table_info, table_schema
from lakeward.client.admin.offsets import TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.results import AppendResult, BucketId, PartitionInfo, UpsertResult
from lakeward.client.forms.schema_forms import names_of
from lakeward.client.keys.conventions import Bucketing, bucketing_of, declared_bucketing
from lakeward.client.raw.log_tail import LogTail, batches_before
from lakeward.client.read.log_marks import log_marks
from lakeward.client.read.log_peek import peek
from lakeward.client.read.scan import AsyncScan, ScanRange, Start
from lakeward.client.state.first_records import check_right
from lakeward.client.write.short_appends import ShortAppends
from lakeward.client.write.writer import AsyncWriter
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo, TablePath
from lakeward.runtime.process.held_signals import hold_signals

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.decode.log_decoder import Chunk
    from lakeward.client.forms.damage import Skips
    from lakeward.client.raw.raw_writer import RawWriter
    from lakeward.client.read.log_marks import LogMark
    from lakeward.client.read.log_peek import LogPeek
    from lakeward.client.state.state import TableState
    from lakeward.client.tables.keyed_rows import KeyedRows, Missing
    from lakeward.client.upsert.upserter import AsyncUpserter
    from lakeward.client.write.routing import Router
    from lakeward.model.schema import Schema
    from lakeward.records.batch.predicate import Predicate

#: How servers say that they keep no row counts, for this table or at all.
_NOT_COUNTED = {ErrorCode.INVALID_TABLE, ErrorCode.UNSUPPORTED_VERSION}


#: Answers a SELECT: its text, the options of the read, and short names of tables.
RunQuery = Callable[[str, Mapping[str, str] | None, Mapping[str, str]], Awaitable["pa.Table"]]


class AsyncTable:
    """A table, with the methods of Table as coroutines."""

    def __init__(
        self, cluster: Cluster, ids: WriterIds, info: TableInfo, bucketing: str | None, run_query: RunQuery
    ) -> None:
        self._cluster = cluster
        self._run_query = run_query
        self._ids = ids
        self._bucketing = None if bucketing is None else bucketing_of(bucketing)
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
        from lakeward.records.arrow.arrow_types import arrow_schema

        return arrow_schema(self.info.schema)

    async def refresh(self) -> None:
        """Ask the server again what the table looks like."""
        self.info = await table_info(self._cluster, self.path)
        for outdated in ("_router", "_partitions", "_keyed_rows", "_short_appends"):
            self.__dict__.pop(outdated, None)

    @cached_property
    def _router(self) -> Router:
        from lakeward.client.write.routing import Router

        way = self._bucketing or declared_bucketing(self.info.descriptor.custom_properties)
        return Router(
            self.info,
            round_robin=self._cluster.settings.round_robin,
            follow_pyfluss=way is Bucketing.PYFLUSS,
            turn=next(self._ids.turns),
        )

    @cached_property
    def _keyed_rows(self) -> KeyedRows:
        self._must_have_key()
        with hold_signals():  # blocking code imports this on its own thread: what Ctrl-C leaves half-imported stays so
            from lakeward.client.tables.keyed_rows import KeyedRows

        return KeyedRows(self._cluster, self._ids, self.info, self._partitions, self._bucketing)

    def _must_have_key(self) -> None:
        if not self.info.descriptor.has_primary_key:
            raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(
                f"{self.path} has no primary key, so its rows are appended and scanned, not found by key."
            )

    @cached_property
    def _partitions(self) -> Partitions:
        return Partitions(self._cluster, self.info)

    # -- rows in ------------------------------------------------------------------------------------------------------

    async def append(self, data: Any) -> AppendResult:
        """Append rows and return when all are acknowledged; takes what Table.append takes."""
        self._cluster.lines.open_wanted()
        async with self.writer() as writer:
            await writer.write(data)
            await writer.flush()
        if writer.info is not self.info:  # it has found columns that the table has got
            await self.refresh()
        return writer.result()

    def append_shortly(self, data: Any) -> AppendResult | Coroutine[Any, Any, AppendResult]:
        """Append on this thread, which must not be the event loop's, or tell what is to be run there instead."""
        short = self._short_appends.append(data)
        if isinstance(short, AppendResult):
            return short
        return self.append(data) if short is None else self._short_appends.deliver(short)

    @cached_property
    def _short_appends(self) -> ShortAppends:
        return ShortAppends(self._cluster, self._ids, self.info, self._router)

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

    # -- rows in by key -----------------------------------------------------------------------------------------------

    async def upsert(self, data: Any, columns: Iterable[str] | None = None) -> UpsertResult:
        """Put rows by key and return when all are acknowledged; takes what Table.upsert takes."""
        from lakeward.client.forms.data_forms import names_in

        if set(names_in(data)) - set(self.info.schema.names):
            await self.refresh()  # the table may have got them
        async with self.upserter(columns) as upserter:
            await upserter.upsert(data)
            await upserter.flush()
            return upserter.result()

    async def delete(self, keys: Any, columns: Iterable[str] | None = None) -> UpsertResult:
        """Delete the rows of these keys; takes what Table.delete takes."""
        async with self.upserter(columns) as upserter:
            await upserter.delete(keys)
            await upserter.flush()
            return upserter.result()

    def upserter(
        self,
        columns: Iterable[str] | None = None,
        *,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        linger_ms: float | None = None,
    ) -> AsyncUpserter:
        """A pipelined writer of changes: `async with table.upserter() as u: await u.upsert(data)`."""
        return self._keyed_rows.upserter(columns, batch_rows=batch_rows, batch_bytes=batch_bytes, linger_ms=linger_ms)

    # -- rows out by key ----------------------------------------------------------------------------------------------

    async def lookup(
        self,
        keys: Any,
        columns: Iterable[str] | None = None,
        *,
        missing: Missing = "null",
        insert_missing: bool = False,
    ) -> pa.Table:
        """The rows of these keys, in the order of the keys; takes what Table.lookup takes."""
        return await self._keyed_rows.lookup(keys, columns, missing, insert_missing=insert_missing)

    def lookup_shortly(
        self, keys: Any, columns: Iterable[str] | None, missing: Missing
    ) -> pa.Table | Coroutine[Any, Any, pa.Table]:
        """A few rows, looked up on this thread, which must not be the event loop's, or what is to be run there."""
        return self._keyed_rows.lookup_shortly(keys, columns, missing)

    async def lookup_prefix(self, prefix: Any, columns: Iterable[str] | None = None) -> pa.Table:
        """The rows whose keys begin with a prefix; takes what Table.lookup_prefix takes."""
        return await self._keyed_rows.lookup_prefix(prefix, columns)

    def changelog(
        self,
        columns: Iterable[str] | None = None,
        *,
        start: Start = "earliest",
        end: Start | None = "latest",
        limit: int | None = None,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
        buckets: Iterable[int] | None = None,
        skip_damaged: bool = False,
    ) -> AsyncScan:
        """Describe a read of the changes; takes what Table.changelog takes."""
        self._must_have_key()
        return self.scan(
            columns,
            start=start,
            end=end,
            limit=limit,
            partitions=partitions,
            buckets=buckets,
            metadata_columns=True,
            skip_damaged=skip_damaged,
        )

    async def snapshot(
        self,
        columns: Iterable[str] | None = None,
        *,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
    ) -> pa.Table:
        """The rows as they are now; takes what Table.snapshot takes."""
        return await self._state(columns, partitions).to_arrow()

    def snapshot_batches(
        self,
        columns: Iterable[str] | None = None,
        *,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
        buckets: Iterable[int] | None = None,
        as_of: int | None = None,
    ) -> AsyncGenerator[pa.RecordBatch, None]:
        """The rows as they are now, or one bucket's as of an offset, batch by batch."""
        return self._state(columns, partitions, buckets, as_of).batches()

    def _state(
        self,
        columns: Iterable[str] | None,
        partitions: Iterable[str | Mapping[str, str]] | None,
        buckets: Iterable[int] | None = None,
        as_of: int | None = None,
    ) -> TableState:
        self._must_have_key()
        from lakeward.client.state.state import TableState

        return TableState(
            self._cluster,
            self.info,
            self._partitions,
            None if columns is None else names_of(columns),
            None if partitions is None else tuple(partitions),
            None if buckets is None else tuple(buckets),
            as_of,
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
        where: Predicate | None = None,
        skip_damaged: Skips = False,
        keep_damaged: bool = False,
    ) -> AsyncScan:
        """Describe a read of the log; takes what Table.scan takes."""
        return AsyncScan(
            self._cluster,
            self.info,
            self._partitions,
            ScanRange(
                columns=None if columns is None else names_of(columns),
                start=start,
                end=end,
                limit=limit,
                partitions=None if partitions is None else tuple(partitions),
                buckets=None if buckets is None else tuple(buckets),
                metadata_columns=metadata_columns,
                where=where,
                skip_damaged=skip_damaged,
                keep_damaged=keep_damaged,
            ),
        )

    # -- copies -------------------------------------------------------------------------------------------------------

    def raw_scan(self, ranges: Mapping[BucketId, tuple[int, int]]) -> AsyncGenerator[Chunk, None]:
        """The batches of these offsets as bytes, for a table that becomes the same."""
        from lakeward.client.raw.raw_scan import raw_scan

        return raw_scan(self._cluster, self.info, self._offsets, ranges)

    def raw_writer(self) -> RawWriter:
        """Writes what `raw_scan` of another table gives, at the same offsets."""
        from lakeward.client.raw.raw_writer import RawWriter

        return RawWriter(self._cluster, self._ids, self.info, self._offsets)

    async def batches_before(self, ends: Mapping[BucketId, int]) -> dict[BucketId, LogTail]:
        """The batch before each of these ends, where it is on a server."""
        return await batches_before(self._cluster, self.info, self._offsets, ends)

    async def schema_of(self, schema_id: int) -> Schema:
        """What the table looked like under a schema id."""
        return await table_schema(self._cluster, self.path, schema_id)

    async def query(self, sql: str, options: Mapping[str, str] | None = None) -> pa.Table:
        """The answer to a SELECT over this table, called `t`; takes what Table.query takes.

        It is planned and put together on a thread; a cancelled one ends there before it asks the cluster again.
        """
        return await self._run_query(sql, options, {"t": str(self.path)})

    async def head(self, n: int = 10) -> pa.Table:
        """A few rows of the table, the quick way."""
        from lakeward.client.state.limit_scan import limit_scan

        return await limit_scan(self._cluster, self.info, self._partitions, n)

    async def check_right(self) -> None:
        """Raise unless we may read its rows; none is read."""
        await check_right(self._cluster, self.info, await self._offsets.places())

    async def offsets_are_rows(self, bucket: BucketId) -> bool:
        """Whether every offset of a log table's bucket is a row: nothing in it is damaged or was given up."""
        return await self._offsets.are_rows(bucket)

    async def count(self) -> int:
        """How many rows the table holds; where the server does not count them, they are read."""
        try:
            return await self._offsets.count()
        except LakewardError as wrong:
            if not self.info.descriptor.has_primary_key or wrong.code not in _NOT_COUNTED:
                raise
        key = self.info.schema.primary_key
        return sum([batch.num_rows async for batch in self.snapshot_batches(key)])

    async def offsets(
        self, at: Start = "latest", *, partitions: Iterable[str | Mapping[str, str] | PartitionInfo] | None = None
    ) -> dict[BucketId, int]:
        """The offset of each bucket at `"earliest"`, `"latest"`, or at a time (datetime or Timestamp)."""
        return await self._offsets.by_id(at, None if partitions is None else tuple(partitions))

    async def stretches(self) -> dict[BucketId, tuple[int, int]]:
        """Where the log of each bucket begins and ends, asked at once."""
        starts, stops = await asyncio.gather(self._offsets.by_id("earliest", None), self._offsets.by_id("latest", None))
        return {id_: (min(starts.get(id_, stop), stop), stop) for id_, stop in stops.items()}

    async def peek(self, bucket: BucketId, offset: int) -> LogPeek | None:
        """What comes at an offset of a bucket's log: rows, bytes and time of the next batches."""
        only = None if bucket.partition is None else [bucket.partition]
        (place,) = await self._offsets.places(only, [bucket.bucket])
        return await peek(self._cluster, self.info, place, offset)

    async def marks(self, ends: Mapping[BucketId, int]) -> dict[BucketId, LogMark]:
        """Which batch each of these logs has before an end; where it is another one later, it is another log."""
        partitions = sorted({id_.partition for id_ in ends if id_.partition is not None})
        places = await self._offsets.places(partitions if self.info.descriptor.is_partitioned else None)
        found = await log_marks(self._cluster, self.info, {p: ends[p.id] for p in places if ends.get(p.id, 0) > 0})
        return {place.id: mark for place, mark in found.items()}

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
