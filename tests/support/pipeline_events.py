"""Events of one table, and a pipeline's sink that takes them without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakeward.capture.port import Event, SchemaChange, SchemaChangeKind, SourceTable, TableId, TableRows
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.plan import plan_tables
from lakeward.pipelines.reading import read_pipelines
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.pipelines.sinks.open_sink import open_sink
from lakeward.spark.pipelines.write.event_writer import EventWriter
from lakeward.spark.pipelines.write.report import Report

LINES = TableId("public", "lines")


def source_table(columns: str, id_: TableId = LINES) -> SourceTable:
    """A table of the source."""
    found, key = parse_columns(columns)
    return SourceTable(id_, Schema.of(found, key))


BEFORE = source_table("o INT, n INT, item STRING, PRIMARY KEY (o, n)")
AFTER = source_table("o INT, n INT, item STRING, q INT, PRIMARY KEY (o, n)")
ADD_COLUMN = SchemaChange(SchemaChangeKind.ALTER, LINES, BEFORE, AFTER)


def rows(table: SourceTable, values: Sequence[tuple[Any, ...]], kinds: Sequence[int] | None = None) -> TableRows:
    """Rows of a table: 1 insert, 2 and 3 an update, 4 a delete."""
    schema = pa.schema([pa.field(field.name, field.type) for field in arrow_schema(table.schema)])
    batch = pa.RecordBatch.from_pylist([dict(zip(schema.names, row, strict=True)) for row in values], schema=schema)
    return TableRows(table, batch, None if kinds is None else pa.array(kinds, pa.uint8()), 5)


#: A copy; then an update, a delete, an update of a key, ADD COLUMN and a new row.
HISTORY: tuple[tuple[Event, ...], ...] = (
    (rows(BEFORE, [(0, 1, "a"), (0, 2, "b"), (0, 3, "c")]),),
    (
        rows(BEFORE, [(0, 1, "a"), (0, 1, "x"), (0, 2, "b"), (0, 3, "c"), (0, 9, "c")], [2, 3, 4, 2, 3]),
        ADD_COLUMN,
        rows(AFTER, [(5, 5, "n", 7)], [1]),
    ),
)
LAST = [(0, 1, "x", None), (0, 9, "c", None), (5, 5, "n", 7)]


def definition_of(sink: str, more: str = "") -> PipelineDefinition:
    """A pipeline of a PostgreSQL that nobody asks."""
    source = "source: {type: postgres, hostname: h, username: u, database-name: d, tables: 'public.\\.*'}\n"
    return read_pipelines([("p.yaml", f"{source}sink: {{{sink}}}\n{more}")], {})[0]


class SinkBench:
    """One sink, given micro-batches."""

    def __init__(self, sink: str, staging: Path, *, more: str = "", mark: str = "mark") -> None:
        self.definition = definition_of(sink, more)
        self.lines: list[str] = []
        self.sink = open_sink(self.definition, str(staging), mark, self.lines.append)
        self.notes = self.sink.prepare(plan_tables(self.definition, [BEFORE]), makes=True)

    def batch(self, number: int, events: Sequence[Event], times: int = 1) -> Report:
        """One micro-batch, perhaps more than once."""
        for _ in range(times):
            writer = EventWriter(self.definition, self.sink.writer(number))
            for event in events:
                writer.take(event)
            report = writer.finish()
            self.sink.commit(number, report.parts)
        return report
