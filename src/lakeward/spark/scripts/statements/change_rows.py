"""UPDATE, DELETE, MERGE and TRUNCATE, by Spark's row-level operations; and statements that are Spark's own."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.functions import spark_text, to_spark
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.relation import Relation
from lakeward.language.plan.shape.trees import name_as, place_of, put_under
from lakeward.language.plan.stream import bounded_query
from lakeward.language.statements.rows import RowChange
from lakeward.language.statements.statement import Name, Statement
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.planning.fitting import fits
from lakeward.spark.scripts.planning.insert_plan import not_fitting, spark_fields
from lakeward.spark.scripts.planning.spark_engine import SparkEngine
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.statements.context import Context, within


def change_rows(statement: RowChange, context: Context) -> Outcome:
    """Names become those that Spark knows the tables by; the rest is Spark's."""
    with within(statement):
        engine = context.engine()
        tree = statement.tree.copy()
        target = _target(tree)
        inner = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        for node in list(tree.find_all(exp.Table)):
            if node is target:
                _name_target(node, context)
            elif node.db or node.name.lower() not in inner:
                node.replace(put_under(_read(node, engine), node.alias_or_name))
        if isinstance(tree, exp.Update):
            _check_values(statement, tree, context)
        context.spark.sql(spark_text(to_spark(tree)))
    return Outcome(statement=statement, message=f"{statement.kind.lower()} done")


def _check_values(statement: RowChange, tree: exp.Update, context: Context) -> None:
    """SET v = 3.7 would cut the fraction off without a word, as an INSERT would: both want a CAST."""
    found = context.tables.find(tuple(part.name for part in _target(statement.tree).parts))
    pairs = [(one.this, one.expression) for one in tree.expressions if isinstance(one, exp.EQ)]
    if not isinstance(found, TableDefinition) or not pairs:
        return
    values = exp.select(*(name_as(value.copy(), f"#{at}") for at, (_, value) in enumerate(pairs)))
    given = context.spark.sql(spark_text(to_spark(values.from_(tree.this.copy())))).schema
    wanted = {field.name.lower(): field.dataType for field in spark_fields(found)}
    for at, (column, value) in enumerate(pairs):
        kind = wanted.get(column.name.lower())
        if kind is not None and not fits(given[f"#{at}"].dataType, kind):
            raise not_fitting(column.name, found, given[f"#{at}"].dataType, kind, place_of(value))


def _target(tree: exp.Expr) -> exp.Table:
    """The table that is changed."""
    this = tree.this if not isinstance(tree, exp.TruncateTable) else tree.expressions[0]
    found = this if isinstance(this, exp.Table) else this.find(exp.Table)
    assert isinstance(found, exp.Table)
    return found


def _name_target(node: exp.Table, context: Context) -> None:
    parts = tuple(part.name for part in node.parts)
    found = context.tables.find(parts)
    if found is None:
        if context.is_sparks(Name(parts)):
            return
        raise ScriptError(place_of(node), context.tables.unknown(parts))
    if not isinstance(found, TableDefinition):
        raise ScriptError(place_of(node), f"{'.'.join(parts)} is a view; a table is needed here.")
    connector = context.tables.connectors.connector_of(found)
    spark_name = getattr(connector, "spark_name", None)
    if spark_name is None:
        raise ScriptError(
            place_of(node),
            f"{found} has the connector '{connector.name}', whose rows cannot be changed; only tables "
            "of a cluster with a primary key can be.",
        )
    alias = node.args.get("alias")
    names = [part.strip("`") for part in spark_name(context.spark, found).split("`.`")]
    for key, part in zip(("catalog", "db", "this"), names, strict=True):
        node.set(key, exp.to_identifier(part, quoted=True))
    if alias is None and parts[-1] != names[-1]:
        node.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))


def _read(node: exp.Table, engine: SparkEngine) -> exp.Expr:
    found = engine.table(node, as_stream=False)
    return found.tree if isinstance(found, Relation) else bounded_query(engine, found, {})


def run_on_spark(statement: Statement, context: Context) -> Outcome:
    """Spark's own SQL, as it was written."""
    frame = context.spark.sql(statement.text)
    if not frame.columns:
        return Outcome(statement=statement, message=statement.text.split(maxsplit=1)[0].upper())
    return Outcome(statement=statement, frame=frame)
