"""NowTables: the tables that somebody reads as they are now. What nobody can read any more is removed."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

from lakeward.lake.catalog_of import catalog_of
from lakeward.lake.iceberg.catalog import IcebergCatalog
from lakeward.lake.iceberg.now.kept_keys import KeptKeys
from lakeward.lake.iceberg.now.now_area import NowArea
from lakeward.lake.iceberg.now.now_snapshot import NowSnapshot
from lakeward.model.table import TableInfo, TablePath
from lakeward.rest.now.now_table import NowSettings, NowTable, clear_area
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table


class NowTables:
    """Made when they are asked for; one that nobody asks for any more is an empty shell."""

    def __init__(self, clock: Clock, entropy: Entropy, settings: NowSettings, options: Mapping[str, str]) -> None:
        """`options` are those of a read: where the lake is."""
        self._clock = clock
        self._entropy = entropy
        self.settings = settings
        self._options = dict(options)
        #: Files of other servers, and of earlier lives of this one, are in other folders.
        self.writer = str(entropy.uuid())
        self._lock = Lock()
        self._kept = KeptKeys(settings.keys_bytes)
        self._tables: dict[tuple[TablePath, int], NowTable] = {}

    def load(self, conn: Connection, table: Table) -> NowSnapshot:
        """A table as it is now."""
        key = table.path, table.info.table_id
        with self._lock:
            found = self._tables.get(key)
            if found is None:
                found = self._tables[key] = NowTable(
                    self._clock, self._entropy, self.settings, self.writer, self._options, self._kept
                )
        return found.load(conn, table)

    def clear(self, info: TableInfo, lake: Mapping[str, str]) -> None:
        """Remove what servers have left of a table that are no more."""
        catalog = catalog_of(info, lake)
        table = catalog.pyiceberg_table(info.path) if isinstance(catalog, IcebergCatalog) else None
        if table is not None:
            clear_area(NowArea(table.location(), self.writer, table.io), self._clock.now_ms(), self.settings)

    def sweep(self) -> bool:
        """Remove what nobody can read any more; whether anything is left."""
        with self._lock:
            tables = list(self._tables.values())
        left = [table.sweep() for table in tables]
        return any(left)
