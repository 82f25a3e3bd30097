"""CREATE, ALTER and DROP of catalogs, databases and tables; DROP VIEW; USE."""

from __future__ import annotations

from dataclasses import replace

from lakeward.language.place import ScriptError
from lakeward.language.statements.create_table import CreateTable, Like, PhysicalColumn
from lakeward.language.statements.define import (
    AlterTable,
    CreateCatalog,
    CreateDatabase,
    Drop,
    OtherChange,
    Use,
)
from lakeward.language.statements.statement import Name
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import TypeRoot
from lakeward.spark.scripts.catalogs import fluss_catalog, memory_catalog
from lakeward.spark.scripts.connectors.fluss.fluss_options import BUCKET_COUNT, BUCKET_KEY
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context


def create_catalog(statement: CreateCatalog, context: Context) -> Outcome:
    """CREATE CATALOG; Spark's own SQL knows it too."""
    made = context.tables.catalogs.create(statement.name, statement.options, exist_ok=statement.if_not_exists)
    context.settings.changed.update(made.spark_settings)
    return Outcome(statement=statement, message=f"catalog {statement.name}")


def create_database(statement: CreateDatabase, context: Context) -> Outcome:
    """CREATE DATABASE; one that is there is told, so that a script can be run again."""
    catalog, name = _database(statement.name, context)
    made = context.tables.catalog_of(catalog).create_database(name, statement.comment, statement.options)
    is_told = not made.is_new and not statement.if_not_exists
    notices = (*made.notices, *([f"Database {catalog}.{name} is there already."] if is_told else []))
    return Outcome(statement=statement, message=f"database {catalog}.{name}", notices=notices)


def _database(name: Name, context: Context) -> tuple[str, str]:
    return (name.parts[0], name.parts[1]) if len(name.parts) == 2 else (context.tables.catalog, name.parts[0])


def create_table(statement: CreateTable, context: Context) -> Outcome:
    """CREATE TABLE; one that is there and is the same is told, so that a script can be run again."""
    definition = definition_of(statement, context)
    return keep_table(definition, statement, context)


def keep_table(definition: TableDefinition, statement: CreateTable, context: Context) -> Outcome:
    """Make a table where it is absent."""
    full = (definition.catalog, definition.database, definition.name)
    message = f"table {definition}"
    if statement.is_temporary:
        notices = context.tables.connectors.connector_of(definition).ensure(definition)
        context.tables.temporary[full] = definition
        return Outcome(statement=statement, message=f"temporary {message}", notices=notices)
    catalog = context.tables.catalog_of(definition.catalog)
    there = catalog.definition(definition.database, definition.name)
    if there is not None and statement.or_replace:
        catalog.drop_table(definition.database, definition.name, if_exists=True)
    elif there is not None and statement.if_not_exists:
        return Outcome(statement=statement, message=message)
    made = catalog.create_table(definition)
    notices = made.notices if made.is_new else (*made.notices, f"Table {definition} is there already.")
    return Outcome(statement=statement, message=message, notices=notices)


def definition_of(statement: CreateTable, context: Context) -> TableDefinition:
    """What CREATE TABLE says, with what it takes over by LIKE."""
    catalog, database, name = context.tables.full(statement.name.parts)
    definition = TableDefinition(
        catalog=catalog,
        database=database,
        name=name,
        columns=statement.columns,
        primary_key=statement.primary_key,
        watermark=statement.watermark,
        distribution=statement.distribution,
        partitioned_by=statement.partitioned_by,
        comment=statement.comment,
        options=statement.options,
    )
    if statement.like is not None:
        definition = _with_like(definition, statement, statement.like, context)
    return _with_key(definition, statement)


def _with_key(definition: TableDefinition, statement: CreateTable) -> TableDefinition:
    """Columns of the primary key are never NULL; those that there are not are refused."""
    known = {column.name for column in definition.columns}
    for clause, names in (("PRIMARY KEY", definition.primary_key), ("PARTITIONED BY", definition.partitioned_by)):
        for one in names:
            if one not in known:
                raise ScriptError(
                    statement.name.place, f"{clause} ({one}): the table has no such column; it has {', '.join(known)}."
                )
    columns = tuple(
        replace(column, type=column.type.not_null())
        if isinstance(column, PhysicalColumn) and column.name in definition.primary_key
        else column
        for column in definition.columns
    )
    _check_watermark(definition)
    return replace(definition, columns=columns)


def _check_watermark(definition: TableDefinition) -> None:
    mark = definition.watermark
    if mark is None:
        return
    found = next((column for column in definition.columns if column.name == mark.column), None)
    if found is None:
        raise ScriptError(mark.place, f"WATERMARK FOR {mark.column}: the table has no such column.")
    if isinstance(found, PhysicalColumn) and found.type.root not in {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}:
        raise ScriptError(
            mark.place, f"WATERMARK FOR {mark.column}: it is {found.type}, and has to be TIMESTAMP(3) or TIMESTAMP_LTZ."
        )


#: What LIKE takes over unless it is told otherwise.
_LIKE_DEFAULTS = {
    "CONSTRAINTS": "INCLUDING",
    "DISTRIBUTION": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "OPTIONS": "OVERWRITING",
    "PARTITIONS": "INCLUDING",
    "WATERMARKS": "INCLUDING",
}


