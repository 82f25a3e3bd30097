"""Log batches → Arrow, whatever schema they were written under.

Columns are matched by id: one that the batch does not know yet is NULL, one that the reader did not ask for is left
out. The server projects by position, so wanted columns travel in table order and are put into the asked order here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.errors import ErrorCode
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableInfo
from lakeward.options.table import LOG_FORMAT
from lakeward.records import compacted_row, indexed_row
from lakeward.records.arrow_rows import rows_to_arrow
from lakeward.records.arrow_types import arrow_schema
from lakeward.records.batch_header import BatchHeader
from lakeward.records.log_batch import BatchSpan, crc_is_right, walk_batches
from lakeward.records.predicate import Predicate, batch_may_match
from lakeward.records.projection import Projection, plan_projection, project_batch
from lakeward.records.row_batches import records_of

CHANGE_TYPES = ("+A", "+I", "-U", "+U", "-D")
METADATA_FIELDS = (
    pa.field("_bucket", pa.int32(), nullable=False),
    pa.field("_offset", pa.int64(), nullable=False),
    pa.field("_timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
    pa.field("_change_type", pa.string(), nullable=False),
)
ROW_FORMATS = {"COMPACTED": compacted_row.codec, "INDEXED": indexed_row.codec}
#: Batches smaller than this are put together, so that many small writes do not become many small batches.
_SMALL_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Chunk:
    """A few whole batches of one bucket as they came, and which of their offsets are wanted.

    A server has projected them, or left that to us; what comes from a file store is not filtered either.
    """

    data: memoryview
    bucket: int
    from_offset: int
    to_offset: int | None
    projected: bool
    unfiltered: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """How batches of one schema become the asked columns: the wire's schema, and where each asked column stands."""

    written: Schema
    wire: pa.Schema
    places: tuple[int | None, ...]
    #: What is left out before anything is decoded; None when the server did so, or nothing is.
    surgery: Projection | None


