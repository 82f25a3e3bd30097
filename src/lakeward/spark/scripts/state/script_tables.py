"""ScriptTables: what the names in a script stand for: tables of catalogs, temporary ones, and views."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

from sqlglot import exp

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.place import ScriptError
from lakeward.language.statements.statement import Name
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.catalogs.catalogs import DEFAULT_CATALOG, Catalogs
from lakeward.spark.scripts.catalogs.fluss_catalog import FlussCatalog
from lakeward.spark.scripts.catalogs.port import Catalog
from lakeward.spark.scripts.connectors.lookup_handle import LookupHandle
from lakeward.spark.scripts.connectors.port import Sink, Source, Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors

FullName = tuple[str, str, str]
#: The cluster of the script's server, where no catalog of that name was made.
SERVER_CATALOG = "fluss"


@dataclass(frozen=True)
class View:
    """A query under a name; the tables in it have their full names."""

    query: exp.Query
    text: str
    columns: tuple[str, ...] = ()
    comment: str | None = None


@dataclass
class ScriptTables:
    """Names, and what they stand for. A temporary table or view hides one of a catalog with the same name."""

    surroundings: Surroundings
    connectors: Connectors = field(init=False)
    catalogs: Catalogs = field(init=False)
    catalog: str = field(init=False, default=DEFAULT_CATALOG)
    database: str = field(init=False)
    temporary: dict[FullName, TableDefinition | View] = field(init=False, default_factory=dict)
    views: dict[FullName, View] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.connectors = Connectors(self.surroundings)
        self.catalogs = Catalogs(self.surroundings, self.connectors)
        self.database = self.catalogs.catalog(DEFAULT_CATALOG).default_database

    # -- names --------------------------------------------------------------------------------------------------------

    def full(self, parts: tuple[str, ...]) -> FullName:
        """A name with catalog and database."""
        if len(parts) > 3:
            raise ErrorCode.INVALID_TABLE.error(f"'{_text_of(parts)}': a table's name has at most three parts.")
        catalog, database, name = (self.catalog, self.database, "")[: 3 - len(parts)] + parts
        return catalog, database, name

    def catalog_of(self, name: str) -> Catalog:
        """A catalog; `fluss` is the script's server unless the script made another one of that name."""
        if name == SERVER_CATALOG and not self.catalogs.has(name):
            return FlussCatalog(SERVER_CATALOG, {}, self.surroundings)
        return self.catalogs.catalog(name)

    def use_catalog(self, name: str) -> None:
        """USE CATALOG."""
        found = self.catalog_of(name)
        self.catalog, self.database = name, found.default_database

    def use_database(self, name: Name) -> None:
        """USE [catalog.]database; one that only the script's server has leads there."""
        catalog = name.parts[0] if len(name.parts) == 2 else self.catalog
        database = name.parts[-1]
        known = self.catalog_of(catalog).databases()
        if database not in known and len(name.parts) == 1 and catalog == DEFAULT_CATALOG:
            on_server = self.catalog_of(SERVER_CATALOG).databases()
            catalog, known = (SERVER_CATALOG, on_server) if database in on_server else (catalog, known)
        if database not in known:
            near = get_close_matches(database, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}."
            raise ScriptError(name.place, f"there is no database '{name}'; {hint}")
        self.catalog, self.database = catalog, database

    # -- tables -------------------------------------------------------------------------------------------------------

    def find(self, parts: tuple[str, ...]) -> TableDefinition | View | None:
        """What a name stands for; None if it is nothing that a script knows."""
        if len(parts) > 3:
            return None
        full = self.full(parts)
        found = self.temporary.get(full) or self.views.get(full)
        if found is not None:
            return found
        for catalog, database, name in self._places(full, len(parts)):
            table = self._table(catalog, database, name)
            if table is not None:
                return table
        return None

    def _places(self, full: FullName, parts: int) -> Iterator[FullName]:
        """Where a name is looked for: a table of the script's server need not be said in full."""
        yield full
        catalog, database, name = full
        if catalog != DEFAULT_CATALOG or parts == 3 or self.catalogs.has(SERVER_CATALOG):
            return
        default = self.catalogs.catalog(DEFAULT_CATALOG)
        if parts == 2 and database not in default.databases():
            yield SERVER_CATALOG, database, name
        elif parts == 1 and database == default.default_database:
            yield SERVER_CATALOG, self.catalog_of(SERVER_CATALOG).default_database, name

    def _table(self, catalog: str, database: str, name: str) -> TableDefinition | None:
        if catalog != SERVER_CATALOG and not self.catalogs.has(catalog):
            return None
        return self.catalog_of(catalog).definition(database, name)

    def require(self, name: Name) -> TableDefinition | View:
        """What a name stands for; ScriptError if it is nothing."""
        found = self.find(name.parts)
        if found is None:
            raise ScriptError(name.place, self.unknown(name.parts))
        return found

    def require_table(self, name: Name) -> TableDefinition:
        """The table of a name; a view is refused."""
        found = self.require(name)
        if isinstance(found, View):
            raise ScriptError(name.place, f"{name} is a view; a table is needed here.")
        return found

    def unknown(self, parts: tuple[str, ...]) -> str:
        """The sentence for a name that is nothing."""
        catalog, database, name = self.full(parts)
        if catalog != SERVER_CATALOG and not self.catalogs.has(catalog):
            return f"there is no catalog '{catalog}'; there are {', '.join(self.catalogs.names())}."
        try:
            known = self.names(catalog, database)
        except LakewardError:
            return f"there is no table '{_text_of(parts)}', and no database {catalog}.{database}."
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else f" in {catalog}.{database}."
        return f"there is no table '{_text_of(parts)}'{hint}"

    def names(self, catalog: str, database: str) -> list[str]:
        """The tables and views of a database, temporary ones included."""
        own = [full[2] for full in (*self.temporary, *self.views) if full[:2] == (catalog, database)]
        return sorted({*own, *self.catalog_of(catalog).tables(database)})

    # -- rows ---------------------------------------------------------------------------------------------------------

    def source(self, definition: TableDefinition) -> Source:
        """A table to read."""
        return self.connectors.connector_of(definition).source(definition)

    def sink(self, definition: TableDefinition) -> Sink:
        """A table to write."""
        return self.connectors.connector_of(definition).sink(definition)

    def lookup(self, definition: TableDefinition) -> LookupHandle | None:
        """A table to look rows up in by key; None where that cannot be done."""
        connector = self.connectors.connector_of(definition)
        look_up = getattr(connector, "lookup", None)
        found = None if look_up is None else look_up(definition)
        assert found is None or isinstance(found, LookupHandle)
        return found


def _text_of(parts: tuple[str, ...]) -> str:
    return ".".join(parts)
