"""State: the rows of a primary key table as they are now, by the best way the server has.

SCAN_KV       a cursor over a consistent state of each bucket
changelog     read from its beginning and folded by key, where the server has no SCAN_KV and the log is complete
LIMIT_SCAN    whole buckets in one answer each, where the log's beginning is gone; only for small tables
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

import pyarrow as pa

from lakeward.client.cluster import Cluster
from lakeward.client.keyed.fold import ChangelogFold
from lakeward.client.keyed.value_decoder import ValueDecoder
from lakeward.client.keyed.value_scans import all_values, limited_values
from lakeward.client.offsets import Place, TableOffsets
from lakeward.client.partitions import Partitions
from lakeward.client.scan import AsyncScan, ScanRange
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api

#: Larger tables are not asked for in one answer per bucket: the server would have to hold them in memory.
_ONE_ANSWER_ROWS_MAX = 2_000_000
_I32_MAX = 2**31 - 1


class TableState:
    """A described read of the state, of all partitions and buckets or of some."""

    def __init__(
        self,
        cluster: Cluster,
        info: TableInfo,
        partitions: Partitions,
        columns: Sequence[str] | None = None,
        only: Sequence[str | Mapping[str, str]] | None = None,
    ) -> None:
        self._cluster = cluster
        self._info = info
        self._partitions = partitions
        self._only = only
        self._columns = info.schema.names if columns is None else tuple(columns)
        self._offsets = TableOffsets(cluster, info, partitions)
        self._decoder = ValueDecoder(cluster, info, self._columns)

    async def to_arrow(self) -> pa.Table:
        """All rows; in no order."""
        return pa.Table.from_batches([batch async for batch in self.batches()], self._decoder.schema)

    async def batches(self) -> AsyncGenerator[pa.RecordBatch, None]:
        """The rows bucket by bucket, none of them empty."""
        places = await self._offsets.places(self._only)
        if not places:
            return
        read = await self._way(places)
        async for batch in read(places):
            if batch.num_rows:
                yield batch

    async def _way(self, places: list[Place]) -> Callable[[list[Place]], AsyncGenerator[pa.RecordBatch, None]]:
        channel = await self._cluster.leader(self._info.path, places[0].bucket, places[0].id.partition)
        if channel.supports(Api.SCAN_KV):
            return self._scanned
        if not any((await self._offsets.of(places, "earliest")).values()):
            return self._folded
        if await self._offsets.count() <= _ONE_ANSWER_ROWS_MAX:
            return self._limited
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"The state of {self._info.path} cannot be read here: this server has no SCAN_KV, the beginning of the "
            f"table's changelog is gone, and its more than {_ONE_ANSWER_ROWS_MAX:,} rows are too many for LIMIT_SCAN."
        )

    async def _scanned(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:
        for place in places:
            async for values in all_values(self._cluster, self._info, place):
                yield await self._decoder.decode(values)

    async def _limited(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:
        for place in places:
            yield await self._decoder.decode(await limited_values(self._cluster, self._info, place, _I32_MAX))

    async def _folded(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:  # noqa: ARG002 - reads all of them
        key = self._info.schema.primary_key
        wanted = ScanRange(
            columns=tuple(dict.fromkeys([*self._columns, *key])), partitions=self._asked(), metadata_columns=True
        )
        fold: ChangelogFold | None = None
        loop = asyncio.get_running_loop()
        async for changes in AsyncScan(self._cluster, self._info, self._partitions, wanted).batches():
            fold = fold or ChangelogFold(changes.schema, key)
            await loop.run_in_executor(self._cluster.workers, fold.add, changes)
        if fold is not None:
            left = await loop.run_in_executor(self._cluster.workers, fold.state)
            for batch in left.select(self._columns).cast(self._decoder.schema).to_batches():
                yield batch

    def _asked(self) -> tuple[str | Mapping[str, str], ...] | None:
        return None if self._only is None else tuple(self._only)
