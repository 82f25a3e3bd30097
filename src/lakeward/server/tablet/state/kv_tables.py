"""KvTables: what state must know of its tables, read once per change of a table's definition."""

from __future__ import annotations

from lakeward.errors import ErrorCode
from lakeward.server.catalog.catalog import Catalog
from lakeward.storage.kv.kv_table import KvTable


class KvTables:
    """The catalog's tables as state takes them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._tables: dict[int, KvTable] = {}

    def get(self, table_id: int) -> KvTable:
        """What a table's definition says now."""
        table = self._catalog.table_by_id(table_id)
        if table is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"Table {table_id} has been dropped.")
        found = self._tables.get(table_id)
        if found is None or found.info is not table:
            found = KvTable.of(table, lambda schema_id: self._catalog.schema(table_id, schema_id))
            self._tables[table_id] = found
        return found
