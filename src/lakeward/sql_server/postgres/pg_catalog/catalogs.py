"""PgCatalogs: questions about what tables there are, each as its user may know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from lakeward.query.duckdb.question.closed_rows import ClosedRows
from lakeward.runtime.clock import Clock
from lakeward.sql_server.access.accounts import Member
from lakeward.sql_server.postgres.pg_catalog.macros import statements
from lakeward.sql_server.postgres.pg_catalog.tables import catalog_tables
from lakeward.sql_server.work.listing import list_tables

_KEPT_MAX = 16
#: How old a listing may be: tools ask a dozen questions about one table in a row.
_FRESH_S = 2.0


@dataclass(slots=True)
class _Kept:
    rows: ClosedRows
    made_s: float


class PgCatalogs:
    """Catalogs of those who asked last. Safe to share between threads."""

    def __init__(self, clock: Clock, settings: Mapping[str, str]) -> None:
        self._clock = clock
        self._settings = settings
        self._lock = Lock()
        self._kept: dict[tuple[int, str, str], _Kept] = {}

    def of(self, member: Member, user: str, database: str) -> ClosedRows:
        """The catalog for somebody, as it is now or was a moment ago."""
        key = id(member), user, database
        with self._lock:
            found = self._kept.get(key)
            if found is not None and self._clock.monotonic() - found.made_s < _FRESH_S:
                return found.rows
        infos = list_tables(member.conn, lambda _database, _table: True, database)
        databases = dict.fromkeys([*member.conn.databases(), *(info.path.database for info in infos)])
        made = ClosedRows(catalog_tables(infos, list(databases), user, database, self._settings), statements())
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = _Kept(made, self._clock.monotonic())
            while len(self._kept) > _KEPT_MAX:
                self._kept.pop(next(iter(self._kept)))
        return made
