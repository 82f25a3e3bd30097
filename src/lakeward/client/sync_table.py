"""Table, Writer and Scan for blocking code: facades over their async twins."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from lakeward.client.loop_thread import LoopThread
from lakeward.client.results import AppendResult, BucketId, PartitionInfo
from lakeward.client.scan import AsyncScan, Start
from lakeward.client.table import AsyncTable
from lakeward.client.writer import AsyncWriter
from lakeward.model.table import TableInfo, TablePath

if TYPE_CHECKING:
    from datetime import datetime

    import pyarrow as pa


class Table:
    """A table: append to it, scan it, ask for its offsets and partitions."""

    def __init__(self, loop: LoopThread, inner: AsyncTable) -> None:
        self._loop = loop
        self._inner = inner

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
        from lakeward.client.data_forms import is_quick

        if is_quick(data):
            return self._loop.run(self._inner.append(data))
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
    ) -> Scan:
        """Describe a read of the log; nothing is fetched before the Scan is used.

        `start` and `end` are `"earliest"`, `"latest"`, an offset, a datetime, a Timestamp, or a dict from bucket
        (int or BucketId) to offset. With `metadata_columns` the columns `_bucket`, `_offset`, `_timestamp` and
        `_change_type` come after the others.
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
            ),
        )

    def head(self, n: int = 10) -> pa.Table:
        """A few rows of the table, the quick way."""
        return self._loop.run(self._inner.head(n))

    def count(self) -> int:
        """How many rows the table holds."""
        return self._loop.run(self._inner.count())

    def offsets(self, at: str | datetime | Any = "latest") -> dict[BucketId, int]:
        """The offset of each bucket at `"earliest"`, `"latest"`, or at a time (datetime or Timestamp)."""
        return self._loop.run(self._inner.offsets(at))

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


class Writer:
    """Pipelined appends: `write` returns when the rows are queued, `flush` when they are acknowledged."""

    def __init__(self, loop: LoopThread, inner: AsyncWriter) -> None:
        self._loop = loop
        self._inner = inner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._loop.run(self._inner.abort())

    @property
    def written(self) -> int:
        """Rows acknowledged so far."""
        return self._inner.written

    def write(self, data: Any) -> None:
        """Queue rows; waits while too much is in flight. Raises the first failure of earlier rows."""
        from lakeward.client.data_forms import batches_of, is_quick

        if is_quick(data):
            self._loop.run(self._inner.write(data))
            return
        for batch in batches_of(data, self._inner.info.schema):  # here, because iterables may belong to this thread
            self._loop.run(self._inner.write(batch))

    def flush(self) -> None:
        """Wait until every row written so far is acknowledged; raises the first failure."""
        self._loop.run(self._inner.flush())

    def result(self) -> AppendResult:
        """What has been acknowledged so far."""
        return self._inner.result()

    def close(self) -> None:
        """Flush, then give up the writer."""
        self._loop.run(self._inner.close())


class Scan:
    """A described read: turn it into a table, or iterate over its Arrow batches."""

    def __init__(self, loop: LoopThread, inner: AsyncScan) -> None:
        self._loop = loop
        self._inner = inner

    def to_arrow(self) -> pa.Table:
        """All rows as a pyarrow.Table."""
        return self._loop.run(self._inner.to_arrow())

    def to_pandas(self, **options: Any) -> Any:
        """All rows as a pandas.DataFrame; options go to pyarrow.Table.to_pandas."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> Any:
        """All rows as a polars.DataFrame."""
        import polars as pl

        return pl.from_arrow(self.to_arrow())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as they are fetched, in order within each bucket; ends at `end`."""
        return self._iterate(self._inner.batches())

    def follow(self) -> Iterator[pa.RecordBatch]:
        """The rows as they arrive; never ends by itself. Close the iterator, or leave the loop, to stop."""
        return self._iterate(self._inner.follow())

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()

    def _iterate(self, batches: AsyncGenerator[pa.RecordBatch, None]) -> Iterator[pa.RecordBatch]:
        try:
            while True:
                try:
                    batch = self._loop.run(anext(batches))
                except StopAsyncIteration:
                    return
                yield batch
        finally:
            if not self._loop.closed:
                self._loop.run(batches.aclose())
