"""Position: how far a tail is in each bucket, as text that a page keeps and sends back to go on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.records.arrow.partition_values import partition_names

#: More than this do not go into an address; the page then goes on by time.
BUCKETS_MAX = 150
_ONE = re.compile(r"(?:([^~]+)~)?(\d{1,9})~(\d{1,18})")


class Position:
    """The next offset of each bucket of a table."""

    def __init__(self, info: TableInfo, offsets: Mapping[BucketId, int]) -> None:
        self._keys: Sequence[str] = info.descriptor.partition_keys
        self._types = [info.schema.column(key).type for key in self._keys]
        self.offsets = dict(offsets)

    def advance(self, batch: pa.RecordBatch) -> None:
        """Pass the rows of a batch, which are of one partition."""
        partition = None
        if self._keys:
            _, names = partition_names(batch.slice(0, 1), self._keys, self._types)
            partition = names[0]
        buckets, offsets = batch.column("_bucket"), batch.column("_offset")
        for bucket in pc.unique(buckets).to_pylist():
            last = pc.max(offsets if len(pc.unique(buckets)) == 1 else offsets.filter(pc.equal(buckets, bucket)))
            id_ = BucketId(partition, bucket)
            self.offsets[id_] = max(self.offsets.get(id_, 0), last.as_py() + 1)

    def to_text(self) -> str | None:
        """For an address; None if it would be too long."""
        if len(self.offsets) > BUCKETS_MAX:
            return None
        return "!".join(
            f"{id_.partition}~{id_.bucket}~{at}" if id_.partition is not None else f"{id_.bucket}~{at}"
            for id_, at in self.offsets.items()
        )


def offsets_of_text(text: str) -> dict[BucketId, int]:
    """The offsets that `to_text` wrote; refuses anything else."""
    found: dict[BucketId, int] = {}
    for part in text.split("!"):
        one = _ONE.fullmatch(part)
        if one is None or len(found) >= BUCKETS_MAX:
            raise ErrorCode.INVALID_SCAN_REQUEST.error("This is no position of a tail; open the page again.")
        found[BucketId(one[1], int(one[2]))] = int(one[3])
    return found
