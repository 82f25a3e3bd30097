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

from lakeward.client.decode.batch_cutter import batches_of
from lakeward.client.forms.damage import Damage
from lakeward.client.forms.results import BucketId
from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableInfo
from lakeward.options.client import SCANNER_BATCH_MAX
from lakeward.options.table import LOG_COMPACTION, LOG_FORMAT
from lakeward.records.arrow.arrow_rows import rows_to_arrow
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.arrow.arrow_values import check_values
from lakeward.records.arrow.row_batches import records_of
from lakeward.records.batch.batch_header import BatchHeader
from lakeward.records.batch.log_batch import BatchSpan, crc_is_right
from lakeward.records.batch.predicate import Predicate, batch_may_match
from lakeward.records.batch.projection import Projection, plan_projection, project_batch
from lakeward.records.ipc.arrow_structure import CheckedMessage, Node, nodes_of
from lakeward.records.ipc.known_messages import KnownMessages
from lakeward.records.row import compacted_row, indexed_row

CHANGE_TYPES = ("+A", "+I", "-U", "+U", "-D")
_CHANGE_TYPES = pa.array(CHANGE_TYPES)
METADATA_FIELDS = (
    pa.field("_bucket", pa.int32(), nullable=False),
    pa.field("_offset", pa.int64(), nullable=False),
    pa.field("_timestamp", pa.timestamp("ms", tz="UTC"), nullable=False),
    pa.field("_change_type", pa.string(), nullable=False),
)
ROW_FORMATS = {"COMPACTED": compacted_row.codec, "INDEXED": indexed_row.codec}
#: Batches smaller than this are put together, so that many small writes do not become many small batches.
_SMALL_ROWS = 1024
#: A batch that came larger than the limit by itself may become so many times its size.
_RATIO_MAX = 16
_ROW_BYTES_MIN = 8


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
    partition: str | None = None

    @property
    def id(self) -> BucketId:
        """The bucket as people name it."""
        return BucketId(self.partition, self.bucket)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How batches of one schema become the asked columns: the wire's schema, and where each asked column stands."""

    written: Schema
    wire: pa.Schema
    #: What messages must be, also with columns that the batch does not have yet: our server puts NULLs for them behind
    #: the others.
    messages: KnownMessages
    places: tuple[int | None, ...]
    #: Whether the wire's columns are the asked ones.
    is_whole: bool
    #: What is left out before anything is decoded; None when the server did so, or nothing is.
    surgery: Projection | None


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of one batch, where they stand in the log, and what kinds of changes they are, if they are not appends."""

    rows: pa.RecordBatch
    count: int
    first: int
    at_ms: int
    changes: NDArray[np.int8] | None

    def slice(self, start: int, count: int) -> _Part:
        changes = None if self.changes is None else self.changes[start : start + count]
        return _Part(self.rows.slice(start, count), count, self.first + start, self.at_ms, changes)


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
        damage: Damage | None = None,
        raw_bytes_max: int = SCANNER_BATCH_MAX.default,
    ) -> None:
        self._where = where
        self._damage = damage or Damage(info.path)
        self._raw_bytes_max = raw_bytes_max
        self._info = info
        self._format = LOG_FORMAT.read(info.descriptor.properties)
        self._columns = info.schema.columns if columns is None else tuple(info.schema.column(n) for n in columns)
        self._metadata_columns = metadata_columns
        self._check_crc = check_crc
        #: Whether offsets without rows were given up: compaction of a changelog leaves such offsets, nothing else does.
        self.tells_gaps = not info.descriptor.has_primary_key or not LOG_COMPACTION.read(info.descriptor.properties)
        self._asked = arrow_schema(info.schema.select([c.name for c in self._columns]))
        self.schema = pa.schema([*self._asked, *METADATA_FIELDS]) if metadata_columns else self._asked
        self._schemas: dict[int, Schema | None] = {info.schema_id: info.schema}
        self._plans: dict[tuple[int, bool], _Plan] = {}
        self._made_appends = _CHANGE_TYPES.slice(0, 0)
        # Who leaves out bad batches leaves out the same ones whatever columns are asked for: it looks at them all.
        whole = columns is None or len(set(columns)) == len(info.schema.columns) or self._damage.skips
        self.projection = () if whole or self._format != "ARROW" else self._positions()

    def _positions(self) -> tuple[int, ...]:
        return tuple(sorted({self._info.schema.positions[c.name] for c in self._columns}))

    # -- schemas ------------------------------------------------------------------------------------------------------

    def unknown_schemas(self, chunk: Chunk) -> set[int]:
        """Schema ids of these batches that must be told by `learn()` before `decode()`."""
        return {span.header.schema_id for span in batches_of(chunk.data)} - self._schemas.keys()

    def learn(self, schema_id: int, schema: Schema | None) -> None:
        """What a schema id stands for; None when nobody knows it."""
        self._schemas[schema_id] = schema

    def surgery(self, schema_id: int) -> Projection | None:
        """What is wanted of a stored batch of a schema; None for all of it, and where nobody told the schema yet."""
        if not self.projection or self._schemas.get(schema_id) is None:
            return None
        return self._plan(schema_id, projected=False).surgery

    def lacks(self, schema_id: int, schema: Schema) -> list[str]:
        """Columns of a newer schema that were not there when this began, if it was to show all there are."""
        if schema_id < self._info.schema_id or len(self._columns) < len(self._info.schema.columns):
            return []
        return [name for name in schema.names if name not in self._info.schema.positions]

    def _plan(self, schema_id: int, projected: bool) -> _Plan:
        plan = self._plans.get((schema_id, projected))
        if plan is None:
            schema = self._schemas[schema_id]
            if schema is None:
                raise ErrorCode.CORRUPT_RECORD.error(f"nobody knows its schema {schema_id}")
            plan = self._plans[schema_id, projected] = self._make_plan(schema, projected)
        return plan

    def _make_plan(self, written: Schema, projected: bool) -> _Plan:
        on_wire: tuple[Column, ...] = written.columns
        positions = tuple(p for p in self.projection if p < len(written.columns))
        if self.projection:
            on_wire = tuple(written.columns[p] for p in positions)
        by_id = {c.id: i for i, c in enumerate(on_wire)}
        wire = arrow_schema(written.select([c.name for c in on_wire]))
        surgery = plan_projection(written, positions) if positions and not projected else None
        places = tuple(by_id.get(c.id) for c in self._columns)
        new = [self._info.schema.columns[p] for p in self.projection if p >= len(written.columns)]
        padded = _nodes([*on_wire, *new]) if new and projected else None
        is_whole = wire.equals(self._asked, check_metadata=True)
        return _Plan(written, wire, KnownMessages(_nodes(on_wire), padded), places, is_whole, surgery)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def decode(self, chunk: Chunk) -> list[pa.RecordBatch]:
        """The wanted rows of a chunk; many small batches come out as one."""
        parts = list(self._decode_chunk(chunk))
        if sum(part.count for part in parts) < len(parts) * _SMALL_ROWS:
            return [self._join(chunk.bucket, parts)]
        return [self._join(chunk.bucket, [part]) for part in parts]

    def _join(self, bucket: int, parts: Sequence[_Part]) -> pa.RecordBatch:
        rows = parts[0].rows if len(parts) == 1 else pa.concat_batches([part.rows for part in parts])
        if not self._metadata_columns:
            return rows
        return pa.RecordBatch.from_arrays([*rows.columns, *self._metadata(bucket, parts)], schema=self.schema)

    def _decode_chunk(self, chunk: Chunk) -> Iterator[_Part]:
        expected = chunk.from_offset
        tells_gaps = self.tells_gaps and (self._where is None or chunk.unfiltered)  # filtering leaves out whole batches
        for span in batches_of(chunk.data):
            header = span.header
            if header.base_offset > expected and tells_gaps:
                self._take_gap(chunk, expected, header.base_offset)
            if header.given_up or (tells_gaps and not header.record_count and header.last_offset_delta):
                self._take_gap(chunk, max(expected, header.base_offset), header.last_offset + 1)
            expected = max(expected, header.last_offset + 1)
            first = max(chunk.from_offset - header.base_offset, 0)
            last = header.last_offset_delta + 1
            if chunk.to_offset is not None:
                last = min(last, chunk.to_offset - header.base_offset)
            if first >= last:
                continue
            part = self._decode_batch(chunk, span)
            if part is not None:
                yield part if (first, last) == (0, part.count) else part.slice(first, last - first)

    def _take_gap(self, chunk: Chunk, start: int, stop: int) -> None:
        stop = stop if chunk.to_offset is None else min(stop, chunk.to_offset)
        if start < stop:
            self._damage.take_gap(chunk.id, start, stop)

    def _decode_batch(self, chunk: Chunk, span: BatchSpan) -> _Part | None:
        """The rows of a batch; None when none are wanted, or when they cannot be read and are left out on purpose."""
        header = span.header
        try:
            if self._check_crc and not chunk.projected and not crc_is_right(chunk.data, span):
                raise ErrorCode.CORRUPT_RECORD.error("the batch has a wrong CRC")
            if not 0 <= header.statistics_length <= header.size - header.header_bytes:
                raise ErrorCode.CORRUPT_RECORD.error(f"it has no {header.statistics_length} bytes of statistics")
            if header.record_count and header.last_offset_delta != header.record_count - 1:
                raise ErrorCode.CORRUPT_RECORD.error(
                    f"{header.record_count} records cannot take {header.last_offset_delta + 1} offsets"
                )
            if not header.record_count or (chunk.unfiltered and not self._may_match(chunk, span)):
                return None
            return self._batch(chunk, span)
        except LakewardError as wrong:
            reason = wrong.message
        except Exception as wrong:  # noqa: BLE001 - whatever a library makes of bad bytes, it is one thing to a reader
            reason = str(wrong) or type(wrong).__name__
        start = max(header.base_offset, chunk.from_offset)
        self._damage.take_damage(chunk.id, start, header.last_offset + 1, reason, chunk.data[span.start : span.end])
        return None

    def _may_match(self, chunk: Chunk, span: BatchSpan) -> bool:
        at = span.start + span.header.header_bytes
        return self.may_match(span.header, chunk.data[at : at + span.header.statistics_length])

    def may_match(self, header: BatchHeader, statistics: memoryview) -> bool:
        """Whether a batch can have rows that the scan's filter lets through, by its statistics."""
        if self._where is None or not header.statistics_length or not header.append_only:
            return True
        schema = self._schemas[header.schema_id]
        try:
            return schema is None or batch_may_match(self._where, statistics, schema, header.record_count)
        except CorruptError:
            return True  # the rows may be good all the same

    def _batch(self, chunk: Chunk, span: BatchSpan) -> _Part:
        header = span.header
        plan = self._plan(header.schema_id, chunk.projected)
        if plan.surgery is None:
            payload = chunk.data[span.start + header.header_bytes + header.statistics_length : span.end]
        else:
            pieces, _ = project_batch(chunk.data, span, plan.surgery)
            payload = memoryview(b"".join(pieces))[header.header_bytes :]
        count = header.record_count
        rows, changes = self._rows(plan, header, payload)
        if not plan.is_whole or rows is None or rows.num_columns != len(plan.places):
            rows = pa.RecordBatch.from_arrays(self._arrange(plan, rows, count), schema=self._asked)
        return _Part(rows, count, header.base_offset, header.commit_timestamp_ms, changes)

    def _arrange(self, plan: _Plan, rows: pa.RecordBatch | None, count: int) -> list[pa.Array]:
        return [
            pa.nulls(count, field.type) if place is None or rows is None else rows.column(place)
            for place, field in zip(plan.places, self._asked, strict=True)
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
            if len(payload) < header.record_count:
                raise ErrorCode.CORRUPT_RECORD.error(f"it has no change types for {header.record_count} rows")
            changes = np.frombuffer(payload, np.int8, header.record_count)
            if changes.min() < 0 or changes.max() >= len(CHANGE_TYPES):
                raise ErrorCode.CORRUPT_RECORD.error("it has a change type that does not exist")
            payload = payload[header.record_count :]
        if not len(plan.wire):
            return None, changes
        checked = plan.messages.check(payload, header.record_count)
        self._check_memory(checked, header.record_count)
        rows = pa.ipc.read_record_batch(pa.py_buffer(payload), plan.wire)
        check_values(rows, in_range=header.append_only)
        return rows, changes

    def _check_memory(self, checked: CheckedMessage, rows: int) -> None:
        """What a batch becomes is bounded: by a setting, or by what came. A row counts as one number at least."""
        bytes_max = max(self._raw_bytes_max, _RATIO_MAX * checked.message.body_bytes)
        wanted = max(sum(checked.sizes), rows * _ROW_BYTES_MIN)
        if wanted > bytes_max:
            raise ErrorCode.CORRUPT_RECORD.error(
                f"its {checked.message.body_bytes} bytes claim to be {wanted} bytes of rows, over the limit of "
                f"{bytes_max} ({SCANNER_BATCH_MAX.key})"
            )

    def _metadata(self, bucket: int, parts: Sequence[_Part]) -> list[pa.Array]:
        counts = np.array([part.count for part in parts])
        count = int(counts.sum())
        before = np.array([part.first for part in parts]) - (np.cumsum(counts) - counts)
        times = np.repeat(np.array([part.at_ms for part in parts], np.int64), counts)
        return [
            pa.array(np.full(count, bucket, np.int32)),
            pa.array(np.repeat(before, counts) + np.arange(count)),
            pa.array(times).view(METADATA_FIELDS[2].type),
            self._change_types(count, parts),
        ]

    def _change_types(self, count: int, parts: Sequence[_Part]) -> pa.Array:
        if all(part.changes is None for part in parts):
            return self._appends(count)
        kinds = [np.zeros(part.count, np.int8) if part.changes is None else part.changes for part in parts]
        return _CHANGE_TYPES.take(pa.array(np.concatenate(kinds)))

    def _appends(self, count: int) -> pa.Array:
        """The change types of plain rows: they are all the same, so those of the largest batch serve every other."""
        made = self._made_appends
        if len(made) < count:
            made = self._made_appends = _CHANGE_TYPES.take(pa.array(np.zeros(count, np.int8)))
        return made.slice(0, count)


def _nodes(columns: Sequence[Column]) -> tuple[Node, ...]:
    """What a message of these columns must have; a NULL too many harms nobody, so it is let through."""
    return tuple(node._replace(is_required=False) for node in nodes_of(Schema(tuple(columns))))
