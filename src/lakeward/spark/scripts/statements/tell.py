"""SHOW and DESCRIBE."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from lakeward.language.functions import FUNCTIONS
from lakeward.language.place import ScriptError
from lakeward.language.plan.stream import bounded_query
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.define import Describe, Show
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.secrets import without_secret_options
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context
from lakeward.spark.scripts.statements.jobs_here import show_jobs


def show(statement: Show, context: Context) -> Outcome:
    """SHOW …: a list, or one text."""
    if statement.what == "JOBS":
        return show_jobs(statement, context)
    tell = _SHOWN.get(statement.what)
    if tell is None:
        raise ScriptError(statement.place, f"SHOW {statement.what}: there are {', '.join(sorted({*_SHOWN, 'JOBS'}))}.")
    title, values = tell(statement, context)
    if statement.like is not None:
        pattern = re.compile(
            "".join(".*" if c == "%" else "." if c == "_" else re.escape(c) for c in statement.like), re.DOTALL
        )
        values = [one for one in values if (pattern.fullmatch(one) is None) == statement.is_negated]
    return Outcome(statement=statement, table=pa.table({title: pa.array(values, pa.string())}))


_Told = tuple[str, list[str]]


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
    return "create view", [f"CREATE VIEW {statement.name} AS\n{found.text}"]


_SHOWN: dict[str, Callable[[Show, Context], _Told]] = {
    "CATALOGS": lambda _, context: ("catalog name", context.tables.catalogs.names()),
    "CURRENT CATALOG": lambda _, context: ("current catalog name", [context.tables.catalog]),
    "DATABASES": _databases,
    "CURRENT DATABASE": lambda _, context: ("current database name", [context.tables.database]),
    "TABLES": _tables,
    "VIEWS": _views,
    "CREATE TABLE": _create_table,
    "CREATE VIEW": _create_view,
    "FUNCTIONS": lambda _, __: ("function name", sorted(FUNCTIONS)),
}


def describe(statement: Describe, context: Context) -> Outcome:
    """DESCRIBE: the columns of a table or view."""
    found = context.tables.require(statement.name)
    if isinstance(found, View):
        engine = context.engine()
        frame = engine.frame(bounded_query(engine, found.query, {}))
        names = found.columns or tuple(frame.columns)
        types = [field.dataType.simpleString().upper() for field in frame.schema.fields]
        return Outcome(
            statement=statement,
            table=_columns([(n, t, True, "", "", "", "") for n, t in zip(names, types, strict=True)]),
        )
    return Outcome(statement=statement, table=_columns(_column_rows(found)))


_Column = tuple[str, str, bool, str, str, str, str]


def _columns(rows: list[_Column]) -> pa.Table:
    titles = ("name", "type", "null", "key", "extras", "watermark", "comment")
    return pa.table({title: [row[at] for row in rows] for at, title in enumerate(titles)})


def _column_rows(table: TableDefinition) -> list[_Column]:
    key = f"PRI({', '.join(table.primary_key)})"
    rows: list[_Column] = []
    for column in table.columns:
        extras, kind, nullable = "", "", True
        if isinstance(column, ComputedColumn):
            extras = f"AS {column.expression.sql()}"
        else:
            kind, nullable = str(column.type).removesuffix(" NOT NULL"), column.type.nullable
        if isinstance(column, MetadataColumn):
            extras = f"METADATA FROM '{column.key}'{' VIRTUAL' * column.is_virtual}"
        mark = table.watermark
        watermark = mark.expression.sql() if mark is not None and mark.column == column.name else ""
        is_key = column.name in table.primary_key
        rows.append((column.name, kind, nullable, key if is_key else "", extras, watermark, column.comment or ""))
    return rows


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
