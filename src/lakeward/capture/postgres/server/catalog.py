"""Catalog: which tables there are, their columns and keys, as the server's own catalog says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lakeward.capture.port import SourceTable, TableId
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.native_types import TypeInfo, data_type
from lakeward.capture.postgres.server.server_settings import ServerSettings
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema

#: Identities under which an old row is told by its key, or whole.
DEFAULT, FULL = "d", "f"

_TABLES = """
SELECT c.oid, n.nspname, c.relname, c.relreplident, c.relpersistence, obj_description(c.oid, 'pg_class'),
       has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
ORDER BY n.nspname, c.relname
"""
_COLUMNS = """
SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attgenerated,
       format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
FROM pg_attribute a WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT i.indrelid, a.attname FROM pg_index i
CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indrelid = ANY(%s) AND i.indisprimary AND i.indimmediate AND k.place <= i.indnkeyatts
ORDER BY i.indrelid, k.place
"""
_TYPES = """
WITH RECURSIVE wanted(oid) AS (
    SELECT unnest(%s::oid[])
    UNION SELECT CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.typelem END
    FROM wanted w JOIN pg_type t USING (oid)
    WHERE t.typtype = 'd' OR t.typcategory = 'A'
)
SELECT t.oid, CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE 0 END, t.typtypmod,
       CASE WHEN t.typcategory = 'A' AND t.typtype = 'b' AND t.oid NOT IN (22, 30) AND e.typdelim = ',' THEN t.typelem
            ELSE 0 END
FROM wanted JOIN pg_type t USING (oid) LEFT JOIN pg_type e ON e.oid = t.typelem
"""


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """A table of the catalog. The ids of its columns are their numbers, which stay when a column is renamed."""

    oid: int
    table: SourceTable
    identity: str
    is_logged: bool = True
    is_readable: bool = True


class Catalog:
    """Asks the server; types that were seen are remembered, since a type keeps its number."""

    def __init__(self, settings: ServerSettings, session: Session) -> None:
        self._settings, self._session = settings, session
        self._types: dict[int, TypeInfo] = {}

    def tables(self) -> list[CatalogTable]:
        """The tables that the settings name."""
        rows = [r for r in self._session.rows(_TABLES) if self._settings.is_captured(TableId(r[1], r[2]))]
        oids = [row[0] for row in rows]
        columns: dict[int, list[tuple[Any, ...]]] = {oid: [] for oid in oids}
        for row in self._session.rows(_COLUMNS, [oids]):
            columns[row[0]].append(row)
        keys: dict[int, list[str]] = {oid: [] for oid in oids}
        for oid, name in self._session.rows(_KEYS, [oids]):
            keys[oid].append(name)
        self.learn_types(row[3] for found in columns.values() for row in found)
        with_generated = self._publishes_generated()
        return [self._table(row, columns[row[0]], keys[row[0]], with_generated) for row in rows]

    def learn_types(self, oids: Iterable[int]) -> None:
        """Look up types that are new to us."""
        new = sorted({oid for oid in oids if oid not in self._types})
        if new:
            self._types |= dict.fromkeys(new, TypeInfo(0))  # a type that is gone by now is text
            found = self._session.rows(_TYPES, [new])
            self._types |= {oid: TypeInfo(oid, base, modifier, element) for oid, base, modifier, element in found}

    def column_of(self, name: str, oid: int, modifier: int, number: int = -1) -> Column:
        """A column that the replication stream told of."""
        self.learn_types([oid])
        return Column(name, data_type(oid, modifier, self._types), number)

    def numbers(self, table: TableId) -> dict[int, str]:
        """The columns of a table now: the name by the number; empty if it is gone."""
        found = self._session.rows(
            "SELECT a.attnum, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n"
            " ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relname = %s AND attnum > 0 AND NOT attisdropped",
            [table.space, table.name],
        )
        return dict(found)

    def missing(self, tables: Sequence[TableId]) -> tuple[set[TableId], str]:
        """Tables that are gone, and an LSN that is not before they went."""
        there = self._session.rows(
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE c.relkind IN ('r', 'p') AND c.relname = ANY(%s)",
            [[table.name for table in tables]],
        )
        gone = set(tables) - {TableId(*row) for row in there}
        return gone, self._session.row("SELECT pg_current_wal_flush_lsn()::text")[0] if gone else "0/0"

    def _publishes_generated(self) -> bool:
        """Whether stored generated columns come with changes: only PostgreSQL 18 can, and only if it is told to."""
        if self._session.version < 180000:
            return False
        query = "SELECT pubgencols::text FROM pg_publication WHERE pubname = %s"
        found = self._session.rows(query, [self._settings.publication])
        return not found or found[0][0] == "s"

    def _table(self, row: tuple[Any, ...], columns: list[tuple[Any, ...]], key: list[str], gen: bool) -> CatalogTable:
        oid, space, name, identity, persistence, comment, readable = row
        kept = [c for c in columns if c[6] == "" or (c[6] == "s" and gen)]
        built, native = [], {}
        for _, number, column, type_oid, modifier, is_not_null, _, type_name, remark in kept:
            type_ = data_type(type_oid, modifier, self._types)
            built.append(Column(column, type_.not_null() if is_not_null else type_, number, remark))
            native[column] = type_name
        schema = Schema.of(built, key)
        table = SourceTable(TableId(space, name), schema, comment, native, identity == FULL)
        return CatalogTable(oid, table, identity, persistence == "p", bool(readable))


def refusal(found: CatalogTable, settings: ServerSettings) -> LakewardError | None:
    """Why a table cannot be captured, and what to run; None if it can."""
    id_, quoted = found.table.id, f'"{found.table.id.space}"."{found.table.id.name}"'
    if not found.is_readable:
        return ErrorCode.AUTHORIZATION.error(
            f"User '{settings.username}' may not read {id_}. Run as its owner: GRANT SELECT ON {quoted} TO"
            f' {settings.username}; GRANT USAGE ON SCHEMA "{id_.space}" TO {settings.username}.'
        )
    if not found.is_logged:
        return ErrorCode.INVALID_TABLE.error(
            f"The table {id_} is UNLOGGED, so PostgreSQL writes no changes of it. Run ALTER TABLE {quoted} SET LOGGED,"
            " or leave it out with 'tables.exclude'."
        )
    if found.identity == FULL or (found.identity == DEFAULT and found.table.schema.primary_key):
        return None
    why = {
        DEFAULT: "has no primary key",
        "n": "has REPLICA IDENTITY NOTHING",
        "i": "has an index as its REPLICA IDENTITY",
    }[found.identity]
    return ErrorCode.INVALID_TABLE.error(
        f"The table {id_} {why}, so that the log does not say which row an update or a delete was of. Run ALTER TABLE"
        f" {quoted} REPLICA IDENTITY FULL, or leave it out with 'tables.exclude'."
    )
