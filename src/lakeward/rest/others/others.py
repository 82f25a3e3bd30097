"""Others: tables of the lake that the cluster does not know. Who may see them, which names are theirs, what they do.

The cluster's grants say nothing of these tables. Where it asks for logins, they are for the users that the catalog was
told of, and for nobody else. A name that the cluster has, or will not talk about, is never theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.lake.iceberg.others.other_changes import OtherChanges
from lakeward.lake.iceberg.others.other_errors import OtherError, Trouble
from lakeward.lake.iceberg.others.other_tables import OtherTable, OtherTables
from lakeward.rest.others.requests import name_given, namespace_given, table_given, texts_given
from lakeward.rest.protocol.failures import RestError, bad_request, forbidden, no_such_operation, rest_error
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.secret_text import reveal_secrets

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

_ANSWERS = {
    Trouble.NO_NAMESPACE: (404, "NoSuchNamespaceException"),
    Trouble.NO_TABLE: (404, "NoSuchTableException"),
    Trouble.EXISTS: (409, "AlreadyExistsException"),
    Trouble.NOT_EMPTY: (409, "NamespaceNotEmptyException"),
    Trouble.OUTDATED: (409, "CommitFailedException"),
    Trouble.WRONG: (400, "BadRequestException"),
    Trouble.NOT_DONE: (406, "UnsupportedOperationException"),
}
_TABLES_MAX = 100
_LOCATION = "location"


class Others:
    """Safe to be shared by threads."""

    def __init__(self, lake: Mapping[str, str], users: frozenset[str], entropy: Entropy, *, writes: bool) -> None:
        """`users` are those who may, where the cluster asks for a login."""
        self._lake = dict(lake)
        self._users = users
        self._entropy = entropy
        self.writes = writes
        self._opening = Lock()
        self._opened: tuple[OtherTables, OtherChanges] | None = None

    def are_for(self, conn: Connection) -> bool:
        """Whether this person may see them."""
        login = conn.inner.security.login
        return login is None or login.user in self._users

    # -- looking ------------------------------------------------------------------------------------------------------

    def namespaces(self, conn: Connection) -> list[str]:
        """Those of the lake."""
        if not self.are_for(conn):
            return []
        with _in_protocol_words():
            return self._tables.namespaces()

    def properties(self, conn: Connection, namespace: str) -> dict[str, str]:
        """Those of a namespace, and where its tables lie, for writers that choose a folder themselves: Trino does."""
        if not self.are_for(conn):
            return {}
        with _in_protocol_words():
            known = self._tables.namespace(namespace) if namespace in self._tables.namespaces() else {}
            return {**known, _LOCATION: self._tables.folder(namespace)}

    def tables(self, conn: Connection, namespace: str) -> list[str]:
        """Names of a namespace that are not the cluster's."""
        if not self.are_for(conn):
            return []
        try:
            ours = set(conn.tables(namespace))
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.DATABASE_NOT_EXIST and not isinstance(wrong, InvalidError):
                raise
            ours = set()
        with _in_protocol_words():
            return [name for name in self._tables.tables(namespace) if name not in ours]

    def load(self, conn: Connection, namespace: str, name: str) -> OtherTable:
        """A table that the cluster does not know."""
        self._check_person(conn)
        with _in_protocol_words():
            return self._tables.load(namespace, name)

    # -- changing -----------------------------------------------------------------------------------------------------

    def create_namespace(self, conn: Connection, told: Mapping[str, Any]) -> dict[str, Any]:
        """Make a namespace."""
        self._check_writer(conn)
        name, properties = namespace_given(told.get("namespace")), texts_given(told.get("properties"))
        if name in conn.databases():
            raise RestError(409, "AlreadyExistsException", f"{name} is a database of the cluster.")
        with _in_protocol_words():
            self._check_location(name, properties)
            self._tables.create_namespace(name, {k: v for k, v in properties.items() if k != _LOCATION})
        return {"namespace": [name], "properties": properties}

    def drop_namespace(self, conn: Connection, name: str) -> None:
        """Remove an empty namespace."""
        self._check_writer(conn)
        if name in conn.databases():
            raise forbidden(f"{name} is a database of the cluster: it is dropped there.")
        with _in_protocol_words():
            self._tables.drop_namespace(name)

    def change_namespace(self, conn: Connection, name: str, told: Mapping[str, Any]) -> dict[str, list[str]]:
        """Set and remove properties."""
        self._check_writer(conn)
        removals = told.get("removals") or []
        if not isinstance(removals, list) or not all(isinstance(key, str) for key in removals):
            raise bad_request("removals are names of properties.")
        updates = texts_given(told.get("updates"))
        with _in_protocol_words():
            self._check_location(name, updates)
            return self._tables.change_namespace(name, removals, updates)

    def create(self, conn: Connection, namespace: str, told: Mapping[str, Any]) -> OtherTable:
        """Make a table, or say what it would be."""
        self._check_writer(conn)
        name = name_given(told.get("name"), "table")
        self._check_theirs(conn, namespace, name)
        self._ensure_namespace(conn, namespace)
        with _in_protocol_words():
            return self._changes.create(namespace, told)

    def commit(self, conn: Connection, namespace: str, name: str, told: Mapping[str, Any]) -> OtherTable:
        """Change a table, or create one that was staged."""
        self._check_writer(conn)
        self._check_theirs(conn, namespace, name)
        with _in_protocol_words():
            return self._changes.commit(namespace, name, told)

    def commit_all(self, conn: Connection, told: Mapping[str, Any]) -> None:
        """Change tables in one step."""
        self._check_writer(conn)
        changes = told.get("table-changes")
        if not isinstance(changes, list) or not changes or len(changes) > _TABLES_MAX:
            raise bad_request(f"table-changes are 1 to {_TABLES_MAX} changes of tables.")
        asked = []
        for change in changes:
            if not isinstance(change, dict):
                raise bad_request("A change of a table is an object.")
            namespace, name = table_given(change.get("identifier"))
            self._check_theirs(conn, namespace, name)
            asked.append((namespace, name, change))
        with _in_protocol_words():
            self._changes.commit_all(asked)

    def drop(self, conn: Connection, namespace: str, name: str, *, purges: bool) -> None:
        """Forget a table, or remove it with its files."""
        self._check_writer(conn)
        self._check_theirs(conn, namespace, name)
        with _in_protocol_words():
            self._tables.drop(namespace, name, purges=purges)

    def rename(self, conn: Connection, told: Mapping[str, Any]) -> None:
        """Give a table another name."""
        self._check_writer(conn)
        old, new = table_given(told.get("source")), table_given(told.get("destination"))
        for name in (old, new):
            self._check_theirs(conn, *name)
        self._ensure_namespace(conn, new[0])
        with _in_protocol_words():
            self._tables.rename(old, new)

    # -- who, and what ------------------------------------------------------------------------------------------------

    def _check_person(self, conn: Connection) -> None:
        if not self.are_for(conn):
            raise forbidden("Tables that the cluster does not know are for users whom the catalog was told of: --for.")

    def _check_writer(self, conn: Connection) -> None:
        if not self.writes:
            raise no_such_operation("This catalog changes nothing: it was not started with --others write.")
        self._check_person(conn)

    def _check_theirs(self, conn: Connection, namespace: str, name: str) -> None:
        """Refuse what the cluster has, or does not talk about to them."""
        try:
            conn.table(f"{namespace}.{name}")
        except LakewardError as wrong:
            absent = (ErrorCode.TABLE_NOT_EXIST, ErrorCode.DATABASE_NOT_EXIST)
            if wrong.code in absent or isinstance(wrong, InvalidError):  # a name that the cluster cannot have
                return
            raise rest_error(wrong) from wrong
        raise forbidden(
            f"{namespace}.{name} is a table of the cluster and cannot be changed here: write rows to the cluster."
        )

    def _check_location(self, namespace: str, properties: Mapping[str, str]) -> None:
        """Refuse a folder that the namespace does not have."""
        folder = self._tables.folder(namespace)
        if properties.get(_LOCATION, folder).rstrip("/") != folder:
            raise bad_request(
                f"Tables of {namespace} lie in {folder}, and not in {properties[_LOCATION]}: leave the location out."
            )

    def _ensure_namespace(self, conn: Connection, name: str) -> None:
        """A database of the cluster is a namespace of the lake as soon as somebody else has a table in it."""
        with _in_protocol_words():
            if name in self._tables.namespaces() or name not in conn.databases():
                self._tables.namespace(name)
            else:
                self._tables.create_namespace(name, {})

    @property
    def _tables(self) -> OtherTables:
        return self._open()[0]

    @property
    def _changes(self) -> OtherChanges:
        return self._open()[1]

    def _open(self) -> tuple[OtherTables, OtherChanges]:
        with self._opening:
            if self._opened is None:
                tables = OtherTables(reveal_secrets(self._lake))
                self._opened = tables, OtherChanges(tables, self._entropy)
            return self._opened


@contextmanager
def _in_protocol_words() -> Iterator[None]:
    try:
        yield
    except OtherError as wrong:
        raise RestError(*_ANSWERS[wrong.trouble], wrong.message) from wrong
