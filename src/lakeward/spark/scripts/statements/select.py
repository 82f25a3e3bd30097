"""SELECT, answered once or as rows that go on coming; EXPLAIN."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.engine import Style
from lakeward.language.plan.shape.relation import TIME, Relation
from lakeward.language.plan.shape.trees import column, place_of, put_under, quote
from lakeward.language.plan.stream import NeedsBeforeError, Planner, bounded_query
from lakeward.language.statements.rows import Explain, Insert, Select, StatementSet
from lakeward.language.statements.statement import Statement
from lakeward.spark.scripts.planning.spark_engine import SparkEngine
from lakeward.spark.scripts.state.live_rows import LiveRows
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_settings import Mode
from lakeward.spark.scripts.state.top_rows import SortColumn, TopRows
from lakeward.spark.scripts.statements.context import Context, within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def select(statement: Select, context: Context) -> Outcome:
    """The rows of a query: those there are now, or in streaming mode those that come."""
    with within(statement):
        engine = context.engine()
        if context.settings.mode is not Mode.STREAMING:
            return Outcome(statement=statement, frame=engine.frame(bounded_query(engine, statement.query, {})))
        query, order, limit = _without_order(statement.query)
        relation = _plan(query, engine)
        if not relation.is_stream:
            return Outcome(statement=statement, frame=engine.frame(bounded_query(engine, statement.query, {})))
        return Outcome(statement=statement, live=_live(relation, engine, order, limit))


def _plan(query: exp.Query, engine: SparkEngine) -> Relation:
    try:
        return Planner(engine, Style.BY_KEY).plan(query)
    except NeedsBeforeError:
        return Planner(engine, Style.BEFORE_AND_AFTER).plan(query)


def _without_order(query: exp.Query) -> tuple[exp.Query, list[exp.Ordered], int | None]:
    """ORDER BY and LIMIT of a streaming SELECT are of what is shown, and not of the stream."""
    limit, order = query.args.get("limit"), query.args.get("order")
    if limit is None or not isinstance(limit.expression, exp.Literal):
        return query, [], None
    copy = query.copy()
    copy.set("limit", None)
    copy.set("order", None)
    return copy, order.expressions if order is not None else [], int(limit.expression.name)


def _live(relation: Relation, engine: SparkEngine, order: list[exp.Ordered], limit: int | None) -> LiveRows:
    hidden = [column(CHANGE_TYPE)] if relation.has_changes else []
    tree = exp.select(*(column(name) for name in relation.columns), *hidden).from_(put_under(relation.tree, "query"))
    frame = engine.frame(tree)
    schema = _schema(frame)
    columns = tuple(_sort_column(one, schema) for one in order)
    is_chosen = limit is not None and (relation.has_changes or bool(columns))
    live = LiveRows(
        schema,
        _key(relation),
        has_changes=relation.has_changes,
        limit=None if columns else limit,
        top=TopRows(columns, limit) if is_chosen else None,
    )
    place = tempfile.mkdtemp(prefix="lakeward-select-")
    writer = frame.writeStream.outputMode(relation.mode).option("checkpointLocation", place)
    live.query = writer.foreachBatch(live.take).start()
    live.when_stopped(lambda: shutil.rmtree(place, ignore_errors=True))
    return live


def _sort_column(order: exp.Ordered, schema: pa.Schema) -> SortColumn:
    """A column of ORDER BY among those that are shown: by name or by number."""
    by, names = order.this, [name.lower() for name in schema.names]
    number = -1
    if isinstance(by, exp.Literal) and not by.is_string and by.name.isdecimal():
        number = int(by.name) - 1
    elif isinstance(by, exp.Column) and by.name.lower() in names:
        number = names.index(by.name.lower())
    if not 0 <= number < len(names):
        raise ScriptError(
            place_of(order),
            f"ORDER BY of a streaming SELECT names a column that is shown, or its number: {', '.join(schema.names)}.",
        )
    if pa.types.is_nested(schema.types[number]):
        raise ScriptError(place_of(order), f"ORDER BY {schema.names[number]}: rows cannot be sorted by a collection.")
    return SortColumn(number, bool(order.args.get("desc")), bool(order.args.get("nulls_first")))


def _key(relation: Relation) -> tuple[str, ...] | None:
    if relation.key is None or relation.changes is not Changes.UPSERT:
        return None  # changes of a JOIN come in any order: rows are counted, which does not mind
    return tuple(min(part) for part in relation.key)


def _schema(frame: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    names = [name for name in frame.columns if name not in {CHANGE_TYPE, TIME}]
    return to_arrow_schema(frame.select(*(quote(name) for name in names)).schema)


def explain(statement: Explain, context: Context) -> Outcome:
    """What a statement becomes on Spark, and how Spark would do it; of a statement set, each INSERT."""
    inner: Statement = statement.statement
    explained = inner.inserts if isinstance(inner, StatementSet) else (inner,)
    lines: list[str] = []
    for one in explained:
        if not isinstance(one, (Select, Insert)):
            return Outcome(statement=statement, frame=context.spark.sql(statement.text))
        if isinstance(inner, StatementSet) and isinstance(one, Insert):
            lines += [*([""] if lines else []), f"== INSERT INTO {one.target} =="]
        with within(one):
            lines += _plan_lines(one, context)
    return Outcome(statement=statement, table=pa.table({"plan": lines}))


def _plan_lines(one: Select | Insert, context: Context) -> list[str]:
    engine = context.engine()
    is_bounded = context.settings.mode is Mode.BATCH or (
        isinstance(one, Select) and context.settings.mode is not Mode.STREAMING
    )
    if is_bounded:
        tree: exp.Expr = bounded_query(engine, one.query, {})
        kind = "bounded rows"
    else:
        relation = _plan(one.query, engine)
        tree = relation.tree
        kind = f"a stream; {relation.changes.value}" if relation.is_stream else "bounded rows"
    return [f"== {kind} ==", spark_text(to_spark(tree)), "", *_spark_plan(engine.frame(tree))]


def _spark_plan(frame: DataFrame) -> list[str]:
    """How Spark would do it; of a stream, what it has understood: how is only known when it runs."""
    if frame.isStreaming:
        plan: str = frame._jdf.queryExecution().analyzed().toString()
        return ["== Logical Plan ==", *plan.strip().splitlines()]
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        frame.explain()
    return told.getvalue().strip().splitlines()
