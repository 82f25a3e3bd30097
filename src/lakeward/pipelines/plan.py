"""TablePlan: one table of the source, from where to where, with which columns and keys. Values only.

All columns but the key may be NULL in the sink: what the source allows may change, and a table cannot lose NOT NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeward.capture.port import SourceTable, TableId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.plan.projection import ProjectedColumn, read_condition, read_projection
from lakeward.model.names import complaint
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TablePath
from lakeward.pipelines.definition import PipelineDefinition, Transform

#: What columns a projection gives: the source's schema and the projection → names and types.
InferColumns = Callable[[Schema, Sequence[ProjectedColumn]], Sequence[Column]]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """What becomes of one table of the source."""

    source: SourceTable
    target: str
    schema: Schema
    """The columns in the sink, with the key."""
    partition_keys: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    projection: tuple[ProjectedColumn, ...] = ()
    condition: str | None = None

    @property
    def is_keyed(self) -> bool:
        """Whether rows are put and deleted by key; otherwise they are only appended."""
        return bool(self.schema.primary_key)


def is_computed(definition: PipelineDefinition, table: TableId) -> bool:
    """Whether Spark must look at each row of a table."""
    transform = definition.transform_of(table)
    if transform is None:
        return False
    columns = () if transform.projection is None else read_projection(transform.projection)
    return transform.filter is not None or any(one.name is not None and one.plain is None for one in columns)


def plan_tables(
    definition: PipelineDefinition, tables: Sequence[SourceTable], infer: InferColumns | None = None
) -> list[TablePlan]:
    """Where each table goes; what cannot be is a LakewardError that names every table with which it cannot."""
    plans: list[TablePlan] = []
    wrong: list[str] = []
    for table in sorted(tables, key=lambda one: one.id):
        try:
            check_name(definition, table.id)
            plans.append(plan_table(definition, table, infer))
        except LakewardError as error:
            wrong.append(error.message)
    wrong += _clashes(plans)
    if wrong:
        raise ErrorCode.INVALID_CONFIG.error("\n".join(wrong))
    return _merge(plans)


def plan_table(definition: PipelineDefinition, table: SourceTable, infer: InferColumns | None = None) -> TablePlan:
    """Where one table goes."""
    transform = definition.transform_of(table.id)
    projection = () if transform is None or transform.projection is None else read_projection(transform.projection)
    columns = _columns(table, projection, infer)
    names = [column.name for column in columns]
    key = table.schema.primary_key if transform is None or not transform.primary_keys else transform.primary_keys
    if transform is not None:
        _check_keys(table, transform, key, names)
    return TablePlan(
        table,
        definition.sink_table(table.id),
        Schema.of([_nullable(column) for column in columns], key),
        () if transform is None else transform.partition_keys,
        {} if transform is None else transform.table_options,
        projection,
        None if transform is None or transform.filter is None else read_condition(transform.filter),
    )


def check_name(definition: PipelineDefinition, table: TableId) -> None:
    """Refuse a name that a cluster cannot take, before anything is made."""
    if definition.sink.type != "fluss":
        return
    target = TablePath.parse(definition.sink_table(table))
    why = complaint(target.database) or complaint(target.table)
    if why:
        raise ErrorCode.INVALID_TABLE.error(
            f"{table} cannot go to {target}, which is no name of a table of Fluss: {why}. Give it another name by a "
            "'route', or leave it out by 'tables.exclude'."
        )


def _nullable(column: Column) -> Column:
    return replace(column, id=-1, type=column.type.as_nullable())


def _columns(table: SourceTable, projection: Sequence[ProjectedColumn], infer: InferColumns | None) -> list[Column]:
    if not projection:
        return list(table.schema.columns)
    if infer is not None and any(one.plain is None and one.name is not None for one in projection):
        comments = {column.name: column.comment for column in table.schema.columns}
        return [replace(one, comment=comments.get(one.name)) for one in infer(table.schema, projection)]
    found: dict[str, Column] = {}
    for one in projection:
        if one.name is None:
            found |= {column.name: column for column in table.schema.columns}
        elif one.plain is not None:
            found[one.name] = replace(table.schema.column(one.plain), name=one.name)
    return list(found.values())


def expressions(schema: Schema, projection: Sequence[ProjectedColumn]) -> dict[str, str]:
    """Columns of the result and what each is in Spark SQL; one that is named wins over the same one of `*`."""
    found: dict[str, str] = {}
    for one in projection or (ProjectedColumn(None, "*"),):
        if one.name is None:
            found |= {name: f"`{name.replace('`', '``')}`" for name in schema.names}
        else:
            found[one.name] = one.text
    return found


def _check_keys(table: SourceTable, transform: Transform, key: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in key if name not in names]
    if missing:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The transform of {table.id} leaves out {', '.join(missing)}, of its primary key: name the columns in "
            "'projection', or say another key in 'primary-keys'."
        )
    absent = [name for name in transform.partition_keys if name not in names]
    if absent:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The transform of {table.id} is to partition by {', '.join(absent)}, which is no column of the result: "
            f"the columns are {', '.join(names)}."
        )
    if transform.primary_keys and not table.has_before and not set(key) <= set(table.schema.primary_key):
        raise ErrorCode.INVALID_CONFIG.error(
            f"'primary-keys' of {table.id} needs what was in a row before it was changed, which the server does not "
            f"tell: ALTER TABLE {table.id} REPLICA IDENTITY FULL."
        )


def _clashes(plans: Sequence[TablePlan]) -> list[str]:
    """Tables that go to one and cannot."""
    wrong = []
    first: dict[str, TablePlan] = {}
    for plan in plans:
        other = first.setdefault(plan.target, plan)
        if other is plan:
            continue
        if other.schema.primary_key != plan.schema.primary_key:
            wrong.append(f"{other.source.id} and {plan.source.id} both go to {plan.target}, and have different keys.")
        types = {column.name: column.type for column in other.schema.columns}
        wrong += [
            f"{other.source.id} and {plan.source.id} both go to {plan.target}; column {column.name} is "
            f"{types[column.name]} in one and {column.type} in the other."
            for column in plan.schema.columns
            if column.name in types and str(types[column.name]) != str(column.type)
        ]
    return wrong


def _merge(plans: Sequence[TablePlan]) -> list[TablePlan]:
    """Tables that go to one have all columns of all of them there."""
    merged: dict[str, Schema] = {}
    for plan in plans:
        known = merged.setdefault(plan.target, plan.schema)
        more = [column for column in plan.schema.columns if column.name not in known.names]
        if more:
            columns = [replace(column, id=-1) for column in (*known.columns, *more)]
            merged[plan.target] = Schema.of(columns, known.primary_key)
    return [replace(plan, schema=merged[plan.target]) for plan in plans]
