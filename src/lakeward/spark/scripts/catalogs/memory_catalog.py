"""MemoryCatalog: definitions that last as long as the script; their rows are wherever their connectors keep them."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, runtime_checkable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.create_table import ColumnDefinition
from lakeward.language.statements.define import (
    AddColumns,
    ChangePartitions,
    RenameTable,
    ResetOptions,
    SetOptions,
    TableChange,
)
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.catalogs.differences import differences
from lakeward.spark.scripts.catalogs.port import DatabaseDefinition, Made
from lakeward.spark.scripts.connectors.registry import Connectors

KIND = "generic_in_memory"


@runtime_checkable
class Alters(Protocol):
    """What a connector may offer: changes of a table that reach what it stands for."""

    def alter(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Make a change there; sentences that the user should read."""


class MemoryCatalog:
    """Databases and tables of one script."""

    kind = KIND

    def __init__(self, name: str, default_database: str, connectors: Connectors) -> None:
        self.name = name
        self.default_database = default_database
        self.spark_settings: dict[str, str] = {}
        self._connectors = connectors
        self._databases: dict[str, dict[str, TableDefinition]] = {default_database: {}}
        self._described: dict[str, DatabaseDefinition] = {}

    def databases(self) -> list[str]:
        """Their names, sorted."""
        return sorted(self._databases)

    def database(self, name: str) -> DatabaseDefinition | None:
        """A database; None if there is none."""
        return self._described.get(name, DatabaseDefinition()) if name in self._databases else None

    def create_database(self, name: str, comment: str | None, options: Options) -> Made:
        """Make a database; one that is there is no error."""
        is_new = name not in self._databases
        self._databases.setdefault(name, {})
        if is_new:
            self._described[name] = DatabaseDefinition(comment, options)
        return Made(is_new)

    def drop_database(self, name: str, *, if_exists: bool, is_cascade: bool) -> None:
        """Drop a database; the rows of its tables stay where they are."""
        if if_exists and name not in self._databases:
            return
        if self._tables(name) and not is_cascade:
            raise ErrorCode.DATABASE_NOT_EMPTY.error(
                f"Database {self.name}.{name} has tables: {', '.join(self.tables(name))}. Drop them first, or write"
                " CASCADE."
            )
        if name == self.default_database:
            raise ErrorCode.INVALID_TABLE.error(f"Database {self.name}.{name} is the default one, and stays.")
        del self._databases[name]
        self._described.pop(name, None)

    def tables(self, database: str) -> list[str]:
        """The names of a database's tables, sorted."""
        return sorted(self._tables(database))

    def definition(self, database: str, name: str) -> TableDefinition | None:
        """A table; None if there is none."""
        return self._databases.get(database, {}).get(name)

    def create_table(self, table: TableDefinition) -> Made:
        """Keep a definition, when its connector has made what it stands for."""
        tables = self._tables(table.database)
        if table.name in tables:
            if tables[table.name] == table:
                return Made(is_new=False)
            raise _another(table, tables[table.name])
        notices = self._connectors.connector_of(table).ensure(table)
        tables[table.name] = table
        return Made(is_new=True, notices=notices)

    def drop_table(self, database: str, name: str, *, if_exists: bool) -> None:
        """Forget a definition; the rows stay where they are."""
        if if_exists and self.definition(database, name) is None:
            return
        self._present(database, name)
        del self._databases[database][name]

    def alter_table(self, table: TableDefinition, change: TableChange) -> tuple[str, ...]:
        """Change a definition, and what it stands for where its connector can."""
        found = self._present(table.database, table.name)
        tables = self._databases[table.database]
        connector = self._connectors.connector_of(found)
        changed = changed_definition(found, change)
        self._connectors.connector_of(changed)  # options that are wrong are refused before anything is changed
        if isinstance(change, RenameTable) and changed.name in tables:
            raise _another(changed, tables[changed.name])
        notices: tuple[str, ...] = ()
        if isinstance(connector, Alters):
            notices = connector.alter(found, change)
        elif isinstance(change, ChangePartitions):
            raise ErrorCode.INVALID_TABLE.error(f"Table {found}: the connector '{connector.name}' has no partitions.")
        del tables[found.name]
        tables[changed.name] = changed
        return notices

    def _tables(self, database: str) -> dict[str, TableDefinition]:
        if database not in self._databases:
            raise ErrorCode.DATABASE_NOT_EXIST.error(
                f"There is no database {self.name}.{database}; there are {', '.join(self.databases())}."
            )
        return self._databases[database]

    def _present(self, database: str, name: str) -> TableDefinition:
        found = self._tables(database).get(name)
        if found is None:
            raise ErrorCode.TABLE_NOT_EXIST.error(f"There is no table {self.name}.{database}.{name}.")
        return found


def _another(table: TableDefinition, there: TableDefinition) -> LakewardError:
    told = next(differences(table, there), "")
    return ErrorCode.TABLE_ALREADY_EXIST.error(
        f"Table {table} is there already, and is another{f': {told}' if told else ''}. Drop it first, or write IF NOT"
        " EXISTS to keep it."
    )


def changed_definition(table: TableDefinition, change: TableChange) -> TableDefinition:
    """A definition after a change."""
    match change:
        case RenameTable(name):
            kept = {} if table.options.get("connector", "fluss") != "fluss" else {"table.name": table.name}
            return replace(table, name=name.parts[-1], options={**kept, **table.options})
        case SetOptions(options):
            return replace(table, options={**table.options, **options})
        case ResetOptions(keys):
            return replace(table, options={key: value for key, value in table.options.items() if key not in keys})
        case AddColumns(columns):
            _check_new(table, columns)
            return replace(table, columns=(*table.columns, *columns))
        case _:
            return table


def _check_new(table: TableDefinition, columns: tuple[ColumnDefinition, ...]) -> None:
    known = {column.name for column in table.columns}
    for column in columns:
        if column.name in known:
            raise ErrorCode.INVALID_TABLE.error(f"Table {table} has a column '{column.name}' already.")
