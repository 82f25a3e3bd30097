"""Scan for blocking code: a facade over its async twin."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from typing import TYPE_CHECKING, Any

from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.client.read.scan import AsyncScan

if TYPE_CHECKING:
    import pyarrow as pa


class Scan:
    """A described read: turn it into a table, or iterate over its Arrow batches."""

    def __init__(self, loop: LoopThread, inner: AsyncScan) -> None:
        self._loop = loop
        self._inner = inner

    @property
    def left_out(self) -> list[LeftOut]:
        """What this scan has passed over so far: with `skip_damaged` what cannot be read, and always what is gone."""
        return self._inner.left_out

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

    def by_bucket(self, bytes_max: int) -> dict[BucketId, list[pa.RecordBatch]] | None:
        """All rows up to `end` by their buckets, whatever the limit; None when they are more than so many bytes."""
        return self._loop.run(self._inner.by_bucket(bytes_max))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as they are fetched, in order within each bucket; ends at `end`."""
        return iterate(self._loop, self._inner.batches())

    def follow(self) -> Iterator[pa.RecordBatch]:
        """The rows as they arrive; never ends by itself. Close the iterator, or leave the loop, to stop."""
        return iterate(self._loop, self._inner.follow())

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches()


def iterate(loop: LoopThread, batches: AsyncGenerator[pa.RecordBatch, None]) -> Iterator[pa.RecordBatch]:
    """The batches of an async generator, one at a time; it is closed when the reader leaves."""
    try:
        while True:
            try:
                batch = loop.run(_next(batches))
            except StopAsyncIteration:
                return
            yield batch
    finally:
        loop.let_go(batches)


async def _next(batches: AsyncGenerator[pa.RecordBatch, None]) -> pa.RecordBatch:
    """The next batch, asked for on the loop: only what a loop has seen begin does it close when it ends."""
    return await anext(batches)
