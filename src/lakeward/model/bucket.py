"""TableBucket: the unit that has one log."""

from __future__ import annotations

from typing import NamedTuple


class TableBucket(NamedTuple):
    """One bucket of a table or of one of its partitions. A tuple, because it is a key on every hot path."""

    table_id: int
    partition_id: int | None
    bucket: int

    def __str__(self) -> str:
        partition = "" if self.partition_id is None else f", partitionId={self.partition_id}"
        return f"TableBucket{{tableId={self.table_id}{partition}, bucket={self.bucket}}}"
