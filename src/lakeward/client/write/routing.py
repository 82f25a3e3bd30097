"""Which partition and bucket each row belongs to. Works on whole columns, never row by row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.write.batching import Destination
from lakeward.model.table import TableInfo
from lakeward.options.table import LAKE_FORMAT
from lakeward.records.arrow.partition_values import partition_names

Routed = tuple[Destination, pa.RecordBatch]


class Router:
    """Spreads the rows of one table.

    With a bucket key the key decides. Without one, each batch goes whole to the next bucket (or, round-robin, each
    write is cut into one piece per bucket). `follow_pyfluss` is for tables that are declared to (docs/decisions/0012).
    """

    def __init__(
        self, info: TableInfo, *, round_robin: bool = False, follow_pyfluss: bool = False, turn: int = 0
    ) -> None:
        schema = info.schema
        self._follow_pyfluss = follow_pyfluss
        self._buckets = info.bucket_count
        self._bucket_columns = [schema.column(k) for k in info.descriptor.bucket_keys]
        self._partition_keys = info.descriptor.partition_keys
        self._partition_types = [schema.column(k).type for k in self._partition_keys]
        self._round_robin = round_robin
        self._lake_format = LAKE_FORMAT.read(info.descriptor.properties)
        self._next: dict[str | None, int] = {}
        self._turn = turn
        self._start = turn % self._buckets

    def start_at(self, seed: int) -> None:
        """Where a table without bucket key begins: different writers begin at different buckets, and so does each
        router of a connection, whose writers share an id.
        """
        self._start = (seed + self._turn) % self._buckets

    def next_bucket(self, partition: str | None) -> int:
        """The bucket whose turn it is."""
        bucket = self._next.get(partition, self._start)
        self._next[partition] = (bucket + 1) % self._buckets
        return bucket

    def route(self, batch: pa.RecordBatch) -> Iterator[Routed]:
        """The rows in pieces, each with its destination; order within a destination is kept."""
        if not self._partition_keys:
            yield from self._to_buckets(None, batch)
            return
        codes, names = partition_names(
            batch, self._partition_keys, self._partition_types, follow_pyfluss=self._follow_pyfluss
        )
        for code, rows in split(batch, codes, len(names)):
            yield from self._to_buckets(names[code], rows)

    def _to_buckets(self, partition: str | None, batch: pa.RecordBatch) -> Iterator[Routed]:
        if self._bucket_columns and self._buckets > 1:
            from lakeward.records.arrow.bucket_kernels import assign_buckets

            columns = [batch.column(c.name) for c in self._bucket_columns]
            types = [c.type for c in self._bucket_columns]
            buckets = assign_buckets(
                columns, types, self._buckets, self._lake_format, follow_pyfluss=self._follow_pyfluss
            )
            for bucket, rows in split(batch, buckets, self._buckets):
                yield Destination(partition, bucket), rows
        elif self._bucket_columns:
            yield Destination(partition, 0), batch
        elif self._round_robin and batch.num_rows > 1:
            step = -(-batch.num_rows // self._buckets)
            for at in range(0, batch.num_rows, step):
                yield Destination(partition, self.next_bucket(partition)), batch.slice(at, step)
        else:
            yield Destination(partition, None), batch


def split(batch: pa.RecordBatch, codes: NDArray[np.int32], groups: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each group that has any, in their order."""
    counts = np.bincount(codes, minlength=groups)
    present = np.flatnonzero(counts)
    if len(present) == 1:
        yield int(present[0]), batch
        return
    ordered = batch.take(pa.array(np.argsort(codes, kind="stable")))
    start = 0
    for group in present:
        yield int(group), ordered.slice(start, counts[group])
        start += counts[group]
