"""SHOW."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from lakeward.language.functions import FUNCTIONS
from lakeward.language.place import ScriptError
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.define import Show
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.secrets import without_secret_options
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context
from lakeward.spark.scripts.statements.describe import described_columns
from lakeward.spark.scripts.statements.jobs_here import show_jobs


def show(statement: Show, context: Context) -> Outcome:
    """SHOW …: a list, or one text."""
    if statement.what == "JOBS":
        return show_jobs(statement, context)
    if statement.what == "COLUMNS":
        return _show_columns(statement, context)
    tell = _SHOWN.get(statement.what)
    if tell is None:
        raise ScriptError(
            statement.place, f"SHOW {statement.what}: there are {', '.join(sorted({*_SHOWN, 'COLUMNS', 'JOBS'}))}."
        )
    title, values = tell(statement, context)
    values = [one for one in values if _is_like(one, statement)]
    return Outcome(statement=statement, table=pa.table({title: pa.array(values, pa.string())}))


def _is_like(text: str, statement: Show) -> bool:
    """Whether LIKE lets a name pass."""
    if statement.like is None:
        return True
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in statement.like)
    return (re.fullmatch("".join(parts), text, re.DOTALL) is None) == statement.is_negated


def _show_columns(statement: Show, context: Context) -> Outcome:
    """SHOW COLUMNS: as DESCRIBE has them."""
    assert statement.name is not None
    columns = described_columns(statement.name, context)
    chosen = [_is_like(name, statement) for name in columns["name"].to_pylist()]
    return Outcome(statement=statement, table=columns.filter(pa.array(chosen, pa.bool_())))


_Told = tuple[str, list[str]]
_OWN_FUNCTIONS = "lakeward_"


def _database(statement: Show, context: Context) -> tuple[str, str]:
    parts = statement.name.parts if statement.name is not None else ()
    if len(parts) == 2:
        return parts[0], parts[1]
    return context.tables.catalog, parts[0] if parts else context.tables.database


def _tables(statement: Show, context: Context) -> _Told:
    return "table name", context.tables.names(*_database(statement, context))


def _views(statement: Show, context: Context) -> _Told:
    wanted = _database(statement, context)
    known = {**context.tables.views, **context.tables.temporary}
    return "view name", sorted(
        full[2] for full, found in known.items() if full[:2] == wanted and isinstance(found, View)
    )


def _databases(statement: Show, context: Context) -> _Told:
    name = statement.name.parts[0] if statement.name is not None else context.tables.catalog
    return "database name", context.tables.catalog_of(name).databases()


def _create_table(statement: Show, context: Context) -> _Told:
    assert statement.name is not None
    return "create table", [create_text(context.tables.require_table(statement.name))]


def _create_view(statement: Show, context: Context) -> _Told:
    assert statement.name is not None
    found = context.tables.require(statement.name)
    if not isinstance(found, View):
        raise ScriptError(statement.name.place, f"{statement.name} is a table: say SHOW CREATE TABLE.")
    is_temporary = context.tables.full(statement.name.parts) in context.tables.temporary
    columns = f" ({', '.join(f'`{name}`' for name in found.columns)})" if found.columns else ""
    comment = f" COMMENT {_in_quotes(found.comment)}" if found.comment else ""
    head = f"CREATE {'TEMPORARY ' * is_temporary}VIEW {statement.name}{columns}{comment}"
    return "create view", [without_secret_options(f"{head} AS\n{found.text}")]


def _create_catalog(statement: Show, context: Context) -> _Told:
    assert statement.name is not None
    name = statement.name.parts[0]
    options = context.tables.catalogs.options(name).items()
    listed = ",\n".join(f"  {_in_quotes(key)} = {_in_quotes(value)}" for key, value in options)
    return "create catalog", [without_secret_options(f"CREATE CATALOG `{name}` WITH (\n{listed}\n)")]


def _partitions(statement: Show, context: Context) -> _Told:
    assert statement.name is not None
    table = context.tables.require_table(statement.name)
    find = getattr(context.tables.connectors.connector_of(table), "partitions", None)
    if find is None or not table.partitioned_by:
        raise ScriptError(statement.name.place, f"{table} has no partitions that could be shown.")
    wanted = dict(statement.partition)
    found = [one for one in find(table) if all(one.get(key) == value for key, value in wanted.items())]
    return "partition name", sorted("/".join(f"{key}={one[key]}" for key in table.partitioned_by) for one in found)


def _user_functions(_: Show, context: Context) -> _Told:
    """Those that the session has, but for our own."""
    names = [str(row[0]) for row in context.spark.sql("SHOW USER FUNCTIONS").collect()]
    return "function name", sorted(name for name in names if not name.rpartition(".")[2].startswith(_OWN_FUNCTIONS))


_SHOWN: dict[str, Callable[[Show, Context], _Told]] = {
    "CATALOGS": lambda _, context: ("catalog name", context.tables.catalogs.names()),
    "CURRENT CATALOG": lambda _, context: ("current catalog name", [context.tables.catalog]),
    "DATABASES": _databases,
    "CURRENT DATABASE": lambda _, context: ("current database name", [context.tables.database]),
    "TABLES": _tables,
    "VIEWS": _views,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "CREATE CATALOG": _create_catalog,
    "PARTITIONS": _partitions,
    "FUNCTIONS": lambda _, __: ("function name", sorted(FUNCTIONS)),
    "USER FUNCTIONS": _user_functions,
}


def create_text(table: TableDefinition) -> str:
    """The CREATE TABLE of a table, secrets left out."""
    lines = []
    for column in table.columns:
        comment = f" COMMENT {_in_quotes(column.comment)}" if column.comment else ""
        if isinstance(column, ComputedColumn):
            lines.append(f"  `{column.name}` AS {column.expression.sql()}{comment}")
        elif isinstance(column, MetadataColumn):
            virtual = " VIRTUAL" if column.is_virtual else ""
            lines.append(f"  `{column.name}` {column.type} METADATA FROM {_in_quotes(column.key)}{virtual}{comment}")
        else:
            lines.append(f"  `{column.name}` {column.type}{comment}")
    if table.watermark is not None:
        lines.append(f"  WATERMARK FOR `{table.watermark.column}` AS {table.watermark.expression.sql()}")
    if table.primary_key:
        lines.append(f"  PRIMARY KEY ({', '.join(f'`{name}`' for name in table.primary_key)}) NOT ENFORCED")
    text = f"CREATE TABLE `{table.catalog}`.`{table.database}`.`{table.name}` (\n" + ",\n".join(lines) + "\n)"
    if table.comment:
        text += f" COMMENT {_in_quotes(table.comment)}"
    if table.distribution is not None:
        by = ", ".join(f"`{name}`" for name in table.distribution.columns)
        buckets = table.distribution.buckets
        text += " DISTRIBUTED" + (f" BY ({by})" if by else "") + (f" INTO {buckets} BUCKETS" if buckets else "")
    if table.partitioned_by:
        text += f" PARTITIONED BY ({', '.join(f'`{name}`' for name in table.partitioned_by)})"
    if table.options:
        options = ",\n".join(f"  {_in_quotes(k)} = {_in_quotes(v)}" for k, v in sorted(table.options.items()))
        text += f" WITH (\n{options}\n)"
    return without_secret_options(text)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
