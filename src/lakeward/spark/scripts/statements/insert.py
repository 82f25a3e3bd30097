"""INSERT, statement sets, and CREATE TABLE … AS SELECT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.grammar.dialect import ScriptDialect
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.shape.engine import Style
from lakeward.language.plan.shape.relation import TIME
from lakeward.language.plan.shape.trees import place_of
from lakeward.language.plan.stream import NeedsBeforeError, Planner, bounded_query
from lakeward.language.statements.create_table import CreateTable, PhysicalColumn
from lakeward.language.statements.rows import Insert
from lakeward.language.statements.statement import Statement
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import DataType
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan
from lakeward.spark.scripts.planning.insert_plan import SinkTable, bounded_rows, plan_stream, stream_plan
from lakeward.spark.scripts.planning.spark_engine import SparkEngine
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_settings import Mode
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context, quoted_name, within
from lakeward.spark.scripts.statements.define_tables import definition_of, keep_table
from lakeward.spark.table.types import data_type_of_spark

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_START = Place(0, 0)


def insert(statement: Statement, inserts: tuple[Insert, ...], context: Context) -> Outcome:
    """Write bounded rows at once; what streams becomes one job."""
    plans: list[StreamPlan] = []
    for one in inserts:
        with within(one):
            plan = _prepare(one, context)
        if plan is not None:
            plans.append(plan)
    if not plans:
        return Outcome(statement=statement, message="done")
    settings = context.settings
    job = context.jobs.start(plans, name=settings.job_name, script=context.script, checkpoints=settings.checkpoints)
    if settings.waits and all(plan.is_finished is not None for plan in plans):
        job.await_end()
    how = "goes on" if job.is_continued else "started"
    return Outcome(statement=statement, message=f"job {job.name} {how}", job=job)


def _prepare(one: Insert, context: Context) -> StreamPlan | None:
    """The plan of a stream; bounded rows are written here and now, and there is none."""
    engine = context.engine()
    if context.is_sparks(one.target):
        _insert_on_spark(one, engine, context)
        return None
    table = _sink_table(one, context)
    partition = _named_partition(one, table)
    query = _with_partition(one.query, partition, {column.name: column.type for column in table.definition.physical})
    is_batch = context.settings.mode is Mode.BATCH or one.is_overwrite
    relation = None if is_batch else plan_stream(query, engine, table)
    if relation is None or not relation.is_stream:
        rows = replace(bounded_rows(query, engine, table), partition=partition)
        table.sink.write_batch(rows, overwrite=one.is_overwrite)
        return None

    def trigger(writer: DataStreamWriter) -> DataStreamWriter:
        every = context.settings.interval_ms
        return writer if every is None else writer.trigger(processingTime=f"{every} milliseconds")

    return stream_plan(one.text, relation, engine, table, trigger)


def _insert_on_spark(one: Insert, engine: SparkEngine, context: Context) -> None:
    """Into a table of Spark's own: bounded rows, by its own INSERT."""
    rows = spark_text(to_spark(bounded_query(engine, _with_partition(one.query, dict(one.partition), {}), {})))
    columns = f" ({', '.join(f'`{name}`' for name in one.columns)})" if one.columns else ""
    verb = "INSERT OVERWRITE" if one.is_overwrite else "INSERT INTO"
    context.spark.sql(f"{verb} {quoted_name(one.target)}{columns} {rows}")


def _sink_table(one: Insert, context: Context) -> SinkTable:
    found = context.tables.require_table(one.target)
    hint = dict(one.hint or {})
    definition = replace(found, options={**found.options, **hint})
    names = {column.name.lower(): column.name for column in definition.physical}
    fixed = [key for key, _ in one.partition]
    given: list[str] = []
    for name in one.columns or [column.name for column in definition.physical if column.name not in fixed]:
        if name.lower() not in names:
            raise ScriptError(
                _START, f"{definition} has no column '{name}' to insert into; it has {', '.join(names.values())}."
            )
        given.append(names[name.lower()])
    given += [names.get(key.lower(), key) for key in fixed]
    is_partial = bool(one.columns) and len(given) < len(names) and bool(definition.primary_key)
    if is_partial and definition.options.get("connector", "fluss") == "fluss":
        definition = replace(
            definition,
            columns=tuple(column for column in definition.columns if column.name in given),
            options={**definition.options, "sink.columns": ",".join(given)},
        )
    places = _places(one.query, given)
    return SinkTable(definition, context.tables.sink(definition), tuple(given), _START, places)


