"""Both sides of a copy compared: counts and checksums of every bucket, row by row where offsets are the same."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from lakeward.agreement.offset_sums import OffsetSums
from lakeward.agreement.row_hashes import hash_rows
from lakeward.client.forms.results import BucketId
from lakeward.client.tables.table import AsyncTable
from lakeward.moving.report import BucketEnds, BucketSums, Watch
from lakeward.moving.state_sync import state_of
from lakeward.moving.twin import Twins

_KIND, _OFFSET, _BUCKET = "_change_type", "_offset", "_bucket"
_SUM_MODULUS = 1 << 64
Ranges = Mapping[BucketId, tuple[int, int]]


async def compare_ends(twins: Twins) -> list[BucketEnds]:
    """The buckets that do not end at the same offset."""
    # The target is asked first: what it has more than a source that was asked later is not the source's.
    theirs = await twins.target.offsets("latest")
    ours = await twins.source.offsets("latest")
    pairs = [BucketEnds(id_, end, theirs.get(id_, 0)) for id_, end in ours.items()]
    return [one for one in pairs if one.source_end != one.target_end]


async def compare_logs(twins: Twins, ranges: Ranges, watch: Watch) -> list[BucketSums]:
    """Rows by offset, and what kind of change each is."""
    columns = [*twins.source.info.schema.names, _KIND]
    by_partition: dict[str | None, list[BucketId]] = defaultdict(list)
    for id_ in ranges:
        by_partition[id_.partition].append(id_)
    found = []
    for partition, ids in by_partition.items():
        wanted = {id_: ranges[id_] for id_ in ids}
        sides = [_sums(table, partition, wanted, columns, watch) for table in (twins.source, twins.target)]
        here, there = await asyncio.gather(*sides)
        found += [_bucket(id_, here[id_], there[id_]) for id_ in ids]
    return found


def _bucket(id_: BucketId, here: OffsetSums, there: OffsetSums) -> BucketSums:
    differ = here.first_difference(there)
    where = None if differ is None else f"between offsets {differ[0]:,} and {differ[1]:,}"
    return BucketSums(id_, here.rows, there.rows, here.checksum, there.checksum, where)


async def _sums(
    table: AsyncTable, partition: str | None, ranges: Ranges, columns: Sequence[str], watch: Watch
) -> dict[BucketId, OffsetSums]:
    sums = {id_: OffsetSums(start, end, len(ranges)) for id_, (start, end) in ranges.items()}
    scan = table.scan(
        start={id_: start for id_, (start, _) in ranges.items()},
        end={id_: end for id_, (_, end) in ranges.items()},
        partitions=None if partition is None else [partition],
        buckets=[id_.bucket for id_ in ranges],
        metadata_columns=True,
    )

    def add(batch: pa.RecordBatch) -> None:
        id_ = BucketId(partition, batch.column(_BUCKET)[0].as_py())
        sums[id_].add(batch.column(_OFFSET).to_numpy(), hash_rows(batch, columns))

    async for batch in scan.batches():
        if batch.num_rows:
            await asyncio.to_thread(add, batch)
            watch(table.path, "compared", batch.num_rows, None)
    return sums


async def compare_states(
    twins: Twins, ends: Mapping[BucketId, int], watch: Watch, *, same_offsets: bool
) -> list[BucketSums]:
    """Rows by key: those of the source as of these ends, those of the target as of the same or as they are."""
    found = []
    names = twins.source.info.schema.names
    for id_, end in ends.items():
        here, there = await asyncio.gather(
            _sum(state_of(twins.source, id_, end), names, _teller(watch, twins)),
            _sum(state_of(twins.target, id_, end if same_offsets else None), names, _teller(watch, twins)),
        )
        where = None if here == there else "in the rows by key"
        found.append(BucketSums(id_, here[0], there[0], here[1], there[1], where))
    return found


def _teller(watch: Watch, twins: Twins) -> Callable[[int], None]:
    return lambda rows: watch(twins.source.path, "compared by key", rows, None)


async def _sum(
    batches: AsyncIterator[pa.RecordBatch], names: Sequence[str], told: Callable[[int], None]
) -> tuple[int, int]:
    rows, total = 0, 0
    async for batch in batches:
        hashes = await asyncio.to_thread(hash_rows, batch, names)
        rows += batch.num_rows
        total = (total + int(hashes.sum(dtype=np.uint64))) % _SUM_MODULUS
        told(batch.num_rows)
    return rows, total
