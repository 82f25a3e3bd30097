"""Catalogs: those of a script by name, and what CREATE CATALOG makes, by 'type'."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.statement import Options
from lakeward.options.option import OptionTable
from lakeward.spark.scripts.catalogs import catalog_options, fluss_catalog, memory_catalog
from lakeward.spark.scripts.catalogs.fluss_catalog import FlussCatalog
from lakeward.spark.scripts.catalogs.lake_catalog import ICEBERG, PAIMON, LakeCatalog
from lakeward.spark.scripts.catalogs.memory_catalog import MemoryCatalog
from lakeward.spark.scripts.catalogs.port import Catalog
from lakeward.spark.scripts.connectors.port import Surroundings
from lakeward.spark.scripts.connectors.registry import Connectors

DEFAULT_CATALOG, DEFAULT_DATABASE = "default_catalog", "default_database"

#: The types of catalogs, and the rows of their options.
CATALOG_TYPES: dict[str, OptionTable] = {
    fluss_catalog.KIND: catalog_options.FLUSS,
    memory_catalog.KIND: catalog_options.MEMORY,
    ICEBERG: catalog_options.LAKE,
    PAIMON: catalog_options.LAKE,
}


class Catalogs:
    """The catalogs of one script; `default_catalog` is there from the start."""

    def __init__(self, surroundings: Surroundings, connectors: Connectors) -> None:
        self._surroundings = surroundings
        self._connectors = connectors
        self._found: dict[str, Catalog] = {
            DEFAULT_CATALOG: MemoryCatalog(DEFAULT_CATALOG, DEFAULT_DATABASE, connectors)
        }
        self._told: dict[str, Options] = {}

    def names(self) -> list[str]:
        """Their names, sorted."""
        return sorted(self._found)

    def catalog(self, name: str) -> Catalog:
        """The catalog of that name."""
        if name not in self._found:
            close = difflib.get_close_matches(name, self._found, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else f"; there are {', '.join(self.names())}."
            raise ErrorCode.INVALID_CONFIG.error(f"There is no catalog '{name}'{hint}")
        return self._found[name]

    def options(self, name: str) -> dict[str, str]:
        """What CREATE CATALOG said, the type first; secrets among it."""
        return {catalog_options.TYPE: self.catalog(name).kind, **self._told.get(name, {})}

    def has(self, name: str) -> bool:
        """Whether there is a catalog of that name."""
        return name in self._found

    def create(self, name: str, options: Options, *, exist_ok: bool = False) -> Catalog:
        """CREATE CATALOG; one that is there already, with the same type and in memory, is taken as it is."""
        kind = _kind(name, options)
        known = self._found.get(name)
        if known is not None:
            if exist_ok or known.kind == kind == memory_catalog.KIND:
                return known
            raise ErrorCode.INVALID_CONFIG.error(
                f"The catalog '{name}' is there already; DROP CATALOG it first, or write IF NOT EXISTS."
            )
        told = {key: value for key, value in options.items() if key != catalog_options.TYPE}
        _check(name, kind, told)
        self._found[name] = self._makers()[kind](name, told)
        self._told[name] = told
        return self._found[name]

    def drop(self, name: str, *, missing_ok: bool = False) -> None:
        """DROP CATALOG: the script forgets it; what is on a cluster or in a lake stays."""
        if name == DEFAULT_CATALOG:
            raise ErrorCode.INVALID_CONFIG.error(f"The catalog '{name}' is always there.")
        if missing_ok and name not in self._found:
            return
        self.catalog(name)
        del self._found[name]
        self._told.pop(name, None)

    def _makers(self) -> dict[str, Callable[[str, Options], Catalog]]:
        return {
            fluss_catalog.KIND: lambda name, options: FlussCatalog(name, options, self._surroundings),
            memory_catalog.KIND: lambda name, options: MemoryCatalog(
                name, catalog_options.MEMORY_DATABASE.read(options), self._connectors
            ),
            ICEBERG: lambda name, options: LakeCatalog(name, ICEBERG, options),
            PAIMON: lambda name, options: LakeCatalog(name, PAIMON, options),
        }


def _kind(name: str, options: Options) -> str:
    kind = options.get(catalog_options.TYPE)
    known = ", ".join(CATALOG_TYPES)
    if kind is None:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The catalog '{name}' has no '{catalog_options.TYPE}'; there are {known}."
        )
    if kind not in CATALOG_TYPES:
        close = difflib.get_close_matches(kind, CATALOG_TYPES, n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        raise ErrorCode.INVALID_CONFIG.error(f"There is no type of catalog '{kind}'; {hint}There are {known}.")
    return kind


def _check(name: str, kind: str, options: Options) -> None:
    rows = CATALOG_TYPES[kind]
    for key, value in options.items():
        if key in rows.rows:
            rows.rows[key].parse(value)
        elif not rows.is_open(key):
            raise _unknown(name, kind, key)


def _unknown(name: str, kind: str, key: str) -> LakewardError:
    return ErrorCode.INVALID_CONFIG.error(
        f"The catalog '{name}': '{key[:120]}' is not an option of the type '{kind}'.{CATALOG_TYPES[kind].nearest(key)}"
    )
