"""Tables with expressions: decoded, computed by Spark SQL, filtered and written; one segment between schema changes.

A change of the schema is applied by the driver between two segments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.capture.envelope import CHANGE_TYPE, ROWS, SCHEMA, change_kinds, change_words, open_envelope
from lakeward.capture.port import SchemaChange, SourceTable, TableRows
from lakeward.language.plan.projection import ProjectedColumn
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column, Schema
from lakeward.pipelines.changes import filter_changes
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.evolution import evolve
from lakeward.pipelines.plan import TablePlan, expressions, plan_table
from lakeward.spark.pipelines.sinks.port import Sink
from lakeward.spark.pipelines.write.event_writer import write_rows
from lakeward.spark.pipelines.write.report import SPARK_COLUMNS, Report
from lakeward.spark.setup.active_session import active_session
from lakeward.spark.table.one_sentence import one_sentence
from lakeward.spark.table.spark_arrow import from_spark, spark_arrow_schema, to_spark
from lakeward.spark.table.types import schema_of_spark, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEEP = "_keep"
_AT = "_at"


class ComputedTables:
    """The computed tables of a pipeline, written from the driver."""

    def __init__(self, spark: SparkSession, definition: PipelineDefinition, sink: Sink) -> None:
        self._spark = spark
        self._definition = definition
        self._sink = sink

    def infer(self, schema: Schema, projection: Sequence[ProjectedColumn]) -> list[Column]:
        """What columns a projection gives, as Spark sees it."""
        chosen = [f"{text} AS `{name}`" for name, text in expressions(schema, projection).items()]
        with active_session(self._spark):  # createDataFrame leaves its session active
            frame = self._spark.createDataFrame([], _struct(schema)).selectExpr(*chosen)
        return list(schema_of_spark(frame.schema.json()).columns)

    def write(self, envelopes: DataFrame, batch_id: int, names: Sequence[str]) -> Report:
        """The rows of computed tables in a micro-batch, which can be read more than once."""
        from pyspark.sql import functions as sql

        report = Report()
        numbered = envelopes.withColumn(_AT, sql.monotonically_increasing_id())
        for name in names:
            own = numbered.where(sql.col("table") == name)
            begin = -1
            changes = own.where(sql.col("kind") == SCHEMA).select(_AT, "payload").orderBy(_AT).collect()
            for row in changes:
                report.add(self._segment(own.where(sql.col(_AT).between(begin + 1, row[_AT] - 1)), batch_id))
                change = open_envelope(SCHEMA, bytes(row["payload"]))
                assert isinstance(change, SchemaChange)
                report.notes += self._follow(change, batch_id)
                begin = row[_AT]
            report.add(self._segment(own.where(sql.col(_AT) > begin), batch_id))
        return report

    def _segment(self, envelopes: DataFrame, batch_id: int) -> Report:
        rows = envelopes.where(f"kind = '{ROWS}'")
        first = rows.select("payload").first()
        if first is None:
            return Report()
        event = open_envelope(ROWS, bytes(first["payload"]))
        assert isinstance(event, TableRows)
        plan = plan_table(self._definition, event.table, self.infer)
        decoded = rows.select("payload").mapInArrow(_Decode(event.table), _struct(_with_change(event.table.schema)))
        chosen = expressions(event.table.schema, plan.projection)
        columns = [f"`{CHANGE_TYPE}`", *(f"{text} AS `{name}`" for name, text in chosen.items())]
        keep = "true" if plan.condition is None else f"({plan.condition})"
        computed = decoded.selectExpr(*columns, f"{keep} AS `{_KEEP}`")
        task = _WriteComputed(self._sink, batch_id, plan, tuple(chosen))
        return Report.of_rows(computed.mapInArrow(task, SPARK_COLUMNS).collect())

    def _follow(self, change: SchemaChange, batch_id: int) -> tuple[str, ...]:
        table = change.after or change.before
        if table is None:
            return ()
        writer = self._sink.writer(batch_id)
        plan = plan_table(self._definition, table, self.infer)
        shown = replace(change, before=self._projection_of(change.before), after=self._projection_of(change.after))
        evolution = evolve(shown, self._definition.schema_changes, writer.schema(plan), plan.target)
        writer.evolve(plan, evolution)
        writer.finish()
        return evolution.sentences(change.id, plan.target)

    def _projection_of(self, table: SourceTable | None) -> SourceTable | None:
        if table is None:
            return None
        return replace(table, schema=plan_table(self._definition, table, self.infer).schema)


@dataclass(frozen=True)
class _Decode:
    """Payloads of one table → its rows, as Spark has them."""

    table: SourceTable

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        target = spark_arrow_schema(_with_change(self.table.schema))
        for batch in batches:
            for payload in batch.column(0):
                event = open_envelope(ROWS, payload.as_buffer())
                assert isinstance(event, TableRows)
                names = [CHANGE_TYPE, *event.rows.schema.names]
                whole = pa.RecordBatch.from_arrays([change_words(event), *event.rows.columns], names=names)
                yield to_spark(whole.select(list(target.names)), target)


@dataclass(frozen=True)
class _WriteComputed:
    """Computed rows → the sink."""

    sink: Sink
    batch_id: int
    plan: TablePlan
    names: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        report = Report()
        with one_sentence():
            writer = self.sink.writer(self.batch_id)
            try:
                there = writer.schema(self.plan)
                for batch in batches:
                    if there is None:
                        continue
                    self._write(writer, there, batch)
                    report.count(str(self.plan.source.id), batch.num_rows, None)
                report.parts += writer.finish()
            except BaseException:
                writer.abort()
                raise
        yield report.batch()

    def _write(self, writer: Any, there: Schema, batch: pa.RecordBatch) -> None:
        known = self.plan.schema.select(self.names)
        bare = Schema(tuple(replace(column, type=column.type.as_nullable()) for column in known.columns))
        rows = from_spark(batch.select(list(self.names)), bare)
        kinds = change_kinds(_array(batch.column(CHANGE_TYPE)))
        if self.plan.condition is not None:
            keep = _array(batch.column(_KEEP))
            rows, kinds = filter_changes(rows, kinds, keep, has_before=self.plan.source.has_before)
        if rows.num_rows:
            write_rows(writer, self.plan, there, rows, kinds)


def _array(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _with_change(schema: Schema) -> Schema:
    """All may be NULL: a delete may have nothing but its key."""
    columns = (replace(column, type=column.type.as_nullable()) for column in schema.columns)
    return Schema((Column(CHANGE_TYPE, STRING()), *columns))


def _struct(schema: Schema) -> Any:
    from pyspark.sql.types import StructType

    return StructType.fromJson(spark_schema(schema))
