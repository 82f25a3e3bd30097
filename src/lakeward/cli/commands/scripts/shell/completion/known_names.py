"""KnownNames: the names that a script knows now, for completion; what cannot be learnt is not offered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakeward.language.functions import FUNCTIONS
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.options.kinds import BOOL
from lakeward.options.option import Option, OptionTable
from lakeward.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from lakeward.spark.scripts.script import Script
    from lakeward.spark.scripts.state.script_tables import ScriptTables

#: How long a list of names of a server is believed.
_FRESH_S = 3.0
_ONE_OF = "one of "


class KnownNames:
    """Asks the script, and through it the servers of its catalogs."""

    def __init__(self, script: Callable[[], Script], clock: Clock | None = None) -> None:
        self._script = script
        self._clock = clock or SystemClock()
        self._kept: dict[tuple[str, ...], tuple[float, Sequence[str]]] = {}

    def catalogs(self) -> Sequence[str]:
        """Catalogs of the script, and the one of its server."""
        return self._ask(("catalogs",), lambda: [*self._tables().catalogs.names(), "fluss"])

    def databases(self, catalog: str | None = None) -> Sequence[str]:
        """Databases of a catalog."""
        tables = self._tables()
        name = catalog or tables.catalog
        return self._ask(("databases", name), lambda: tables.catalog_of(name).databases())

    def tables(self, path: tuple[str, ...] = ()) -> Sequence[str]:
        """Tables and views of a database, which a path names; of the current one without."""
        tables = self._tables()
        catalog, database, _ = tables.full((*path, ""))
        return self._ask(("tables", catalog, database), lambda: tables.names(catalog, database)) or self._ask(
            ("tables", "fluss", database), lambda: tables.names("fluss", database)
        )

    def columns(self, table: tuple[str, ...]) -> Sequence[str]:
        """Columns of a table or view."""

        def find() -> Sequence[str]:
            found = self._tables().find(table)
            if found is None:
                return ()
            if isinstance(found, TableDefinition):
                return [column.name for column in found.columns]
            return found.columns or [name for name in found.query.named_selects if name != "*"]

        return self._ask(("columns", *table), find)

    def functions(self) -> Sequence[str]:
        """Functions of the language."""
        return sorted(name for name in FUNCTIONS if name.isidentifier())

    def jobs(self) -> Sequence[str]:
        """Jobs that run here."""
        return [job.name for job in self._script().jobs.running]

    def settings(self) -> OptionTable:
        """What SET can say."""
        from lakeward.spark.scripts.state.script_settings import SCRIPT_OPTIONS

        return SCRIPT_OPTIONS

    def connectors(self) -> Sequence[str]:
        """The values of 'connector'."""
        from lakeward.spark.scripts.connectors.registry import known_names

        return known_names()

    def catalog_types(self) -> Sequence[str]:
        """The values of 'type'."""
        from lakeward.spark.scripts.catalogs.catalogs import CATALOG_TYPES

        return list(CATALOG_TYPES)

    def options_of_connector(self, name: str) -> OptionTable | None:
        """The options of a connector."""
        found = [one for one in self._tables().connectors.all() if one.name == name]
        return found[0].options if found else None

    def options_of_catalog(self, kind: str) -> OptionTable | None:
        """The options of a type of catalogs."""
        from lakeward.spark.scripts.catalogs.catalogs import CATALOG_TYPES

        return CATALOG_TYPES.get(kind)

    def connector_of(self, table: tuple[str, ...]) -> str:
        """The connector of a table."""
        found = self._tables().find(table)
        return found.options.get("connector", "fluss") if isinstance(found, TableDefinition) else ""

    def _tables(self) -> ScriptTables:
        return self._script().tables

    def _ask(self, key: tuple[str, ...], ask: Callable[[], Sequence[str]]) -> Sequence[str]:
        now_s = self._clock.monotonic()
        if key in self._kept and now_s - self._kept[key][0] < _FRESH_S:
            return self._kept[key][1]
        try:
            found = list(dict.fromkeys(ask()))
        except Exception:  # noqa: BLE001 - without an answer there is nothing to offer, and nobody to tell
            found = []
        self._kept[key] = self._clock.monotonic(), found
        return found


def values_of(option: Option[object]) -> list[str]:
    """The words that an option takes, where they are few."""
    if option.kind is BOOL:
        return ["true", "false"]
    kind = option.kind.name
    return kind.removeprefix(_ONE_OF).split(", ") if kind.startswith(_ONE_OF) else []