def _with_like(own: TableDefinition, statement: CreateTable, like: Like, context: Context) -> TableDefinition:
    other = context.tables.require_table(like.name)
    features = dict(_LIKE_DEFAULTS)
    for strategy, what in like.features:
        for one in features if what == "ALL" else [what]:
            if one not in features:
                raise ScriptError(like.name.place, f"LIKE: '{what}' is none of {', '.join(features)}, ALL.")
            features[one] = strategy
    taken = {column.name for column in own.columns}
    columns = [column for column in other.columns if column.name not in taken]
    for what, kind in (("GENERATED", "ComputedColumn"), ("METADATA", "MetadataColumn")):
        if features[what] == "EXCLUDING":
            columns = [column for column in columns if type(column).__name__ != kind]
    places = {"table.name", "bootstrap.servers"} if "connector" not in own.options else set()
    options = {} if features["OPTIONS"] == "EXCLUDING" else dict(other.options)
    if own.catalog != other.catalog or not places:
        options.pop("table.name", None)
    if features["DISTRIBUTION"] == "EXCLUDING":
        options = {key: value for key, value in options.items() if key not in {BUCKET_COUNT.key, BUCKET_KEY.key}}
    if not statement.is_temporary and context.tables.catalog_of(own.catalog).kind == fluss_catalog.KIND:
        options = {key: value for key, value in options.items() if not fluss_catalog.is_of_catalog(key, value)}
    return replace(
        own,
        columns=(*columns, *own.columns),
        primary_key=own.primary_key or (other.primary_key if features["CONSTRAINTS"] != "EXCLUDING" else ()),
        watermark=own.watermark or (other.watermark if features["WATERMARKS"] != "EXCLUDING" else None),
        distribution=own.distribution or (other.distribution if features["DISTRIBUTION"] != "EXCLUDING" else None),
        partitioned_by=own.partitioned_by or (other.partitioned_by if features["PARTITIONS"] != "EXCLUDING" else ()),
        comment=own.comment or other.comment,
        options={**options, **own.options},
    )


def use(statement: Use, context: Context) -> Outcome:
    """USE CATALOG, USE database; Spark's own SQL follows where it knows the catalog."""
    if statement.catalog is not None:
        context.tables.use_catalog(statement.catalog)
    if statement.database is not None:
        context.tables.use_database(statement.database)
    return Outcome(statement=statement, message=f"{context.tables.catalog}.{context.tables.database}")


def drop(statement: Drop, context: Context) -> Outcome:
    """DROP CATALOG, DATABASE, TABLE or VIEW."""
    tables, name = context.tables, statement.name
    message = f"{statement.what.lower()} {name} dropped"
    match statement.what:
        case "CATALOG":
            if name.parts[0] == tables.catalog:
                raise ScriptError(name.place, f"the catalog {name} is in use: say USE CATALOG default_catalog first.")
            tables.catalogs.drop(name.parts[0], missing_ok=statement.if_exists)
        case "DATABASE" | "SCHEMA":
            catalog, database = _database(name, context)
            tables.catalog_of(catalog).drop_database(
                database, if_exists=statement.if_exists, is_cascade=statement.is_cascade
            )
        case _:
            return Outcome(statement=statement, message=message, notices=_drop_table(statement, context))
    return Outcome(statement=statement, message=message)


def _drop_table(statement: Drop, context: Context) -> tuple[str, ...]:
    """What the user should know of it."""
    tables, name = context.tables, statement.name
    full = tables.full(name.parts)
    found = tables.find(name.parts)
    is_view = statement.what == "VIEW"
    if found is None:
        if not statement.if_exists:
            raise ScriptError(name.place, tables.unknown(name.parts))
        return ()
    if isinstance(found, View) != is_view:
        other = "VIEW" if isinstance(found, View) else "TABLE"
        raise ScriptError(name.place, f"{name} is a {other.lower()}: say DROP {other}.")
    stays = _what_stays(found, context)
    if full in tables.temporary:
        del tables.temporary[full]
    elif statement.is_temporary:
        raise ScriptError(name.place, f"{name} is not temporary: say DROP {statement.what}.")
    elif isinstance(found, View):
        del tables.views[full]
    else:
        tables.catalog_of(found.catalog).drop_table(found.database, found.name, if_exists=statement.if_exists)
    return stays


def _what_stays(found: TableDefinition | View, context: Context) -> tuple[str, ...]:
    """Of a definition that is only the script's: where its rows are afterwards."""
    tables = context.tables
    if isinstance(found, View):
        return ()
    full = (found.catalog, found.database, found.name)
    if full not in tables.temporary and tables.catalog_of(found.catalog).kind != memory_catalog.KIND:
        return ()
    tell = getattr(tables.connectors.connector_of(found), "stays", None)
    return () if tell is None else (tell(found),)


def alter_table(statement: AlterTable, context: Context) -> Outcome:
    """ALTER TABLE."""
    found = context.tables.find(statement.name.parts)
    if found is None and statement.if_exists:
        return Outcome(statement=statement, message=f"table {statement.name} is not there")
    table = context.tables.require_table(statement.name)
    if isinstance(statement.change, OtherChange):
        raise ScriptError(statement.change.place, statement.change.why)
    notices = context.tables.catalog_of(table.catalog).alter_table(table, statement.change)
    return Outcome(statement=statement, message=f"table {table} changed", notices=notices)
