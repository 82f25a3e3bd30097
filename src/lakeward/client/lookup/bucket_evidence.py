"""BucketEvidence: whose way of bucketing a table follows, and whether its rows agree (docs/decisions/0012).

A table that declares it is taken by its word. One that does not follows Java; but before the first write, and where
keys are not found, the rows are asked: one that lies where only pyfluss would have put it is an error, because
the alternative is a key stored twice, or a row that seems not to exist.
"""

from __future__ import annotations

import asyncio

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.admin.offsets import Place, TableOffsets
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.keys.conventions import PROPERTY, Bucketing, can_disagree, declared_bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.lookups import AskedKeys, Lookups
from lakeward.client.state.value_decoder import ValueDecoder
from lakeward.client.state.value_scans import limited_values
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo

#: Where rows are sampled before the first write: buckets, and rows of each.
_SAMPLED_BUCKETS, _SAMPLED_ROWS = 4, 32
#: Missing keys that are also sought where pyfluss would have put them: in one call, and in all calls without success.
_SOUGHT_AT_ONCE, _SOUGHT_IN_VAIN_MAX = 128, 1024


class BucketEvidence:
    """What is known of one table."""

    def __init__(
        self,
        cluster: Cluster,
        info: TableInfo,
        partitions: Partitions,
        keys: TableKeys,
        lookups: Lookups,
        told: Bucketing | None = None,
    ) -> None:
        said = told or declared_bucketing(info.descriptor.custom_properties)
        self._cluster = cluster
        self._info = info
        self._offsets = TableOffsets(cluster, info, partitions)
        self._keys = keys
        self._lookups = lookups
        self.bucketing = said or Bucketing.JAVA
        self._doubtful = said is None and can_disagree(info.descriptor)
        self._sought_left = _SOUGHT_IN_VAIN_MAX if self._doubtful else 0
        self._sampling = asyncio.Lock()

    async def for_writing(self) -> Bucketing:
        """The way to follow; refuses to write to a table whose rows lie where pyfluss puts them."""
        async with self._sampling:
            if self._doubtful:
                await self._sample()
                self._doubtful = False
        return self.bucketing

    async def _sample(self) -> None:
        places = await self._offsets.places()
        step = max(1, len(places) // _SAMPLED_BUCKETS)
        await asyncio.gather(*(self._sample_bucket(place) for place in places[::step][:_SAMPLED_BUCKETS]))

    async def _sample_bucket(self, place: Place) -> None:
        decoder = ValueDecoder(self._cluster, self._info)
        values = await limited_values(self._cluster, self._info, place, _SAMPLED_ROWS)
        if not len(values):
            return
        rows = await decoder.decode(values)
        keys = self._keys.encode(rows)
        own, other = (self._keys.buckets(rows, keys, way) for way in (self.bucketing, self.bucketing.other))
        here = place.bucket.bucket
        strays = np.flatnonzero((own != here) & (other == here))
        if len(strays):
            raise self._stray_error(rows, int(strays[0]), int(own[strays[0]]), here)

    async def explain_missing(self, asked: AskedKeys, lacking: NDArray[np.intp]) -> None:
        """Seek missing keys where pyfluss would have put them, as long as that may be why; found there is an error."""
        if self._sought_left <= 0:
            return
        own, other = (self._keys.buckets(asked.rows, asked.keys, w) for w in (self.bucketing, self.bucketing.other))
        sought = lacking[own[lacking] != other[lacking]][: min(_SOUGHT_AT_ONCE, self._sought_left)]
        if not len(sought):
            return
        found = await self._lookups.find(asked, self.bucketing.other, only=sought)
        strays = np.flatnonzero(found.places >= 0)
        if len(strays):
            stray = int(strays[0])
            raise self._stray_error(asked.rows, stray, int(own[stray]), int(other[stray]))
        self._sought_left -= len(sought)

    def _stray_error(self, rows: pa.RecordBatch, row: int, own: int, other: int) -> LakewardError:
        key = {c.name: rows.column(c.name)[row].as_py() for c in self._keys.primary}
        shown = ", ".join(f"{name}={value!r:.60}" for name, value in key.items())
        path = self._info.path
        return ErrorCode.INVALID_CONFIG.error(
            f"{path}: the row with {shown} lies in bucket {other}, where pyfluss puts it; Java clients, and this one, "
            f"keep that key in bucket {own}. If pyfluss writes this table, say so once: "
            f"conn.alter_table('{path}', set={{'{PROPERTY}': 'pyfluss'}}), or open it with "
            f"conn.table('{path}', bucketing='pyfluss'). If Java clients write it too, keys may be stored twice; "
            "docs/guides/primary-keys.md says what to do."
        )
