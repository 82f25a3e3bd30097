"""EventWriter: events in their order → a sink's writer. Runs in tasks; knows nothing of Spark."""

from __future__ import annotations

import json

import pyarrow as pa

from lakeward.capture.json_forms import change_to_json
from lakeward.capture.port import Event, SchemaChange, SourceTable, TableId, TableRows
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.pipelines.changes import are_inserts, fit_rows
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.evolution import evolve
from lakeward.pipelines.plan import TablePlan, check_name, is_computed, plan_table
from lakeward.spark.pipelines.sinks.port import SinkWriter
from lakeward.spark.pipelines.write.report import Report


class EventWriter:
    """Routes the rows of each table, and follows changes of schemas. Computed tables are counted and left alone."""

    def __init__(self, definition: PipelineDefinition, writer: SinkWriter) -> None:
        self._definition = definition
        self._writer = writer
        self._plans: dict[TableId, tuple[SourceTable, TablePlan]] = {}
        self._computed: dict[TableId, bool] = {}
        self._left_out: set[TableId] = set()
        self.report = Report()

    def take(self, event: Event) -> None:
        """Write one event."""
        id_ = event.id if isinstance(event, SchemaChange) else event.table.id
        if id_ not in self._computed:
            self._computed[id_] = is_computed(self._definition, id_)
        if isinstance(event, SchemaChange):
            self.report.schemas.append(json.dumps(change_to_json(event)).encode())
            if not self._computed[id_]:
                self._follow(event)
        elif self._computed[id_]:
            self.report.count(str(id_), event.rows.num_rows, event.committed_ms, is_computed=True)
        else:
            self._write(event)

    def finish(self) -> Report:
        """Return when everything is acknowledged."""
        self.report.parts += self._writer.finish()
        return self.report

    def _write(self, event: TableRows) -> None:
        plan = self._plan(event.table)
        there = self._writer.schema(plan)
        if there is None:
            self._leave_out(event.table.id, plan.target)
            return
        origins = {one.name: one.plain for one in plan.projection if one.name is not None and one.plain is not None}
        if plan.projection and not any(one.name is None for one in plan.projection):
            origins = {name: origins.get(name, "") for name in there.names}  # what is not named does not come
        write_rows(self._writer, plan, there, event.rows, event.kinds, origins)
        self.report.count(str(event.table.id), event.rows.num_rows, event.committed_ms)

    def _follow(self, change: SchemaChange) -> None:
        table = change.after or change.before
        if table is None:
            known = self._plans.get(change.id)
            if known is None:
                return
            table = known[0]
        plan = plan_table(self._definition, table)
        evolution = evolve(change, self._definition.schema_changes, self._writer.schema(plan), plan.target)
        if plan.projection and not any(one.name is None for one in plan.projection):
            evolution = evolution.without_columns()
        if evolution.is_emptied and self._definition.shares_sink_table(change.id):
            raise ErrorCode.INVALID_ALTER_TABLE.error(
                f"{change.id} was truncated, and {plan.target} has rows of other tables too: delete its own there, and "
                "set 'schema.change.behavior' to lenient."
            )
        if evolution.is_made:
            check_name(self._definition, change.id)
        self._writer.evolve(plan, evolution)
        self.report.notes += evolution.sentences(change.id, plan.target)
        self._plans.pop(change.id, None)

    def _plan(self, table: SourceTable) -> TablePlan:
        known = self._plans.get(table.id)
        if known is None or known[0] is not table:
            known = self._plans[table.id] = (table, plan_table(self._definition, table))
        return known[1]

    def _leave_out(self, table: TableId, target: str) -> None:
        if table not in self._left_out:
            self._left_out.add(table)
            self.report.notes.append(f"Rows of {table} are left out: there is no table {target}.")


def write_rows(
    writer: SinkWriter,
    plan: TablePlan,
    there: Schema,
    rows: pa.RecordBatch,
    kinds: pa.Array | None,
    origins: dict[str, str] | None = None,
) -> None:
    """Rows in the columns of the sink's table, to its writer."""
    if not there.primary_key and not plan.is_keyed and not are_inserts(kinds):
        raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(
            f"Rows of {plan.source.id} were changed or deleted, and it has no primary key, so {plan.target} only takes "
            "new rows. Give the table a key, or name one in 'primary-keys' of a transform, and begin anew with "
            "`lakeward pipeline drop`."
        )
    writer.write(plan, fit_rows(rows, there, origins or {}, plan.target), kinds)
