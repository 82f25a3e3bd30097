"""AsyncScan: what to read of a table's log, from where to where, and in which form."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.forms.damage import Damage, LeftOut, Skips
from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeward.client.decode.log_decoder import Chunk, LogDecoder
    from lakeward.client.read.decode_queue import ChunkDecoder
    from lakeward.client.read.log_fetcher import LogFetcher
    from lakeward.records.batch.predicate import Predicate

T = TypeVar("T")

#: "earliest", "latest", an offset, a datetime, a Timestamp, or offsets by bucket (int, BucketId or pair).
Start: TypeAlias = Any
_NEW_PARTITIONS_EVERY_S = 10


@dataclass(frozen=True, slots=True)
class ScanRange:
    """What a scan was asked for."""

    columns: tuple[str, ...] | None = None
    start: Start = "earliest"
    end: Start | None = "latest"
    limit: int | None = None
    partitions: tuple[str | Mapping[str, str], ...] | None = None
    buckets: tuple[int, ...] | None = None
    metadata_columns: bool = False
    where: Predicate | None = None
    skip_damaged: Skips = False
    #: Whether the bytes of batches that are left out are kept with them.
    keep_damaged: bool = False


class AsyncScan:
    """A described read, with the methods of Scan as coroutines and async iterators. Each use reads again."""

    def __init__(self, cluster: Cluster, info: TableInfo, partitions: Partitions, asked: ScanRange) -> None:
        self._cluster = cluster
        self._info = info
        self._asked = asked
        self._offsets = TableOffsets(cluster, info, partitions)
        self._damage = Damage(info.path, skips=asked.skip_damaged, keeps_bytes=asked.keep_damaged)
        for name in asked.columns or ():
            info.schema.column(name)  # refuses unknown columns now, not at the first fetch
        if isinstance(asked.where, str):
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                "The 'where' of a scan is a Predicate, not a text; for a condition in SQL: "
                "table.query('SELECT … FROM t WHERE …')."
            )
        if asked.limit is not None and asked.limit < 0:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(f"The limit of a scan is {asked.limit}; it cannot be negative.")

    @property
    def left_out(self) -> list[LeftOut]:
        """What this scan has passed over so far: with `skip_damaged` what cannot be read, and always what is gone."""
        return self._damage.left_out

    async def to_arrow(self) -> pa.Table:
        """All rows as a pyarrow.Table."""
        import pyarrow as pa

        if self._asked.end is None and self._asked.limit is None:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"This scan of {self._info.path} has no end, so it never becomes a table; use follow(), or set an end."
            )
        schema = self._decoder().schema
        return pa.Table.from_batches([batch async for batch in self.batches()], schema)

    async def to_pandas(self, **options: Any) -> Any:
        """All rows as a pandas.DataFrame; options go to pyarrow.Table.to_pandas."""
        return (await self.to_arrow()).to_pandas(**options)

    async def to_polars(self) -> Any:
        """All rows as a polars.DataFrame."""
        import polars as pl

        return pl.from_arrow(await self.to_arrow())

    def __aiter__(self) -> AsyncIterator[pa.RecordBatch]:
        return self.batches()

    async def batches(self) -> AsyncGenerator[pa.RecordBatch, None]:
        """The rows as they are fetched, in order within each bucket; ends at `end`."""
        if self._asked.end is None:
            async for batch in self.follow():
                yield batch
            return
        async with await self._open_fetcher(self._decoder()) as fetcher:
            async for batch in _limit(fetcher, self._asked.limit):
                yield batch

    async def by_bucket(self, bytes_max: int) -> dict[BucketId, list[pa.RecordBatch]] | None:
        """All rows up to `end` by their buckets, whatever the limit; None when they are more than so many bytes."""
        found: dict[BucketId, list[pa.RecordBatch]] = {}
        async with await self._open_fetcher(_PlacedDecoder(self._decoder())) as fetcher:
            async for bucket, batch in fetcher:
                bytes_max -= batch.nbytes
                if bytes_max < 0:
                    return None
                found.setdefault(bucket, []).append(batch)
        return found

    async def _open_fetcher(self, decoder: ChunkDecoder[T]) -> LogFetcher[T]:
        """What fetches from `start` to `end`, and has it decoded."""
        places = await self._places()
        starts, ends = await asyncio.gather(
            self._positions(places, self._asked.start), self._positions(places, self._asked.end)
        )
        fetcher = self._fetcher(decoder)
        for place in places:
            fetcher.subscribe(place, starts[place], ends[place])
        return fetcher

    async def follow(self) -> AsyncGenerator[pa.RecordBatch, None]:
        """The rows as they arrive; never ends by itself, unless a limit is set."""
        places = await self._places()
        starts = await self._positions(places, self._asked.start)
        fetcher = self._fetcher(self._decoder(), follow=True)
        for place in places:
            fetcher.subscribe(place, starts[place], None)
        async with fetcher:
            watch = self._watch_partitions(fetcher, set(places))
            try:
                async for batch in _limit(fetcher, self._asked.limit):
                    yield batch
            finally:
                if watch is not None:
                    watch.cancel()

    def _watch_partitions(self, fetcher: LogFetcher[pa.RecordBatch], known: set[Place]) -> asyncio.Task[None] | None:
        """Partitions that appear while following are read from their beginning."""
        if not self._info.descriptor.is_partitioned or self._asked.partitions is not None:
            return None

        async def watch() -> None:
            while True:
                await asyncio.sleep(_NEW_PARTITIONS_EVERY_S)
                new = [p for p in await self._places() if p not in known]
                known.update(new)
                for place, start in (await self._offsets.of(new, "earliest")).items():
                    fetcher.subscribe(place, start, None)

        task = asyncio.create_task(watch())
        task.add_done_callback(fetcher.on_task_end)
        return task

    async def _places(self) -> list[Place]:
        return await self._offsets.places(self._asked.partitions, self._asked.buckets)

    async def _positions(self, places: list[Place], at: Start) -> dict[Place, int]:
        if isinstance(at, int) and not isinstance(at, bool):
            return dict.fromkeys(places, at)
        if isinstance(at, Mapping):
            named = {_bucket_id(key): int(offset) for key, offset in at.items()}
            unknown = named.keys() - {p.id for p in places}
            if unknown:
                raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(
                    f"{self._info.path} has no bucket {min(map(str, unknown))}, or it is not part of this scan."
                )
            others = [p for p in places if p.id not in named]
            rest = await self._offsets.of(others, "earliest" if at is self._asked.start else "latest")
            return {p: named[p.id] if p.id in named else rest[p] for p in places}
        return await self._offsets.of(places, at)

    def _decoder(self) -> LogDecoder:
        from lakeward.client.decode.log_decoder import LogDecoder

        return LogDecoder(
            self._info,
            self._asked.columns,
            metadata_columns=self._asked.metadata_columns,
            check_crc=self._cluster.settings.check_crc,
            where=self._asked.where,
            damage=self._damage,
            raw_bytes_max=self._cluster.settings.batch_raw_bytes_max,
        )

    def _fetcher(self, decoder: ChunkDecoder[T], *, follow: bool = False) -> LogFetcher[T]:
        from lakeward.client.read.log_fetcher import LogFetcher

        return LogFetcher(
            self._cluster, self._info, decoder, follow=follow, where=self._asked.where, damage=self._damage
        )


class _PlacedDecoder:
    """A decoder that says of each batch which bucket it is of."""

    def __init__(self, inner: LogDecoder) -> None:
        self._inner = inner
        self.projection, self.tells_gaps = inner.projection, inner.tells_gaps
        self.unknown_schemas, self.learn, self.lacks = inner.unknown_schemas, inner.learn, inner.lacks

    def decode(self, chunk: Chunk) -> list[tuple[BucketId, pa.RecordBatch]]:
        """The wanted rows of a chunk, and where they are from."""
        return [(chunk.id, batch) for batch in self._inner.decode(chunk)]


def _bucket_id(key: Any) -> BucketId:
    if isinstance(key, int):
        return BucketId(None, key)
    partition, bucket = key
    return BucketId(partition, int(bucket))


async def _limit(batches: AsyncIterator[pa.RecordBatch], limit: int | None) -> AsyncIterator[pa.RecordBatch]:
    if limit == 0:
        return
    left = limit
    async for batch in batches:
        if left is None:
            yield batch
            continue
        yield batch if batch.num_rows <= left else batch.slice(0, left)
        left -= batch.num_rows
        if left <= 0:
            return
