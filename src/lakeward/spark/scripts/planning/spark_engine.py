"""SparkEngine: tables of a script as relations of a plan, and the steps of a plan that are no SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.functions import spark_text, to_spark
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape import trees
from lakeward.language.plan.shape.engine import LookupStep
from lakeward.language.plan.shape.relation import LATER, TIME, EventTime, Lookup, Relation, simple_key
from lakeward.language.plan.shape.trees import place_of
from lakeward.language.statements.create_table import ComputedColumn
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.lookup.lookups import lookup_join
from lakeward.spark.scripts.connectors.lookup_handle import LookupHandle
from lakeward.spark.scripts.connectors.port import Source
from lakeward.spark.scripts.state.script_tables import ScriptTables, View

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


#: A time without a zone as if it were UTC's; timestampdiff would take it for one of the session's zone, where an hour
#: in spring is missing.
_EPOCH_MICROS = (
    "timestamp_micros(datediff(CAST({0} AS DATE), DATE'1970-01-01') * 86400000000L + hour({0}) * 3600000000L"
    " + minute({0}) * 60000000L + CAST(extract(SECOND FROM {0}) * 1000000 AS BIGINT))"
)
_WHOLE = frozenset({"byte", "short", "integer", "long"})
#: Options with which a table is read as it was at a moment, which is never a stream.
_MOMENTS = ("scan.snapshot-id", "scan.timestamp-millis", "scan.tag")


class SparkEngine:
    """The tables of one statement: each is read once for each way it is spoken of."""

    def __init__(self, spark: SparkSession, tables: ScriptTables, new_view: Callable[[], str]) -> None:
        self._spark = spark
        self._tables = tables
        self._new_view = new_view
        self._read: dict[tuple[object, ...], Relation] = {}
        self.sources: list[tuple[TableDefinition, Source]] = []
        """What is read as a stream."""

    def table(self, table: exp.Table, *, as_stream: bool) -> Relation | exp.Query:
        """A table as a relation, or the query of a view."""
        if not isinstance(table.this, exp.Identifier):
            return self._table_function(table)
        found = self._tables.find(tuple(part.name for part in table.parts))
        if isinstance(found, View):
            return _view_query(found)
        if found is None:
            return self._spark_table(table)
        options = {**found.options, **(table.meta.get("options") or {}), **self._moment(table)}
        definition = replace(found, options=options)
        is_stream = as_stream and not _is_of_moment(options)
        key = (str(definition), tuple(sorted(options.items())), is_stream)
        if key not in self._read:
            self._read[key] = self._relation(definition, is_stream=is_stream)
        return self._read[key]

    def _moment(self, table: exp.Table) -> dict[str, str]:
        """`FOR SYSTEM_TIME AS OF` a moment is time travel; of a column it is a lookup, and nothing here."""
        version = table.args.get("version")
        when = version.expression if version is not None else None
        if when is None or when.find(exp.Column) is not None:
            return {}
        if isinstance(when, exp.Anonymous) and str(when.this).upper() == "PROCTIME":
            return {}
        text = spark_text(to_spark(when))
        row = self._spark.sql(f"SELECT unix_millis(CAST({text} AS TIMESTAMP))").first()
        if row is None or row[0] is None:
            raise ScriptError(place_of(when), "FOR SYSTEM_TIME AS OF: expected a moment, such as TIMESTAMP '2026-…'.")
        return {"scan.timestamp-millis": str(row[0])}

    def _table_function(self, table: exp.Table) -> Relation:
        """A function of Spark's that gives rows, such as range(10)."""
        bare = table.copy()
        bare.set("alias", None)
        query = exp.select("*").from_(bare)
        return Relation(tree=query, columns=self.columns(query))

    def _spark_table(self, table: exp.Table) -> Relation:
        """A table that only Spark knows, such as a view that its own SQL has made."""
        name = spark_text(exp.Table(**{key: table.args.get(key) for key in ("this", "db", "catalog")}))
        from pyspark.errors import AnalysisException

        try:
            frame = self._spark.table(name)
        except AnalysisException:
            raise ScriptError(place_of(table), self._tables.unknown(tuple(part.name for part in table.parts))) from None
        return Relation(
            tree=exp.Table(**{key: table.args.get(key) for key in ("this", "db", "catalog")}),
            columns=tuple(frame.columns),
            is_stream=frame.isStreaming,
            name=name,
        )

    def _relation(self, definition: TableDefinition, *, is_stream: bool) -> Relation:
        source = self._tables.source(definition)
        frame = source.stream(self._spark) if is_stream else source.batch(self._spark)
        has_changes = is_stream and source.changes is not Changes.APPEND
        names = [column.name for column in definition.columns]
        frame = _with_computed(frame, definition)
        time = _event_time(frame, definition) if is_stream else None
        shown = [*([CHANGE_TYPE] if has_changes else []), *(trees.quote(name) for name in names)]
        if time is not None:
            twin = trees.quote(time.column)
            text = _EPOCH_MICROS.format(twin) if time.is_ntz else twin
            shown.append(f"{text} AS `{TIME}`")
        frame = frame.selectExpr(*shown)
        if time is not None and definition.watermark is not None:
            frame = frame.withWatermark(TIME, definition.watermark.delay)
        if is_stream:
            self.sources.append((definition, source))
        return Relation(
            tree=trees.table(self._keep(frame)),
            columns=tuple(names),
            is_stream=is_stream,
            changes=source.changes if is_stream else Changes.APPEND,
            key=simple_key(definition.primary_key) if definition.primary_key else None,
            of_key=frozenset(definition.primary_key),
            volatile=frozenset(
                column.name
                for column in definition.columns
                if isinstance(column, ComputedColumn) and not trees.is_repeatable(column.expression)
            ),
            time=time,
            state=(LATER,) if has_changes and _begins_later(definition) else (),
            lookup=None if is_stream or _is_of_moment(definition.options) else self._lookup(definition),
            name=str(definition),
        )

    def _lookup(self, definition: TableDefinition) -> Lookup | None:
        handle = self._tables.lookup(definition)
        return None if handle is None else Lookup(handle, handle.primary_key, handle.bucket_key)

    def _keep(self, frame: DataFrame) -> str:
        name = self._new_view()
        frame.createOrReplaceTempView(name)
        return name

    # -- steps --------------------------------------------------------------------------------------------------------

    def frame(self, query: exp.Expr) -> DataFrame:
        """The rows of a planned query."""
        return self._spark.sql(spark_text(to_spark(self._with_current_names(query))))

    def _with_current_names(self, query: exp.Expr) -> exp.Expr:
        """CURRENT_DATABASE() and CURRENT_CATALOG are the script's, which Spark does not know."""
        current = {"CURRENT_DATABASE": self._tables.database, "CURRENT_CATALOG": self._tables.catalog}

        def name(node: exp.Expr) -> exp.Expr:
            is_call = isinstance(node, exp.Anonymous) and not node.expressions
            return trees.text(current[node.name.upper()]) if is_call and node.name.upper() in current else node

        is_asked = any(node.name.upper() in current for node in query.find_all(exp.Anonymous))
        return query.transform(name) if is_asked else query

    def columns(self, query: exp.Query) -> tuple[str, ...]:
        """The columns of bounded rows."""
        return tuple(self.frame(query).columns)

    def kinds(self, query: exp.Query) -> tuple[str, ...]:
        """Whole numbers are one kind, every other type is one of its own."""
        types = [field.dataType.typeName() for field in self.frame(query).schema.fields]
        return tuple("whole number" if name in _WHOLE else name for name in types)

    def distinct(self, query: exp.Query) -> exp.Table:
        """The rows of a stream without those that came before."""
        return trees.table(self._keep(self.frame(query).dropDuplicates()))

    def look_up(self, query: exp.Query, step: LookupStep) -> exp.Table:
        """The rows of a query with those that were looked up for them."""
        handle = step.lookup.handle
        assert isinstance(handle, LookupHandle)
        options: dict[str, Any] = dict(handle.options)
        bootstrap = options.pop("bootstrap.servers")
        join = lookup_join(
            handle.table,
            on=dict(step.on),
            how="left" if step.keeps_unmatched else "inner",
            columns=step.columns,
            prefix=step.prefix,
            bootstrap=bootstrap,
            **options,
        )
        frame = self.frame(query).transform(join).drop(*step.on)
        return trees.table(self._keep(frame))