class LogDecoder:
    """Decodes the log of one table into the asked columns. Called from worker threads."""

    def __init__(
        self,
        info: TableInfo,
        columns: Sequence[str] | None = None,
        *,
        metadata_columns: bool = False,
        check_crc: bool = True,
        where: Predicate | None = None,
    ) -> None:
        self._where = where
        self._info = info
        self._format = LOG_FORMAT.read(info.descriptor.properties)
        self._columns = info.schema.columns if columns is None else tuple(info.schema.column(n) for n in columns)
        self._metadata_columns = metadata_columns
        self._check_crc = check_crc
        self._fields = arrow_schema(info.schema.select([c.name for c in self._columns]))
        self.schema = pa.schema([*self._fields, *(METADATA_FIELDS if metadata_columns else ())])
        self._schemas = {info.schema_id: info.schema}
        self._plans: dict[tuple[int, bool], _Plan] = {}
        whole = columns is None or len(set(columns)) == len(info.schema.columns)
        self.projection = () if whole or self._format != "ARROW" else self._positions()

    def _positions(self) -> tuple[int, ...]:
        return tuple(sorted({self._info.schema.positions[c.name] for c in self._columns}))

    # -- schemas ------------------------------------------------------------------------------------------------------

    def unknown_schemas(self, chunk: Chunk) -> set[int]:
        """Schema ids of these batches that must be told by `learn()` before `decode()`."""
        return {span.header.schema_id for span in walk_batches(chunk.data)} - self._schemas.keys()

    def learn(self, schema_id: int, schema: Schema) -> None:
        """What a schema id stands for."""
        self._schemas[schema_id] = schema

    def _plan(self, schema_id: int, projected: bool) -> _Plan:
        plan = self._plans.get((schema_id, projected))
        if plan is None:
            plan = self._plans[schema_id, projected] = self._planned(self._schemas[schema_id], projected)
        return plan

    def _planned(self, written: Schema, projected: bool) -> _Plan:
        on_wire: tuple[Column, ...] = written.columns
        positions = tuple(p for p in self.projection if p < len(written.columns))
        if self.projection:
            on_wire = tuple(written.columns[p] for p in positions)
        by_id = {c.id: i for i, c in enumerate(on_wire)}
        wire = arrow_schema(written.select([c.name for c in on_wire]))
        surgery = plan_projection(written, positions) if positions and not projected else None
        return _Plan(written, wire, tuple(by_id.get(c.id) for c in self._columns), surgery)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def decode(self, chunk: Chunk) -> list[pa.RecordBatch]:
        """The wanted rows of a chunk; many small batches come out as one."""
        found = list(self._decoded(chunk))
        if len(found) > 1 and sum(b.num_rows for b in found) < len(found) * _SMALL_ROWS:
            return [pa.concat_batches(found)]
        return found

    def _decoded(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        for span in walk_batches(chunk.data):
            header = span.header
            if self._check_crc and not chunk.projected and not crc_is_right(chunk.data, span):
                where = f"{self._info.path}, bucket {chunk.bucket}, offset {header.base_offset}"
                raise ErrorCode.CORRUPT_RECORD.error(f"{where}: the batch has a wrong CRC.")
            first = max(chunk.from_offset - header.base_offset, 0)
            last = header.record_count
            if chunk.to_offset is not None:
                last = min(last, chunk.to_offset - header.base_offset)
            if first >= last or (chunk.unfiltered and not self._may_match(chunk, span)):
                continue
            batch = self._batch(chunk, span)
            yield batch if (first, last) == (0, header.record_count) else batch.slice(first, last - first)

    def _may_match(self, chunk: Chunk, span: BatchSpan) -> bool:
        """Whether a batch can have rows that the scan's filter lets through, by its statistics."""
        header = span.header
        if self._where is None or not header.statistics_length or not header.append_only:
            return True
        at = span.start + header.header_bytes
        statistics = chunk.data[at : at + header.statistics_length]
        return batch_may_match(self._where, statistics, self._schemas[header.schema_id], header.record_count)

    def _batch(self, chunk: Chunk, span: BatchSpan) -> pa.RecordBatch:
        header = span.header
        plan = self._plan(header.schema_id, chunk.projected)
        if plan.surgery is None:
            payload = chunk.data[span.start + header.header_bytes + header.statistics_length : span.end]
        else:
            pieces, _ = project_batch(chunk.data, span, plan.surgery)
            payload = memoryview(b"".join(pieces))[header.header_bytes :]
        rows, changes = self._rows(plan, header, payload)
        arrays = self._arranged(plan, rows, header.record_count)
        if self._metadata_columns:
            arrays += self._metadata(chunk.bucket, span, changes)
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _arranged(self, plan: _Plan, rows: pa.RecordBatch | None, count: int) -> list[pa.Array]:
        return [
            pa.nulls(count, field.type) if place is None or rows is None else rows.column(place)
            for place, field in zip(plan.places, self._fields, strict=True)
        ]

    def _rows(
        self, plan: _Plan, header: BatchHeader, payload: memoryview
    ) -> tuple[pa.RecordBatch | None, NDArray[np.int8] | None]:
        """The rows as they were written, and their change types where there are any."""
        if self._format in ROW_FORMATS:
            kinds, rows = zip(*records_of(payload, header.record_count), strict=True)
            codec = ROW_FORMATS[self._format](tuple(c.type for c in plan.written.columns))
            return rows_to_arrow(rows, plan.written, codec), np.array(kinds, np.int8)
        changes = None
        if not header.append_only:
            changes = np.frombuffer(payload, np.int8, header.record_count)
            payload = payload[header.record_count :]
        if not len(plan.wire):
            return None, changes
        try:
            return pa.ipc.read_record_batch(pa.py_buffer(payload), plan.wire), changes
        except (pa.ArrowInvalid, OSError) as wrong:
            where = f"{self._info.path}, offset {header.base_offset}"
            raise ErrorCode.CORRUPT_RECORD.error(f"{where}: the rows are damaged: {wrong}") from wrong

    def _metadata(self, bucket: int, span: BatchSpan, changes: NDArray[np.int8] | None) -> list[pa.Array]:
        header = span.header
        count = header.record_count
        kinds = pa.array(np.zeros(count, np.int8) if changes is None else changes)
        return [
            pa.array(np.full(count, bucket, np.int32)),
            pa.array(np.arange(header.base_offset, header.base_offset + count, dtype=np.int64)),
            pa.array(np.full(count, header.commit_timestamp_ms, np.int64)).cast(METADATA_FIELDS[2].type),
            pa.array(CHANGE_TYPES).take(kinds),
        ]
