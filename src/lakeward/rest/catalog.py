"""RestCatalog: namespaces and tables of a cluster in the protocol's words. It blocks; who asks brings a connection."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.lake.catalog_of import catalog_of, format_name
from lakeward.lake.iceberg.catalog import IcebergCatalog
from lakeward.lake.iceberg.others.other_tables import OtherTable
from lakeward.options.spark import LAKE_PREFIX
from lakeward.options.table import LAKE_ENABLED
from lakeward.rest.now.now_table import NowSettings
from lakeward.rest.now.now_tables import NowTables
from lakeward.rest.others.others import Others
from lakeward.rest.protocol.failures import no_namespace, no_such_operation, no_table, rest_error
from lakeward.rest.protocol.names import NOW, Namespace, TableName
from lakeward.rest.protocol.paging import page_of
from lakeward.rest.tables.loaded import Loaded
from lakeward.rest.tables.vended import Vending
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection
    from lakeward.client.blocking.sync_table import Table

_log = logging.getLogger(__name__)


class RestCatalog:
    """What readers see; safe to be shared by threads."""

    def __init__(
        self, lake: Mapping[str, str], now: NowSettings, clock: Clock, entropy: Entropy, others: Others | None = None
    ) -> None:
        self._lake = dict(lake)
        #: Tables of the lake that the cluster does not know, where those are served as well.
        self.others = others
        self._vending = Vending(lake, clock)
        self.now = NowTables(clock, entropy, now, {LAKE_PREFIX + key: value for key, value in lake.items()})

    # -- namespaces ---------------------------------------------------------------------------------------------------

    def namespaces(self, conn: Connection, parent: Namespace | None) -> list[list[str]]:
        """The namespaces below another: databases, and `now`, which has them once more."""
        if parent is None:
            theirs = [] if self.others is None else self.others.namespaces(conn)
            return [[name] for name in sorted({*conn.databases(), *theirs, NOW})]
        if parent.is_now and parent.database is None:
            return [[NOW, name] for name in conn.databases()]
        self.check_namespace(conn, parent)
        return []

    def check_namespace(self, conn: Connection, namespace: Namespace) -> None:
        """Refuse a namespace that is not there."""
        name = namespace.database
        if name is None or name in conn.databases() or _tables_of(conn, name):
            return
        if self.others is None or namespace.is_now or name not in self.others.namespaces(conn):
            raise no_namespace(str(namespace))

    def properties(self, conn: Connection, namespace: Namespace) -> dict[str, str]:
        """Properties of a namespace, which only others give to theirs."""
        if self.others is None or namespace.is_now or namespace.database is None:
            return {}
        return self.others.properties(conn, namespace.database)

    def tables(self, conn: Connection, namespace: Namespace, query: Mapping[str, str]) -> tuple[list[str], str | None]:
        """A page of tables that are in this catalog, and the token of the next; tables of one page are looked at."""
        self.check_namespace(conn, namespace)
        if namespace.database is None:
            return [], None
        ours = _tables_of(conn, namespace.database)
        theirs = [] if self.others is None or namespace.is_now else self.others.tables(conn, namespace.database)
        page, token = page_of([*ours, *theirs], query)
        return [name for name in page if name not in ours or self._is_listed(conn, namespace, name)], token

    def _is_listed(self, conn: Connection, namespace: Namespace, name: str) -> bool:
        try:
            table = conn.table(f"{namespace.database}.{name}")
        except LakewardError as wrong:
            if wrong.code in (ErrorCode.TABLE_NOT_EXIST, ErrorCode.AUTHORIZATION):
                return False
            raise
        if not LAKE_ENABLED.read(table.info.descriptor.properties) or format_name(table.info) != "iceberg":
            return False
        return namespace.is_now or conn.lake.snapshot(table.path) is not None

    def clear(self, conn: Connection) -> None:
        """Remove what servers of before have left of all tables as they were then; what fails is left for later."""
        for database in conn.databases():
            for name in conn.tables(database):
                try:
                    if not self._is_listed(conn, Namespace(database), name):
                        continue
                    self.now.clear(conn.table(f"{database}.{name}").info, self._lake)
                except (LakewardError, OSError) as wrong:
                    _log.warning("Old files of %s.%s stay where they are: %s", database, name, wrong)

    # -- tables -------------------------------------------------------------------------------------------------------

    def load(self, conn: Connection, name: TableName, *, vends: bool = False) -> Loaded:
        """A table for who may read it; `vends`: with keys to its files, where there are any to give."""
        table = self._readable(conn, name)
        if table is None:
            return self._with_own_keys(self.theirs.load(conn, name.database, name.table), vends=vends)
        if name.is_now:
            made = self.now.load(conn, table)
            return self._with_keys(made.table_location, made.metadata_location, made.metadata_json, vends=vends)
        found = self._committed_table(conn, name, table)
        location, text = found.metadata_location, found.metadata.model_dump_json()
        return self._with_keys(found.location(), location, text, vends=vends)

    def _with_keys(self, folder: str, location: str, text: str, *, vends: bool) -> Loaded:
        config = self._vending.config(folder)
        if not vends:
            return Loaded(location, text, config)
        return Loaded(location, text, config | self._vending.keys(folder), self._vending.storage_credentials(folder))

    def _with_own_keys(self, made: OtherTable, *, vends: bool) -> Loaded:
        """With keys that write, where its owners may."""
        config = self._vending.config(made.location)
        if not vends:
            return Loaded(made.metadata_location, made.metadata_json, config)
        writes = self.theirs.writes
        keys = self._vending.keys(made.location, writes=writes)
        listed = self._vending.storage_credentials(made.location, writes=writes)
        return Loaded(made.metadata_location, made.metadata_json, config | keys, listed)

    @property
    def theirs(self) -> Others:
        """Tables of others, where they are served."""
        if self.others is None:
            raise no_such_operation(
                "This catalog serves tables of the cluster alone: it was not started with --others."
            )
        return self.others

    def create(self, conn: Connection, namespace: str, told: Mapping[str, Any], *, vends: bool) -> Loaded:
        """A table of others, made or staged."""
        return self._with_own_keys(self.theirs.create(conn, namespace, told), vends=vends)

    def commit(self, conn: Connection, name: TableName, told: Mapping[str, Any]) -> Loaded:
        """A table of others, changed."""
        made = self.theirs.commit(conn, name.database, name.table, told)
        return Loaded(made.metadata_location, made.metadata_json)

    def check_table(self, conn: Connection, name: TableName) -> None:
        """Refuse a table that is not there, or not for them; nothing is made by looking."""
        table = self._readable(conn, name)
        if table is None:
            self.theirs.load(conn, name.database, name.table)
        elif not name.is_now:
            self._committed_table(conn, name, table)

    def _readable(self, conn: Connection, name: TableName) -> Table | None:
        """The table; the cluster is asked whether this person may read it, since files are read past it.

        None where it is not the cluster's, and perhaps somebody else's.
        """
        try:
            table = conn.table(name.path)
            if conn.inner.security.login is not None:
                table.check_right()
        except LakewardError as wrong:
            absent = wrong.code in (ErrorCode.TABLE_NOT_EXIST, ErrorCode.DATABASE_NOT_EXIST)
            if (absent or isinstance(wrong, InvalidError)) and self.others is not None and not name.is_now:
                return None
            if absent:
                # Whichever it is: readers take the last part of a name for one of Iceberg's tables about a table only
                # when they are told that there is no such table.
                raise no_table(name) from wrong
            raise rest_error(wrong) from wrong
        if not LAKE_ENABLED.read(table.info.descriptor.properties):
            raise no_table(name, "it is not tiered: table.datalake.enabled is not set")
        used = format_name(table.info)
        if used != "iceberg":
            raise no_table(name, f"its lake's format is {used}, and this is a catalog of Iceberg tables")
        return table

    def _committed_table(self, conn: Connection, name: TableName, table: Table) -> Any:
        """The table as pyiceberg has it; what an earlier table of its name has left in the lake is not it."""
        catalog = catalog_of(table.info, self._lake)
        assert isinstance(catalog, IcebergCatalog)
        found = catalog.pyiceberg_table(table.path)
        if found is None or conn.lake.snapshot(table.path) is None:
            raise no_table(name, f"nothing of it is in the lake yet; {name}$now has what is hot")
        return found


def _tables_of(conn: Connection, database: str) -> set[str]:
    """Tables that somebody may know of; their right to read one need not tell them of its database."""
    try:
        return set(conn.tables(database))
    except LakewardError as wrong:
        if wrong.code in (ErrorCode.DATABASE_NOT_EXIST, ErrorCode.AUTHORIZATION) or isinstance(wrong, InvalidError):
            return set()
        raise