def _is_of_moment(options: Mapping[str, str]) -> bool:
    return any(key in options for key in _MOMENTS)


def _begins_later(definition: TableDefinition) -> bool:
    mode = definition.options.get("scan.startup.mode", "full").lower()
    return mode not in {"full", "initial", "earliest"}


def _with_computed(frame: DataFrame, definition: TableDefinition) -> DataFrame:
    for column in definition.columns:
        if isinstance(column, ComputedColumn):
            text = spark_text(to_spark(column.expression))
            frame = frame.selectExpr("*", f"{text} AS {trees.quote(column.name)}")
    return frame


def _event_time(frame: DataFrame, definition: TableDefinition) -> EventTime | None:
    watermark = definition.watermark
    if watermark is None:
        return None
    kind = frame.schema[watermark.column].dataType.typeName()
    if kind not in {"timestamp", "timestamp_ntz"}:
        raise ScriptError(
            watermark.place,
            f"WATERMARK FOR {watermark.column}: it is {kind.upper()}, and has to be TIMESTAMP(3) or TIMESTAMP_LTZ(3).",
        )
    zone = str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))
    return EventTime(watermark.column, kind == "timestamp_ntz", zone)


def _view_query(view: View) -> exp.Query:
    """The query of a view, its columns under the names that the view gives them."""
    if not view.columns:
        return view.query
    names = exp.TableAlias(
        this=exp.to_identifier("view", quoted=True), columns=[exp.to_identifier(n, quoted=True) for n in view.columns]
    )
    return exp.select("*").from_(exp.Subquery(this=view.query.copy(), alias=names))
