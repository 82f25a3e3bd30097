"""DESCRIBE: the columns of a table or view; what a catalog and a database are."""

from __future__ import annotations

import pyarrow as pa

from lakeward.language.place import ScriptError
from lakeward.language.plan.stream import bounded_query
from lakeward.language.statements.create_table import ComputedColumn, MetadataColumn
from lakeward.language.statements.define import Describe
from lakeward.language.statements.statement import Name, Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.secrets import is_of_secret
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context


def describe(statement: Describe, context: Context) -> Outcome:
    """DESCRIBE [CATALOG | DATABASE | TABLE]."""
    match statement.what:
        case "CATALOG":
            return Outcome(statement=statement, table=_catalog(statement, context))
        case "DATABASE":
            return Outcome(statement=statement, table=_database(statement, context))
        case _:
            return Outcome(statement=statement, table=described_columns(statement.name, context))


def _catalog(statement: Describe, context: Context) -> pa.Table:
    name = statement.name.parts[0]
    options = context.tables.catalogs.options(name)
    told = {"name": name, "type": options.pop("type"), "default database": _default_database(name, context)}
    return _facts(told, options if statement.is_extended else {})


def _default_database(name: str, context: Context) -> str:
    return context.tables.catalog_of(name).default_database


def _database(statement: Describe, context: Context) -> pa.Table:
    *before, name = statement.name.parts
    catalog = before[0] if before else context.tables.catalog
    found = context.tables.catalog_of(catalog).database(name)
    if found is None:
        known = ", ".join(context.tables.catalog_of(catalog).databases())
        raise ScriptError(statement.name.place, f"there is no database {catalog}.{name}; there are {known}.")
    told = {"catalog": catalog, "name": name, "comment": found.comment or ""}
    return _facts(told, found.options if statement.is_extended else {})


def _facts(told: dict[str, str], options: Options) -> pa.Table:
    shown = {f"option:{key}": "****" if is_of_secret(key) else value for key, value in options.items()}
    facts = {**told, **shown}
    return pa.table({"info name": list(facts), "info value": list(facts.values())})


def described_columns(name: Name, context: Context) -> pa.Table:
    """The columns of a table or view."""
    found = context.tables.require(name)
    if isinstance(found, View):
        engine = context.engine()
        frame = engine.frame(bounded_query(engine, found.query, {}))
        names = found.columns or tuple(frame.columns)
        types = [field.dataType.simpleString().upper() for field in frame.schema.fields]
        return _columns([(n, t, True, "", "", "", "") for n, t in zip(names, types, strict=True)])
    return _columns(_column_rows(found))


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