def _places(query: exp.Query, given: list[str]) -> dict[str, Place]:
    """Where the query says what goes into each column; a star, or a value alone, says nothing of that."""
    shown = query.expressions if isinstance(query, exp.Select) and not query.is_star else []
    pairs = zip(given, shown, strict=False)
    return {name: place_of(one) for name, one in pairs if any("start" in part.meta for part in one.walk())}


def _named_partition(one: Insert, table: SinkTable) -> dict[str, str]:
    """The partition that the statement names, by the names that its columns have."""
    names = {column.name.lower(): column.name for column in table.definition.physical}
    return {names.get(key.lower(), key): value for key, value in one.partition}


def _with_partition(query: exp.Query, partition: Mapping[str, str], types: Mapping[str, DataType]) -> exp.Query:
    """PARTITION (dt = '…'): the values come last, as the columns that they are."""
    if not partition:
        return query
    inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("rows", quoted=True)))
    values = [exp.alias_(_value(text, types.get(name)), name, quoted=True) for name, text in partition.items()]
    return exp.select("*", *values).from_(inner)


def _value(text: str, kind: DataType | None) -> exp.Expression:
    literal = exp.Literal.string(text)
    return (
        literal
        if kind is None
        else exp.Cast(this=literal, to=exp.DataType.build(str(kind.as_nullable()), dialect=ScriptDialect))
    )


def create_table_as(statement: CreateTable, context: Context) -> Outcome:
    """CREATE TABLE … AS SELECT: the table has the query's columns, and where rows change by key that key."""
    assert statement.query is not None
    with within(statement):
        definition = _defined_by_query(statement, context)
        if statement.or_replace:
            _check_not_read(statement.query, definition, context)
    made = keep_table(definition, statement, context)
    target = replace(statement.name, parts=(definition.catalog, definition.database, definition.name))
    one = Insert(
        text=statement.text,
        place=statement.place,
        number=statement.number,
        target=target,
        query=statement.query,
        query_text=statement.text,
    )
    filled = insert(statement, (one,), context)
    return replace(filled, message=f"{made.message}, {filled.message}", notices=made.notices)


def _defined_by_query(statement: CreateTable, context: Context) -> TableDefinition:
    engine, query = context.engine(), statement.query
    assert query is not None
    definition = definition_of(replace(statement, primary_key=()), context)
    key = statement.primary_key
    if context.settings.mode is Mode.BATCH:
        frame = engine.frame(bounded_query(engine, query, {}))
    else:
        try:
            relation = Planner(engine, Style.BY_KEY, is_final=not key).plan(query)
        except NeedsBeforeError:
            relation = Planner(engine, Style.BEFORE_AND_AFTER, is_final=not key).plan(query)
        frame = engine.frame(relation.tree)
        if relation.has_changes and not key:
            if relation.key is None:
                raise ScriptError(
                    _START,
                    "the rows of this query change, and have no key that is shown: say CREATE TABLE … (PRIMARY "
                    "KEY (…) NOT ENFORCED) … AS SELECT, and show its columns.",
                )
            key = tuple(min(part) for part in relation.key)
        if relation.changes is Changes.UPSERT and key:
            key = tuple(name for name in relation.columns if name in key)
    columns = tuple(
        PhysicalColumn(field.name, data_type_of_spark(field.dataType.jsonValue(), nullable=field.name not in key))
        for field in frame.schema.fields
        if field.name not in {CHANGE_TYPE, TIME}
    )
    declared = {column.name: column for column in definition.columns}
    columns = tuple(declared.pop(column.name, column) for column in columns)  # type: ignore[misc]
    return replace(definition, columns=(*columns, *declared.values()), primary_key=key)


def _check_not_read(query: exp.Query, target: TableDefinition, context: Context) -> None:
    """A table that is replaced by its own rows would be empty before they are read."""
    for node in query.find_all(exp.Table):
        found = context.tables.find(tuple(part.name for part in node.parts))
        if isinstance(found, View):
            _check_not_read(found.query, target, context)
        elif found is not None and str(found) == str(target):
            raise ScriptError(
                place_of(node),
                f"this query reads {target}, which it replaces: it would be dropped before its rows are read. Create"
                " another table, then rename it.",
            )
