"""Events → batches of Spark: rows of a table in the columns that were declared, or envelopes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from lakeward.capture.envelope import CHANGE_TYPE, change_words
from lakeward.capture.fitting import check_fit
from lakeward.capture.port import Event, SchemaChange, SchemaChangeKind, SourceTable, TableRows
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema
from lakeward.records.arrow.arrow_types import arrow_schema, conform
from lakeward.spark.table.spark_arrow import spark_arrow_schema, to_spark

#: Small batches are joined: each one costs Spark as much as some thousand rows.
_BATCH_ROWS = 20_000
_BATCH_BYTES = 8 << 20


def readable_schema(table: SourceTable) -> Schema:
    """The columns of a table as its changes fill them: where these do not say what was before, a delete has a key."""
    columns = table.schema.columns
    if table.has_before:
        return Schema(columns)
    return Schema(
        tuple(c if c.name in table.schema.primary_key else Column(c.name, c.type.as_nullable(), c.id) for c in columns)
    )


#: What columns that are not the table's may hold.
DATABASE_NAME, SCHEMA_NAME, TABLE_NAME = "database_name", "schema_name", "table_name"


@dataclass(frozen=True)
class CapturedRows:
    """Rows of one table, or of several of one shape, in declared columns."""

    declared: Schema
    """All columns: the table's, `_change_type`, metadata."""
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Columns that are neither, and what each holds."""
    database_name: str | None = None
    """The database, where tables are in schemas of one; without it, that is what they are in."""

    @cached_property
    def physical(self) -> Schema:
        """The columns that the database has."""
        others = {CHANGE_TYPE, *self.metadata}
        return Schema(tuple(column for column in self.declared.columns if column.name not in others))

    def check(self, table: SourceTable) -> None:
        """Refuse a table that does not fit."""
        check_fit(self.physical, table, "The declaration")

    def batches(self, events: Iterable[Event]) -> Iterator[pa.RecordBatch]:
        """The rows of events; what happened to a table so that its rows cannot be shown is an error."""
        target, arrow = spark_arrow_schema(self.declared), arrow_schema(self.physical)
        checked: SourceTable | None = None
        for event in events:
            if isinstance(event, SchemaChange):
                self._check_change(event)
                continue
            if event.table is not checked:
                checked = event.table
                self.check(checked)
            rows = conform(event.rows.select(list(self.physical.names)), self.physical, arrow)
            columns = [self._column(name, rows, event) for name in self.declared.names]
            yield to_spark(pa.RecordBatch.from_arrays(columns, names=list(self.declared.names)), target)

    def _column(self, name: str, rows: pa.RecordBatch, event: TableRows) -> pa.Array:
        if name == CHANGE_TYPE:
            return change_words(event)
        key = self.metadata.get(name)
        if key is None:
            return rows.column(name)
        id_ = event.table.id
        value = id_.name if key == TABLE_NAME else id_.space
        if key == DATABASE_NAME and self.database_name is not None:
            value = self.database_name
        return pa.repeat(pa.scalar(value, pa.string()), event.rows.num_rows)

    def _check_change(self, change: SchemaChange) -> None:
        if change.kind is SchemaChangeKind.ALTER and change.after is not None:
            self.check(change.after)
        elif change.kind in (SchemaChangeKind.TRUNCATE, SchemaChangeKind.DROP):
            raise _cannot_show(change)


def _cannot_show(change: SchemaChange) -> LakewardError:
    word = "emptied by TRUNCATE" if change.kind is SchemaChangeKind.TRUNCATE else "dropped"
    return ErrorCode.INVALID_TABLE.error(
        f"Table {change.id} of the database was {word}, which a stream of rows cannot show: rows that were read would"
        " stay. Remove them where they went, and begin the stream anew."
    )


def join_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that are worth sending."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield held[0] if len(held) == 1 else pa.concat_batches(held)
            held, rows, size = [], 0, 0
    if rows:
        yield held[0] if len(held) == 1 else pa.concat_batches(held)
