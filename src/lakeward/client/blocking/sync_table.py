"""Table for blocking code: a facade over its async twin."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.client.blocking.loading import load_forms
from lakeward.client.blocking.sync_scan import Scan, iterate
from lakeward.client.blocking.sync_writers import Upserter, Writer
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.forms.results import AppendResult, BucketId, PartitionInfo, UpsertResult
from lakeward.client.read.scan import Start
from lakeward.client.tables.table import AsyncTable
from lakeward.model.table import TableInfo, TablePath

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa

    from lakeward.client.forms.damage import Skips
    from lakeward.client.read.log_marks import LogMark
    from lakeward.client.read.log_peek import LogPeek
    from lakeward.client.tables.keyed_rows import Missing
    from lakeward.records.batch.predicate import Predicate

#: Answers a SELECT: the query, options of the read, short names of tables.
RunQuery = Callable[[str, Mapping[str, str] | None, Mapping[str, str]], "pa.Table"]


class Table:
    """A table: append to it and scan it, or, with a primary key, upsert and look up rows by key."""

    def __init__(self, loop: LoopThread, inner: AsyncTable, run_query: RunQuery) -> None:
        self._loop = loop
        self._inner = inner
        self._run_query = run_query

    def __repr__(self) -> str:
        return f"<lakeward table {self.path}>"

    @property
    def path(self) -> TablePath:
        """The table's full name."""
        return self._inner.path

    @property
    def info(self) -> TableInfo:
        """Id, schema, keys, buckets and properties, as of the last `refresh()`."""
        return self._inner.info

    @property
    def schema(self) -> pa.Schema:
        """The table's columns as an Arrow schema."""
        return self._inner.schema

    def refresh(self) -> None:
        """Ask the server again what the table looks like."""
        self._loop.run(self._inner.refresh())

    # -- rows in ------------------------------------------------------------------------------------------------------

    def append(self, data: Any) -> AppendResult:
        """Append rows and return when all are acknowledged.

        `data` is a pyarrow Table, RecordBatch or RecordBatchReader, a pandas or polars DataFrame, a list of dicts,
        a dict of lists, or an iterable of any of these.
        """
        load_forms()
        from lakeward.client.forms.data_forms import is_quick

        if is_quick(data):
            done = self._inner.append_shortly(data)
            return self._loop.run(done) if isinstance(done, Coroutine) else done
        with self.writer() as writer:
            writer.write(data)
            writer.flush()
            return writer.result()

    def writer(
        self, *, batch_rows: int | None = None, batch_bytes: int | None = None, linger_ms: float | None = None
    ) -> Writer:
        """A pipelined writer: `with table.writer() as w: w.write(data)`."""
        return Writer(
            self._loop,
            self._inner.writer(batch_rows=batch_rows, batch_bytes=batch_bytes, linger_ms=linger_ms),
        )

    # -- rows in by key -----------------------------------------------------------------------------------------------

    def upsert(self, data: Any, columns: Iterable[str] | None = None) -> UpsertResult:
        """Put rows by key and return when all are acknowledged; a row replaces the old one of its key.

        `data` is what `append` takes. It must have every column, so that nothing is overwritten with NULL by accident;
        with `columns` (all of the primary key among them) only those are written and the others keep their values.
        """
        load_forms()
        from lakeward.client.forms.data_forms import is_quick

        if is_quick(data):
            return self._loop.run(self._inner.upsert(data, columns))
        with self.upserter(columns) as upserter:
            upserter.upsert(data)
            upserter.flush()
            return upserter.result()

    def delete(self, keys: Any, columns: Iterable[str] | None = None) -> UpsertResult:
        """Delete the rows of these keys, given as for `lookup`; keys without a row are no error.

        With `columns`, only those are set to NULL; a row of which nothing else is left goes as a whole.
        """
        with self.upserter(columns) as upserter:
            upserter.delete(keys)
            upserter.flush()
            return upserter.result()

    def upserter(
        self,
        columns: Iterable[str] | None = None,
        *,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        linger_ms: float | None = None,
    ) -> Upserter:
        """A pipelined writer of changes: `with table.upserter() as u: u.upsert(data); u.delete(keys)`."""
        return Upserter(
            self._loop,
            self._inner.upserter(columns, batch_rows=batch_rows, batch_bytes=batch_bytes, linger_ms=linger_ms),
        )

    # -- rows out by key ----------------------------------------------------------------------------------------------

    def lookup(
        self,
        keys: Any,
        columns: Iterable[str] | None = None,
        *,
        missing: Missing = "null",
        insert_missing: bool = False,
    ) -> pa.Table:
        """The rows of these keys, one per key, in the order of the keys.

        `keys` is one key (a value, a tuple in the order of the primary key, or a dict) or many: a list of those, a dict
        of lists, an array or Series, a table or data frame with the key's columns. A key without a row gives a row of
        NULLs, its key columns included; with `missing="drop"` no row, with `missing="raise"` a KeyNotFoundError.
        With `insert_missing` the server creates a row for it, with the key, NULLs, and the next auto-increment value.
        """
        if insert_missing:
            return self._loop.run(self._inner.lookup(keys, columns, missing=missing, insert_missing=True))
        found = self._inner.lookup_shortly(keys, columns, missing)
        return self._loop.run(found) if isinstance(found, Coroutine) else found

    def lookup_prefix(self, prefix: Any, columns: Iterable[str] | None = None) -> pa.Table:
        """All rows whose key begins with a prefix: the bucket key, and the partition's columns before it if there are.

        `prefix` is one prefix or many, given as for `lookup`. The table's bucket key must be the first columns, and not
        all, of its primary key.
        """
        return self._loop.run(self._inner.lookup_prefix(prefix, columns))

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
    ) -> Scan:
        """Describe a read of the changes, as `scan` does of rows.

        After the columns come `_bucket`, `_offset`, `_timestamp` and `_change_type`: `+I` inserted, `-U` and `+U` the
        row before and after an update, `-D` deleted. Changes of one key are in one bucket, in the order they were made.
        """
        return Scan(
            self._loop,
            self._inner.changelog(
                columns,
                start=start,
                end=end,
                limit=limit,
                partitions=partitions,
                buckets=buckets,
                skip_damaged=skip_damaged,
            ),
        )

    def snapshot(
        self,
        columns: Iterable[str] | None = None,
        *,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
    ) -> pa.Table:
        """All rows as they are now, each bucket at one moment; in no particular order."""
        return self._loop.run(self._inner.snapshot(columns, partitions=partitions))

    def snapshot_batches(
        self,
        columns: Iterable[str] | None = None,
        *,
        partitions: Iterable[str | Mapping[str, str]] | None = None,
        buckets: Iterable[int] | None = None,
        as_of: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The same batch by batch, for tables that are larger than memory.

        `as_of` asks for one bucket's rows as they were when its changelog ended at that offset.
        """
        rows = self._inner.snapshot_batches(columns, partitions=partitions, buckets=buckets, as_of=as_of)
        return iterate(self._loop, rows)

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
    ) -> Scan:
        """Describe a read of the log; nothing is fetched before the Scan is used.

        `start` and `end` are `"earliest"`, `"latest"`, an offset, a datetime, a Timestamp, or a dict from bucket
        (int or BucketId) to offset. With `metadata_columns` the columns `_bucket`, `_offset`, `_timestamp` and
        `_change_type` come after the others. `where` lets the server leave out whole batches that, by the statistics
        in them, hold no matching row; the rows that come are not filtered. Rows that cannot be read are an error that
        names them; with `skip_damaged` they are left out, and `Scan.left_out` says which.
        """
        return Scan(
            self._loop,
            self._inner.scan(
                columns,
                start=start,
                end=end,
                limit=limit,
                partitions=partitions,
                buckets=buckets,
                metadata_columns=metadata_columns,
                where=where,
                skip_damaged=skip_damaged,
                keep_damaged=keep_damaged,
            ),
        )

    def query(self, sql: str, options: Mapping[str, str] | None = None) -> pa.Table:
        """The answer to a SELECT over this table, called `t`, and others by `db.table`; see `Connection.sql`."""
        return self._run_query(sql, options, {"t": str(self.path)})

    def head(self, n: int = 10) -> pa.Table:
        """A few rows of the table, the quick way."""
        return self._loop.run(self._inner.head(n))

    def check_right(self) -> None:
        """Raise unless we may read its rows; none is read."""
        self._loop.run(self._inner.check_right())

    def offsets_are_rows(self, bucket: BucketId) -> bool:
        """Whether every offset of a log table's bucket is a row: nothing in it is damaged or was given up."""
        return self._loop.run(self._inner.offsets_are_rows(bucket))

    def count(self) -> int:
        """How many rows the table holds."""
        return self._loop.run(self._inner.count())

    def offsets(
        self,
        at: str | datetime | Any = "latest",
        *,
        partitions: Iterable[str | Mapping[str, str] | PartitionInfo] | None = None,
    ) -> dict[BucketId, int]:
        """The offset of each bucket at `"earliest"`, `"latest"`, or at a time (datetime or Timestamp)."""
        return self._loop.run(self._inner.offsets(at, partitions=partitions))

    def stretches(self) -> dict[BucketId, tuple[int, int]]:
        """Where the log of each bucket begins and ends, asked at once."""
        return self._loop.run(self._inner.stretches())

    def peek(self, bucket: BucketId, offset: int) -> LogPeek | None:
        """What comes at an offset of a bucket's log: rows, bytes and time of the next batches."""
        return self._loop.run(self._inner.peek(bucket, offset))

    def marks(self, ends: Mapping[BucketId, int]) -> dict[BucketId, LogMark]:
        """Which batch each of these logs has before an end; where it is another one later, it is another log."""
        return self._loop.run(self._inner.marks(ends))

    # -- partitions ---------------------------------------------------------------------------------------------------

    def partitions(self) -> list[PartitionInfo]:
        """The partitions of the table."""
        return self._loop.run(self._inner.partitions())

    def create_partition(self, spec: Mapping[str, str], *, exist_ok: bool = False) -> None:
        """Create a partition, e.g. `{"dt": "2026-08-01"}`."""
        self._loop.run(self._inner.create_partition(spec, exist_ok=exist_ok))

    def drop_partition(self, spec: Mapping[str, str], *, missing_ok: bool = False) -> None:
        """Drop a partition and its data."""
        self._loop.run(self._inner.drop_partition(spec, missing_ok=missing_ok))
