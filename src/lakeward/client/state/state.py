"""State: the rows of a primary key table as they are now, by the best way the server has.

SCAN_KV       a cursor over a consistent state of each bucket
changelog     read from its beginning and folded by key, where the server has no SCAN_KV and the log is complete
LIMIT_SCAN    whole buckets in one answer each, where the log's beginning is gone; only for small tables

One bucket can be read as of an earlier offset: what changed since then is taken back (`rollback`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

import pyarrow as pa

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.patience import patient_leader
from lakeward.client.read.scan import AsyncScan, ScanRange, Start
from lakeward.client.state.fold import ChangelogFold
from lakeward.client.state.rollback import Rollback
from lakeward.client.state.value_decoder import ValueDecoder
from lakeward.client.state.value_scans import ValueScan, limited_values
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.records.arrow.arrow_types import arrow_schema

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
        buckets: Sequence[int] | None = None,
        as_of: int | None = None,
    ) -> None:
        self._cluster = cluster
        self._info = info
        self._partitions = partitions
        self._only = only
        self._buckets = buckets
        self._as_of = as_of
        self._columns = info.schema.names if columns is None else tuple(columns)
        self._offsets = TableOffsets(cluster, info, partitions)
        # Taking changes back needs the key.
        key = () if as_of is None else info.schema.primary_key
        self._decoder = ValueDecoder(cluster, info, tuple(dict.fromkeys([*self._columns, *key])))
        self.schema = arrow_schema(info.schema.select(self._columns))

    async def to_arrow(self) -> pa.Table:
        """All rows; in no order."""
        return pa.Table.from_batches([batch async for batch in self.batches()], self.schema)

    async def batches(self) -> AsyncGenerator[pa.RecordBatch, None]:
        """The rows bucket by bucket, none of them empty."""
        places = await self._offsets.places(self._only, self._buckets)
        if not places:
            return
        if self._as_of is not None and len(places) != 1:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"A state as of an offset is that of one bucket; {len(places)} of {self._info.path} were asked for."
            )
        read = await self._way(places)
        async for batch in read(places):
            if batch.num_rows:
                yield batch if batch.schema == self.schema else batch.select(self._columns)

    async def _way(self, places: list[Place]) -> Callable[[list[Place]], AsyncGenerator[pa.RecordBatch, None]]:
        channel = await patient_leader(self._cluster, self._info.path, places[0].bucket, places[0].id.partition)
        if channel.supports(Api.SCAN_KV):
            return self._scan
        if not any((await self._offsets.of(places, "earliest")).values()):
            return self._fold
        if await self._offsets.count() <= _ONE_ANSWER_ROWS_MAX:
            return self._scan_by_limit
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"The state of {self._info.path} cannot be read here: this server has no SCAN_KV, the beginning of the "
            f"table's changelog is gone, and its more than {_ONE_ANSWER_ROWS_MAX:,} rows are too many for LIMIT_SCAN."
        )

    async def _scan(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:
        for place in places:
            scan = await ValueScan.open(self._cluster, self._info, place)
            try:
                undo = await self._undo(place, scan.log_offset)
                async for values in scan.values():
                    rows = await self._decoder.decode(values)
                    yield rows if undo is None else undo.untouched_rows(rows)
            finally:
                scan.close()
            for batch in self._restored_rows(undo):
                yield batch

    async def _scan_by_limit(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:
        for place in places:
            rows = await self._decoder.decode(await limited_values(self._cluster, self._info, place, _I32_MAX))
            undo = await self._undo(place, None)
            yield rows if undo is None else undo.untouched_rows(rows)
            for batch in self._restored_rows(undo):
                yield batch

    async def _undo(self, place: Place, read_at: int | None) -> Rollback | None:
        """What has changed between the asked offset and the one that was read, or some offset after it."""
        if self._as_of is None or read_at == self._as_of:
            return None
        wanted = self._changes(places=[place], start=self._as_of, end="latest" if read_at is None else read_at)
        changes = await AsyncScan(self._cluster, self._info, self._partitions, wanted).to_arrow()
        return Rollback(changes, self._info.schema.primary_key)

    def _restored_rows(self, undo: Rollback | None) -> list[pa.RecordBatch]:
        if undo is None:
            return []
        names = self._decoder.schema.names
        return undo.restored.select(names).cast(self._decoder.schema).to_batches()  # type: ignore[no-any-return]

    async def _fold(self, places: list[Place]) -> AsyncGenerator[pa.RecordBatch, None]:
        wanted = self._changes(places, start="earliest", end="latest" if self._as_of is None else self._as_of)
        fold: ChangelogFold | None = None
        loop = asyncio.get_running_loop()
        async for changes in AsyncScan(self._cluster, self._info, self._partitions, wanted).batches():
            fold = fold or ChangelogFold(changes.schema, self._info.schema.primary_key)
            await loop.run_in_executor(self._cluster.workers, fold.add, changes)
        if fold is not None:
            left = await loop.run_in_executor(self._cluster.workers, fold.state)
            for batch in left.select(self._columns).cast(self.schema).to_batches():
                yield batch

    def _changes(self, places: list[Place], start: Start, end: Start) -> ScanRange:
        return ScanRange(
            columns=tuple(dict.fromkeys([*self._columns, *self._info.schema.primary_key])),
            start=start,
            end=end,
            partitions=None
            if places[0].id.partition is None
            else tuple(dict.fromkeys(p.id.partition or "" for p in places)),
            buckets=tuple({p.id.bucket for p in places}),
            metadata_columns=True,
        )
