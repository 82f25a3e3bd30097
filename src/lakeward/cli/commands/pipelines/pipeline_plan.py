"""`lakeward pipeline plan`: what would be done, and nothing of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

import lakeward
from lakeward.capture.port import SourceTable
from lakeward.cli.commands.scripts.spark_quiet import quiet_spark
from lakeward.cli.input.failures import Failure
from lakeward.cli.output.listing import show_json
from lakeward.errors import LakewardError
from lakeward.pipelines.definition import PipelineDefinition
from lakeward.pipelines.plan import TablePlan, is_computed, plan_tables
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipeline_query import pipeline_session
from lakeward.spark.pipelines.sinks.open_sink import open_sink
from lakeward.spark.pipelines.sinks.port import Sink
from lakeward.spark.pipelines.source import PipelineSource
from lakeward.spark.pipelines.write.computed_table import ComputedTables


def show_plans(definitions: Sequence[PipelineDefinition], output: str) -> None:
    """The plans of some pipelines, as text or JSON; why one has none is told after those of the others."""
    found: list[dict[str, Any]] = []
    wrong: list[str] = []
    for definition in definitions:
        try:
            found.append(_plan(definition))
        except (LakewardError, Failure) as failure:
            wrong.append(definition.without_secrets(f"{definition.name}: {failure.message}"))
    _show(found, output)
    if wrong:
        raise Failure("\n".join(wrong))


def _show(found: Sequence[dict[str, Any]], output: str) -> None:
    if output == "json":
        show_json(found)
        return
    for one in found:
        click.echo(f"{one['pipeline']}: {one['source']} → {one['sink']}, schema changes: {one['schema_changes']}")
        for table in one["tables"]:
            click.echo(f"  {table['source']} → {table['target']}{' (computed)' if table['computed'] else ''}")
            width = max(len(column["name"]) for column in table["columns"])
            for column in table["columns"]:
                click.echo(f"    {column['name']:{width}}  {column['from'] or '(computed)'} → {column['to']}")
            click.echo(f"    key: {', '.join(table['key']) or 'none: rows are appended, exactly once'}")
            if table["filter"]:
                click.echo(f"    only where {table['filter']}")
        for note in one["notes"]:
            click.echo(f"  {note}")


def _plan(definition: PipelineDefinition) -> dict[str, Any]:
    sink = open_sink(definition, "", "", click.echo)
    tables = tables_of(definition)
    if not any(is_computed(definition, table.id) for table in tables):
        return _form(definition, plan_tables(definition, tables), sink)
    log = PipelineHome.of_environment().places.log_file(os.getpid())
    with quiet_spark(log):  # only Spark knows the types of expressions
        spark = lakeward.spark.session(master="local[1]", **{"spark.ui.enabled": "false"})
        try:
            infer = ComputedTables(pipeline_session(spark, definition), definition, sink).infer
            found = _form(definition, plan_tables(definition, tables, infer), sink)
        finally:
            spark.stop()
    log.unlink(missing_ok=True)
    return found


def tables_of(definition: PipelineDefinition) -> Sequence[SourceTable]:
    """The tables of the source; why it cannot be asked is told of it, not of a server of ours."""
    source = PipelineSource(definition)
    try:
        found = source.tables()
        source.check()
    except LakewardError as wrong:
        raise Failure(definition.without_secrets(wrong.message)) from wrong
    return found


def _form(definition: PipelineDefinition, plans: Sequence[TablePlan], sink: Sink) -> dict[str, Any]:
    return {
        "pipeline": definition.name,
        "source": definition.source.type,
        "sink": definition.sink.type,
        "options": {"source": definition.source.plain_options(), "sink": definition.sink.plain_options()},
        "schema_changes": definition.schema_changes.value,
        "tables": [_table(definition, plan) for plan in plans],
        "notes": sink.prepare(plans, makes=False),
    }


def _table(definition: PipelineDefinition, plan: TablePlan) -> dict[str, Any]:
    plain = {one.name: one.plain for one in plan.projection if one.plain is not None}
    transform = definition.transform_of(plan.source.id)
    columns = []
    for column in plan.schema.columns:
        origin = plain.get(column.name, column.name)
        native = plan.source.native_types.get(origin)
        known = native or (str(plan.source.schema.column(origin).type) if origin in plan.source.schema.names else None)
        columns.append({"name": column.name, "from": known, "to": str(column.type), "comment": column.comment})
    return {
        "source": str(plan.source.id),
        "target": plan.target,
        "computed": is_computed(definition, plan.source.id),
        "columns": columns,
        "key": list(plan.schema.primary_key),
        "partitioned_by": list(plan.partition_keys),
        "filter": None if transform is None else transform.filter,
    }
