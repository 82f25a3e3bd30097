"""What of a log's batches a fetch gets: whole batches filtered out by their statistics, columns by projection."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo
from lakeward.protocol.messages.log import PbFetchLogReqForTable
from lakeward.records.batch.batch_header import HEADER_BYTES
from lakeward.records.batch.log_batch import BatchSpan, walk_batches
from lakeward.records.batch.predicate import Predicate, batch_may_match
from lakeward.records.batch.projection import Projection, plan_projection, project_batch
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.tablet.log.filters import predicate_of
from lakeward.storage.log.log_tablet import LogRead

#: Projecting costs about ten microseconds a batch; this keeps one answer of tiny batches from holding up everybody.
_BATCHES_MAX = 1000
_PLANS_MAX = 1000
#: How much larger than what was read an answer may become when columns are added to old batches.
_GROWTH_BYTES_MAX = 4 << 20


class Selection(NamedTuple):
    """What a fetch gets of one bucket; `filtered_end_offset` is set when the last batches were left out, or empty."""

    records: list[bytes | bytearray | memoryview]
    size: int
    next_offset: int
    rows: int = 0
    filtered_end_offset: int | None = None


class Selections:
    """Applies projections and filters; a projection's plan is made once per schema."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._plans: dict[tuple[int, int, tuple[int, ...]], Projection] = {}

    def select(self, table: TableInfo, asked: PbFetchLogReqForTable, read: LogRead, next_offset: int) -> Selection:
        """The part of what was read that the fetch asked for."""
        positions = asked.projected_fields if asked.projection_pushdown_enabled else None
        if positions is not None:
            _check_projection(table, positions)
        predicate = None
        if asked.filter_predicate is not None and _is_arrow(table):
            schema = self._catalog.schema(table.table_id, asked.filter_schema_id or 0)
            predicate = predicate_of(asked.filter_predicate, schema)
        if not read.data:
            return Selection([], 0, next_offset)
        if positions is None and predicate is None:
            rows = read.end_offset - read.first_offset
            return Selection([read.data], len(read.data), next_offset, rows, read.empty_until)
        return self._walk(table, positions, predicate, read)

    def _walk(
        self, table: TableInfo, positions: tuple[int, ...] | None, predicate: Predicate | None, read: LogRead
    ) -> Selection:
        records: list[bytes | bytearray | memoryview] = []
        total = rows = 0
        next_offset = read.first_offset
        last_was_kept = True
        for number, span in enumerate(walk_batches(read.data)):
            if number == _BATCHES_MAX or total > len(read.data) + _GROWTH_BYTES_MAX:
                break
            next_offset = span.header.last_offset + 1
            has_rows = span.header.record_count > 0
            last_was_kept = has_rows and (predicate is None or self._is_wanted(table, read.data, span, predicate))
            if not last_was_kept:
                continue
            rows += span.header.record_count
            if positions is None:
                records.append(read.data[span.start : span.end])
                total += span.end - span.start
            else:
                pieces, size = project_batch(read.data, span, self._plan(table, span.header.schema_id, positions))
                records += pieces
                total += size
        return Selection(records, total, next_offset, rows, None if last_was_kept else next_offset)

    def _is_wanted(self, table: TableInfo, data: memoryview, span: BatchSpan, predicate: Predicate) -> bool:
        header = span.header
        schema = self._catalog.schema(table.table_id, header.schema_id)
        if not header.statistics_length or schema is None:
            return True
        at = span.start + HEADER_BYTES[header.magic]
        return batch_may_match(predicate, data[at : at + header.statistics_length], schema, header.record_count)

    def _plan(self, table: TableInfo, schema_id: int, positions: tuple[int, ...]) -> Projection:
        key = (table.table_id, schema_id, positions)
        plan = self._plans.get(key)
        if plan is None:
            schema = self._catalog.schema(table.table_id, schema_id)
            if schema is None:
                raise ErrorCode.SCHEMA_NOT_EXIST.error(f"Schema {schema_id} of table {table.path} does not exist.")
            if len(self._plans) > _PLANS_MAX:
                self._plans.clear()
            plan = self._plans[key] = plan_projection(schema, positions, table.schema)
        return plan


def _is_arrow(table: TableInfo) -> bool:
    return table.descriptor.properties.get("table.log.format", "ARROW").upper() == "ARROW"


def _check_projection(table: TableInfo, positions: tuple[int, ...]) -> None:
    if not _is_arrow(table):
        raise ErrorCode.INVALID_COLUMN_PROJECTION.error(
            f"Table {table.path} does not keep its log as Arrow, so columns cannot be projected."
        )
    if positions and positions[-1] >= len(table.schema.columns):
        raise ErrorCode.INVALID_COLUMN_PROJECTION.error(
            f"Table {table.path} has {len(table.schema.columns)} columns; column {positions[-1]} was asked for."
        )
    plan_projection(table.schema, positions)
