"""Every type × what writes and reads it: the same, or refused with a reason. Prints docs/reference/types.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from lake_tables import pyiceberg_table
from query_reads import read
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from type_matrix import Case, Found, check_page, groups, names_of, schema_of, table_of

import lakeward

pytestmark = pytest.mark.slow


class _Tables:
    """A log table and a primary key table of some cases, in a lake of one format."""

    def __init__(self, lake: Warehouse, cases: list[Case], name: str, format_: str) -> None:
        self._lake = lake
        self._cases = cases
        self._format = format_
        properties = {**TIERED, "table.datalake.format": format_}
        make, columns = lake.conn.create_table, schema_of(cases)
        self.log = make(f"{name}_log", columns, buckets=1, properties=properties)
        self.keyed = make(f"{name}_keyed", columns, primary_key=["id"], buckets=1, properties=properties)
        self._options = {"lake.warehouse": str(lake.directory)}

    def append(self) -> pa.Table:
        """Rows through a log table."""
        self.log.append(table_of(self._cases))
        return self.union(self.log)

    def upsert(self) -> pa.Table:
        """Rows through a primary key table."""
        self.keyed.upsert(table_of(self._cases))
        return self.union(self.keyed)

    def union(self, table: lakeward.Table) -> pa.Table:
        """What a union read sees."""
        return read(self._lake.conn, str(table.path), options=self._options)

    def duckdb(self, table: lakeward.Table) -> pa.Table:
        """What SQL sees."""
        return self._lake.conn.sql(f"SELECT * FROM {table.path}", self._options)

    def tiered(self, table: lakeward.Table) -> pa.Table:
        """The same after a round."""
        self._lake.round(table)
        return self.union(table)

    def iceberg(self, table: lakeward.Table) -> pa.Table:
        """What a reader that never heard of us sees."""
        found: pa.Table = pyiceberg_table(self._lake.directory, str(table.path)).scan().to_arrow()
        return found.select(names_of(self._cases))

    def measure(self, found: Found, table: lakeward.Table, place: str, write: Callable[[], pa.Table]) -> None:
        """Write to a table, read it hot, tier it and read it cold."""
        cases, format_ = self._cases, self._format
        if not found.measure(cases, place, write):
            return
        found.measure(cases, "DuckDB", lambda: self.duckdb(table))
        if not found.measure(cases, format_.capitalize(), lambda: self.tiered(table)):
            return
        found.measure(cases, "DuckDB", lambda: self.duckdb(table))
        if format_ == "iceberg":
            found.measure(cases, "pyiceberg", lambda: self.iceberg(table))


def test_types_are_the_same_everywhere_or_refused(server: ServerProcess, database: str, tmp_path: Path) -> None:
    """The page of types is true."""
    found = Found()
    lake = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    try:
        for number, cases in enumerate(groups()):
            for format_ in ("iceberg", "paimon"):
                tables = _Tables(lake, cases, f"{database}.g{number}_{format_}", format_)
                tables.measure(found, tables.log, "append", tables.append)
                tables.measure(found, tables.keyed, "upsert", tables.upsert)
    finally:
        lake.close()
    check_page(found.cells, ("append", "upsert", "Iceberg", "Paimon", "DuckDB", "pyiceberg"))
