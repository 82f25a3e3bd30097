"""Key parcels: the changes of a changelog's batches as upserts and deletes, which make the same changes elsewhere.

Every batch of a changelog is what one put has changed, so each becomes one put: what came before (`-U`) is known to
whoever has the same state, and an empty batch, which takes one offset, is a put of nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.decode.batch_cutter import batches_of
from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.keys.packed_bytes import PackedBytes
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.upsert.changes import EncodedChanges, Piece
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options.table import KV_FORMAT
from lakeward.records.arrow.arrow_row_kernels import columns_of_arrow
from lakeward.records.batch.log_batch import BatchSpan
from lakeward.records.columnar.row_kernels import RowForm, encode_rows

_BEFORE, _DELETE = "-U", "-D"
_KIND = "_change_type"


class KeyParcel:
    """One put."""

    batches = 1

    def __init__(self, first: int, end: int, rows: int, schema_id: int, changes: EncodedChanges) -> None:
        self.first, self.end, self.rows, self.schema_id = first, end, rows, schema_id
        self.bytes = changes.size
        self._changes = changes

    def seal(self, writer_id: int, sequence: int) -> bytearray:
        """The kv batch, with its sender in it."""
        return self._changes.seal(self.schema_id, writer_id, sequence)

    def behind(self, offset: int) -> KeyParcel | None:
        """All of it or nothing: a put is never there by half."""
        return self if offset <= self.first else None


class ChangeTranslator:
    """Changes of one table's changelog → puts into another of the same schema. Called from worker threads."""

    def __init__(self, source: TableInfo, target: TableInfo, schemas: Mapping[int, Schema]) -> None:
        self._decoder = LogDecoder(source, metadata_columns=True)
        for schema_id, schema in schemas.items():
            self._decoder.learn(schema_id, schema)
        self._source, self._target = source, target
        self._keys = TableKeys(target)
        self._types = [c.type for c in target.schema.columns]
        self._form = RowForm(KV_FORMAT.read(target.descriptor.properties))
        self._no_keys = PackedBytes(np.zeros(0, np.uint8), np.zeros(1, np.int64))

    def parcels(self, chunk: Chunk, expected: int) -> list[KeyParcel]:
        """A put for each batch of a chunk, of which `expected` is the next offset to be copied."""
        found = []
        for span in batches_of(chunk.data):
            header = span.header
            if header.last_offset < expected:
                continue
            if chunk.to_offset is not None and header.base_offset >= chunk.to_offset:
                break  # it may be of a schema that nobody has told us yet
            if header.base_offset != expected or header.last_offset_delta != max(header.record_count - 1, 0):
                raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                    f"{self._source.path}, bucket {chunk.id}: changes are missing from offset {expected} on."
                )
            found.append(self._parcel(chunk, span))
            expected = header.last_offset + 1
        return found

    def decode(self, chunk: Chunk) -> list[pa.RecordBatch]:
        """The changes of a chunk as rows."""
        return self._decoder.decode(chunk)

    def _parcel(self, chunk: Chunk, span: BatchSpan) -> KeyParcel:
        header = span.header
        alone = Chunk(chunk.data[span.start : span.end], chunk.bucket, header.base_offset, None, projected=False)
        batches = self._decoder.decode(alone)
        changes = self.changes(batches[0]) if batches else self._nothing()
        return KeyParcel(
            header.base_offset, header.last_offset + 1, header.record_count, self._target.schema_id, changes
        )

    def _nothing(self) -> EncodedChanges:
        return EncodedChanges(self._target.schema_id, [Piece(self._no_keys, None, np.zeros(0, np.intp), 0)])

    def changes(self, rows: pa.RecordBatch) -> EncodedChanges:
        """Rows with their kinds of change; those that only say what was before are left out."""
        kinds = rows.column(_KIND)
        after = pc.not_equal(kinds, _BEFORE)
        if not pc.all(after).as_py():
            rows = rows.filter(after)
            kinds = rows.column(_KIND)
        is_put = pc.not_equal(kinds, _DELETE).to_numpy(zero_copy_only=False)
        rows = rows.select(self._target.schema.names)
        keys = self._keys.encode(rows)
        puts = rows if is_put.all() else rows.filter(pa.array(is_put))
        packed = PackedBytes(*encode_rows(columns_of_arrow(puts, self._target.schema), self._types, self._form))
        if len(puts) < len(rows):
            sizes = np.zeros(len(is_put), np.int64)
            sizes[is_put] = packed.sizes
            bounds = np.zeros(len(is_put) + 1, np.int64)
            np.cumsum(sizes, out=bounds[1:])
            packed = PackedBytes(packed.data, bounds)
        return EncodedChanges(self._target.schema_id, [Piece(keys, packed, np.arange(len(rows)), 0)])
