"""Changes: rows to put and keys to delete, encoded, and spread over the buckets they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.packed_bytes import PackedBytes, spans_of
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.write.batching import Destination
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.options.table import KV_FORMAT
from lakeward.records.arrow.arrow_row_kernels import columns_of_arrow
from lakeward.records.arrow.partition_values import partition_names
from lakeward.records.batch.kv_batch import build_kv_batch, seal_kv_batch
from lakeward.records.columnar.row_kernels import RowForm, encode_rows
from lakeward.records.kernels.spans import I64, Spans

#: Every key is held in memory by whoever keeps the state, and travels twice with each row.
KEY_BYTES_MAX = 65_535
#: Length and length of the key, before each record.
_RECORD_OVERHEAD_BYTES = 6
_NOWHERE = np.zeros(0, np.uint8)
#: What is encoded in one go: large enough for compiled loops, small enough to send the first while encoding the next.
_ENCODE_ROWS, _ENCODE_BYTES = 1 << 16, 4 << 20


class Piece(NamedTuple):
    """Some changes of one write that go to the same bucket. Without rows they are deletes."""

    keys: PackedBytes
    rows: PackedBytes | None
    which: NDArray[np.intp]
    bytes: int


class ChangeEncoder:
    """Encodes changes of one table. Called from worker threads."""

    def __init__(self, info: TableInfo, keys: TableKeys, bucketing: Bucketing) -> None:
        self._info = info
        self._keys = keys
        self._bucketing = bucketing
        self._types = [c.type for c in info.schema.columns]
        self._form = RowForm(KV_FORMAT.read(info.descriptor.properties))

    def upserts(self, rows: pa.RecordBatch) -> list[tuple[Destination, Piece]]:
        """Rows with all columns of the table."""
        keys = self._keys.encode(rows)
        self._check_sizes(keys)
        encoded = PackedBytes(*encode_rows(columns_of_arrow(rows, self._info.schema), self._types, self._form))
        return list(self._spread(rows, keys, encoded))

    def deletes(self, key_rows: pa.RecordBatch) -> list[tuple[Destination, Piece]]:
        """Keys, with all columns of the primary key."""
        return list(self._spread(key_rows, self._keys.encode(key_rows), None))

    def puts_and_deletes(
        self, key_rows: pa.RecordBatch, is_put: NDArray[np.bool_], puts: pa.RecordBatch
    ) -> list[tuple[Destination, Piece]]:
        """Rows to put and keys to delete in one order: the keys of all, which are put, and the rows of those."""
        keys = self._keys.encode(key_rows)
        self._check_sizes(keys)
        rows = PackedBytes(*encode_rows(columns_of_arrow(puts, self._info.schema), self._types, self._form))
        sizes = np.zeros(len(is_put), np.int64)
        sizes[is_put] = rows.sizes
        bounds = np.zeros(len(is_put) + 1, np.int64)
        np.cumsum(sizes, out=bounds[1:])
        return list(self._spread(key_rows, keys, PackedBytes(rows.data, bounds)))

    def _check_sizes(self, keys: PackedBytes) -> None:
        sizes = keys.sizes
        if len(sizes) and sizes.max() > KEY_BYTES_MAX:
            row = int(np.argmax(sizes > KEY_BYTES_MAX))
            raise ErrorCode.RECORD_TOO_LARGE.error(
                f"The key of row {row} for {self._info.path} takes {sizes[row]:,} bytes; the limit is "
                f"{KEY_BYTES_MAX:,}. Use a hash of it as the key, and keep the long value in a column."
            )

    def _spread(
        self, rows: pa.RecordBatch, keys: PackedBytes, encoded: PackedBytes | None
    ) -> Iterator[tuple[Destination, Piece]]:
        buckets = self._keys.buckets(rows, keys, self._bucketing)
        sizes = keys.sizes + _RECORD_OVERHEAD_BYTES
        if encoded is not None:
            sizes += encoded.sizes
        for to, which in spread(rows, self._keys, buckets, self._bucketing):
            yield to, Piece(keys, encoded, which, int(sizes[which].sum()))


def slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The batch in pieces that are worth encoding at once."""
    step = min(_ENCODE_ROWS, max(1, batch.num_rows * _ENCODE_BYTES // max(batch.nbytes, 1)))
    for at in range(0, batch.num_rows, step):
        yield batch if step >= batch.num_rows else batch.slice(at, step)


def spread(
    rows: pa.RecordBatch, keys: TableKeys, buckets: NDArray[np.int32], bucketing: Bucketing
) -> Iterator[tuple[Destination, NDArray[np.intp]]]:
    """Which rows belong to each partition and bucket that has any; order within a destination is kept."""
    codes = buckets.astype(np.int64)
    names: Sequence[str | None] = [None]
    if keys.partition:
        partitions, names = partition_names(
            rows,
            [c.name for c in keys.partition],
            [c.type for c in keys.partition],
            follow_pyfluss=bucketing is Bucketing.PYFLUSS,
        )
        codes += partitions.astype(np.int64) * keys.bucket_count
    for code, which in group_places(codes, len(names) * keys.bucket_count):
        partition, bucket = divmod(code, keys.bucket_count)
        yield Destination(names[partition], bucket), which


def group_places(codes: I64, groups: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The places of each code that occurs, in their order."""
    if len(codes) <= 1:
        yield from ((int(code), np.zeros(1, np.intp)) for code in codes)
        return
    if groups <= np.iinfo(np.uint16).max:
        codes = codes.astype(np.uint16)  # sorted by counting, which is much faster
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    bounds = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), len(order)]
    for begin, end in pairwise(bounds):
        yield int(ordered[begin]), order[begin:end]


class EncodedChanges:
    """Changes ready to leave: a whole batch but for what the header says of writer and sequence."""

    def __init__(self, schema_id: int, pieces: Sequence[Piece]) -> None:
        keys = _join([(p.keys, p.which) for p in pieces])
        rows = None
        if any(p.rows is not None for p in pieces):
            rows = _join([(p.rows, p.which) for p in pieces])
        self._schema_id = schema_id
        self._batch = build_kv_batch(schema_id, keys, rows)

    @property
    def size(self) -> int:
        """Bytes of the batch, its header included."""
        return len(self._batch)

    def seal(self, schema_id: int, writer_id: int, sequence: int) -> bytearray:
        """The whole batch, with this writer and sequence written into it."""
        assert schema_id == self._schema_id
        seal_kv_batch(self._batch, writer_id, sequence)
        return self._batch


def _join(pieces: Sequence[tuple[PackedBytes | None, NDArray[np.intp]]]) -> Spans:
    sources, starts, ends = [], [], []
    for packed, which in pieces:
        sources.append(_NOWHERE if packed is None else packed.data)
        starts.append(np.zeros(len(which), np.int64) if packed is None else packed.bounds[which])
        ends.append(starts[-1] if packed is None else packed.bounds[which + 1])
    return spans_of(sources, starts, ends)
