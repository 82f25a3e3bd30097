"""INSERT: a query's rows, made fit for the sink; a stream becomes a plan of a job, bounded rows are written at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from lakeward.errors import LakewardError
from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.place import Place, ScriptError
from lakeward.language.plan.shape.engine import Style
from lakeward.language.plan.shape.relation import Relation
from lakeward.language.plan.shape.trees import column, is_added, name_as, put_under, spark_call, text
from lakeward.language.plan.sink import Target, check_rows, needs_before
from lakeward.language.plan.stream import NeedsBeforeError, Planner, bounded_query
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.schema import Column, Schema
from lakeward.spark.scripts.connectors.port import Rows, Sink, Source
from lakeward.spark.scripts.jobs.stream_plan import StreamPlan
from lakeward.spark.scripts.planning.fitting import fits, keeps_apart
from lakeward.spark.scripts.planning.net_changes import net_changes
from lakeward.spark.scripts.planning.spark_engine import SparkEngine
from lakeward.spark.setup.own_pool import own_pool
from lakeward.spark.table.types import data_type_of_spark, spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter
    from pyspark.sql.types import DataType, StructField

#: Options that say where rows are.
_PLACES = ("path", "url", "hosts", "topic", "index", "database-name", "table-name")
_VIEW = re.compile(r"`__lakeward_\d+`")


@dataclass(frozen=True)
class SinkTable:
    """Where rows go: the definition, the sink, and the columns that are given, in the order of the query."""

    definition: TableDefinition
    sink: Sink
    given: tuple[str, ...]
    place: Place
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where the query says what goes into a column, as far as it shows."""

    def place_of(self, column: str) -> Place:
        """Where a person looks for what is wrong with a column."""
        return self.places.get(column, self.place)

    @property
    def target(self) -> Target:
        """As plans see it."""
        return Target(str(self.definition), self.sink.takes, self.definition.primary_key)


def plan_stream(query: exp.Query, engine: SparkEngine, table: SinkTable) -> Relation:
    """The rows of a query in a form that is right for the sink."""
    is_final = table.sink.takes is not Changes.UPSERT
    relation = None
    try:
        relation = Planner(engine, Style.BY_KEY, is_final).plan(query)
        if needs_before(relation, table.target, table_columns(relation, table)):
            raise NeedsBeforeError("the sink")
    except NeedsBeforeError:
        try:
            relation = Planner(engine, Style.BEFORE_AND_AFTER, is_final).plan(query)
        except ScriptError:
            if relation is None or table.sink.takes is not Changes.CHANGELOG:
                raise  # else the sink takes what there is: a changelog that does not say what was before
    if relation.is_stream:
        check_rows(relation, table.target, table_columns(relation, table), table.place)
    return relation


def table_columns(relation: Relation, table: SinkTable) -> dict[str, str]:
    """The sink's columns, and what of the query goes into each."""
    if len(relation.columns) != len(table.given):
        raise ScriptError(
            table.place,
            f"the query gives {len(relation.columns)} columns ({', '.join(relation.columns[:12])}), and "
            f"{table.definition} takes {len(table.given)} ({', '.join(table.given[:12])}).",
        )
    return dict(zip(table.given, relation.columns, strict=True))


def stream_rows(relation: Relation, engine: SparkEngine, table: SinkTable) -> Rows:
    """The rows as the sink wants them: its columns and types, deletes where rows are taken back."""
    by_key = table.sink.takes is Changes.UPSERT
    change: exp.Expr = column(CHANGE_TYPE)
    if by_key and relation.changes is Changes.CHANGELOG:
        change = spark_call("IF", is_added(), text("update_after"), text("delete"))
    frame = _fit(relation, engine, table, change if relation.has_changes else None)
    if by_key and relation.changes is Changes.CHANGELOG and relation.is_shuffled:
        columns = table_columns(relation, table)
        volatile = {own for own, name in columns.items() if name in relation.volatile}
        frame = net_changes(frame, table.definition.primary_key, volatile)
    return Rows(frame, has_changes=relation.has_changes)


def bounded_rows(query: exp.Query, engine: SparkEngine, table: SinkTable) -> Rows:
    """Bounded rows as the sink wants them."""
    tree = bounded_query(engine, query, {})
    relation = Relation(tree=tree, columns=engine.columns(tree))
    return Rows(_fit(relation, engine, table, None))


