"""StateSync: a primary key table by its rows as they are, and then by what changes. Offsets are the target's own.

Whatever the target has already is compared first, key by key as hashes, and only what differs is sent: so a copy that
was killed goes on with what it lacks, and rows that are gone in the source go in the target too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing

import numpy as np
import pyarrow as pa

from lakeward.agreement.row_hashes import U64, hash_rows
from lakeward.client.forms.results import BucketId
from lakeward.client.raw.raw_writer import RawWriter
from lakeward.client.tables.table import AsyncTable
from lakeward.errors import ErrorCode, LakewardError
from lakeward.moving.report import Watch
from lakeward.moving.twin import Twins

_KIND = "_change_type"
#: Buckets that are worked on at a time; each holds a few batches.
_AT_ONCE = 4


class StateSync:
    """Rows and changes into the target of one table."""

    def __init__(self, writer: RawWriter, watch: Watch) -> None:
        self.writer = writer
        self._watch = watch

    async def follow(self, twins: Twins, positions: dict[BucketId, int], ends: Mapping[BucketId, int]) -> int:
        """Bring every bucket to its end: by its rows where none were sent yet; returns how many were sent."""
        rows = 0
        left = iter([id_ for id_ in ends if id_ not in positions])

        async def load() -> None:
            nonlocal rows
            for id_ in left:
                sent = await self._load(twins, id_, ends[id_])
                rows += sent  # not in one step: others count meanwhile
                positions[id_] = ends[id_]

        await asyncio.gather(*(load() for _ in range(_AT_ONCE)))
        ranges = {id_: (positions[id_], end) for id_, end in ends.items() if positions[id_] < end}
        try:
            async with aclosing(twins.source.raw_scan(ranges)) as chunks:
                async for chunk in chunks:
                    rows += await self.writer.apply(chunk)
                    self._watch(twins.source.path, "followed", 0, None)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                raise
            for id_ in ranges:  # the source's retention was quicker: its rows again
                positions.pop(id_, None)
            return rows
        positions.update({id_: end for id_, (_, end) in ranges.items()})
        return rows

    async def _load(self, twins: Twins, id_: BucketId, end: int) -> int:
        """Make the rows of one bucket those of the source at an offset."""
        key, names = list(twins.source.info.schema.primary_key), twins.source.info.schema.names
        held = await _hashes(state_of(twins.target, id_, None), key, names)
        seen: list[U64] = []
        sent = 0
        async for batch in state_of(twins.source, id_, end):
            keys, hashes = hash_rows(batch, key), hash_rows(batch, names)
            seen.append(keys)
            new = batch.filter(pa.array(~held.has(keys, hashes)))
            if new.num_rows:
                sent += await self.writer.change(id_, _as(new, "+I"))
            self._watch(twins.source.path, "rows copied", batch.num_rows, None)
        gone = held.besides(np.concatenate(seen) if seen else np.zeros(0, np.uint64))
        if len(gone):
            async for batch in state_of(twins.target, id_, None):
                which = np.isin(hash_rows(batch, key), gone)
                if which.any():
                    sent += await self.writer.change(id_, _as(batch.filter(pa.array(which)), "-D"))
        return sent


class Held:
    """Rows by key, as hashes."""

    def __init__(self, keys: U64, rows: U64) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows[order]

    def has(self, keys: U64, rows: U64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of these rows are held as they are."""
        if not len(self._keys):
            return np.zeros(len(keys), np.bool_)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: np.ndarray[tuple[int], np.dtype[np.bool_]] = (self._keys[at] == keys) & (self._rows[at] == rows)
        return found

    def besides(self, keys: U64) -> U64:
        """The keys that are held and are none of these."""
        return np.setdiff1d(self._keys, keys)


async def _hashes(batches: AsyncIterator[pa.RecordBatch], key: list[str], names: Iterable[str]) -> Held:
    keys, rows = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    columns = list(names)
    async for batch in batches:
        keys.append(hash_rows(batch, key))
        rows.append(hash_rows(batch, columns))
    return Held(np.concatenate(keys), np.concatenate(rows))


def state_of(table: AsyncTable, id_: BucketId, as_of: int | None) -> AsyncIterator[pa.RecordBatch]:
    """The rows of one bucket, now or as of an offset."""
    only = None if id_.partition is None else [id_.partition]
    return table.snapshot_batches(partitions=only, buckets=[id_.bucket], as_of=as_of)


def _as(rows: pa.RecordBatch, kind: str) -> pa.RecordBatch:
    return rows.append_column(_KIND, pa.array([kind] * rows.num_rows, pa.string()))