def _fit(relation: Relation, engine: SparkEngine, table: SinkTable, change: exp.Expr | None) -> DataFrame:
    """The query's columns under the sink's names and in its types; columns that are not given are NULL."""
    from pyspark.sql.functions import lit

    columns = table_columns(relation, table)
    tree = exp.select(
        *(name_as(column(name), f"#{number}") for number, name in enumerate(columns.values())),
        *([name_as(change, CHANGE_TYPE)] if change is not None else []),
    ).from_(put_under(relation.tree, "query"))
    frame = engine.frame(tree)
    shown = []
    for own, wanted in zip(table.definition.physical, spark_fields(table.definition), strict=True):
        if own.name in columns:
            value = frame[f"`#{list(columns).index(own.name)}`"]
            found = frame.schema[f"#{list(columns).index(own.name)}"].dataType
            _check_type(found, own.name, wanted.dataType, table)
            if own.name in table.definition.primary_key and not keeps_apart(found, wanted.dataType):
                raise _merging_keys(own.name, found, wanted.dataType, table)
        else:
            value = lit(None)
        shown.append(value.cast(wanted.dataType).alias(own.name))
    return frame.select(*shown, *([frame[CHANGE_TYPE]] if change is not None else []))


def spark_fields(definition: TableDefinition) -> list[StructField]:
    """The columns that a table stores, as Spark has them."""
    from pyspark.sql.types import StructType

    schema = Schema.of([Column(column.name, column.type) for column in definition.physical])
    return StructType.fromJson(spark_schema(schema)).fields


def _check_type(found: DataType, name: str, wanted: DataType, table: SinkTable) -> None:
    """A text that should be a number, a fraction for a whole one, are mistakes more often than not."""
    if not fits(found, wanted):
        raise not_fitting(name, table.definition, found, wanted, table.place_of(name))


def not_fitting(name: str, table: TableDefinition, found: DataType, wanted: DataType, place: Place) -> ScriptError:
    """What to raise where a value does not go into a column."""
    said = _in_script(wanted)
    return ScriptError(
        place,
        f"column '{name}' of {table} is {said}, and the query gives {_in_script(found)}: "
        f"say CAST(… AS {said}) if that is meant.",
    )


def _in_script(of: DataType) -> str:
    """A type of Spark's as scripts write it: its TIMESTAMP is TIMESTAMP_LTZ here."""
    try:
        return str(data_type_of_spark(of.jsonValue()))
    except LakewardError:
        return of.simpleString().upper()


def _merging_keys(name: str, found: DataType, wanted: DataType, table: SinkTable) -> ScriptError:
    told, given = _in_script(wanted), _in_script(found)
    return ScriptError(
        table.place_of(name),
        f"column '{name}' of the primary key of {table.definition} is {told}, and the query gives {given}: different "
        f"keys could become the same. Give the column the type {given}, or group by CAST(… AS {told}).",
    )


def stream_plan(
    statement_text: str,
    relation: Relation,
    engine: SparkEngine,
    table: SinkTable,
    trigger: Callable[[DataStreamWriter], DataStreamWriter],
) -> StreamPlan:
    """One INSERT that streams, ready to start."""
    rows = stream_rows(relation, engine, table)

    def start(checkpoint: str, name: str) -> StreamingQuery:
        def begin(frame: DataFrame) -> DataStreamWriter:
            writer = frame.writeStream.outputMode(relation.mode).queryName(name)
            return trigger(writer.option("checkpointLocation", checkpoint))

        with own_pool(rows.frame.sparkSession, name):
            return table.sink.write_stream(rows, begin)

    sources = [source for _, source in engine.sources]

    def is_finished(progress: dict[str, Any]) -> bool:
        told = progress.get("sources") or []
        return bool(told) and all(any(s.is_finished(one.get("endOffset")) for s in sources) for one in told)

    is_bounded = bool(sources) and all(source.is_bounded for source in sources)
    return StreamPlan(
        sink=str(table.definition),
        text=" ".join(statement_text.split()),
        sources=tuple(
            f"{table} ({told})" if (told := _origin(table, one)) else str(table) for table, one in engine.sources
        ),
        state=_state(relation) if relation.state else "",
        start=start,
        is_finished=is_finished if is_bounded else None,
        into=_origin(table.definition, table.sink),
    )


def _origin(definition: TableDefinition, end: Source | Sink) -> str:
    """Which table of that name it is: a checkpoint is of this one, and of no other that is called the same later."""
    told = getattr(end, "origin", "")  # connectors that know more than their options
    return str(told) or ", ".join(definition.options[key] for key in _PLACES if key in definition.options)


def _state(relation: Relation) -> str:
    """What the state of a query depends on: all of it, but for the names of views."""
    return _VIEW.sub("`…`", spark_text(to_spark(relation.tree)))
