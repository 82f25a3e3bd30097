"""Create, alter and drop databases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakeward.errors import ErrorCode
from lakeward.model import names
from lakeward.model.json_form import DatabaseDescriptor
from lakeward.runtime.clock import Clock
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.catalog.database import DatabaseInfo
from lakeward.server.coordinator.tables.alteration import Alteration, apply_alteration

DEFAULT_DATABASE = "fluss"


class DatabaseAdmin:
    """What may be done to databases."""

    def __init__(self, catalog: Catalog, clock: Clock) -> None:
        self._catalog = catalog
        self._clock = clock

    def get(self, name: str) -> DatabaseInfo:
        """The database, or DATABASE_NOT_EXIST."""
        database = self._catalog.database(name)
        if database is None:
            raise ErrorCode.DATABASE_NOT_EXIST.error(f"Database {name[: names.NAME_LENGTH_MAX]} does not exist.")
        return database

    def create(self, name: str, descriptor: DatabaseDescriptor, *, ignore_if_exists: bool) -> None:
        """A new database."""
        names.check_database(name)
        if self._catalog.database(name) is not None:
            if ignore_if_exists:
                return
            raise ErrorCode.DATABASE_ALREADY_EXIST.error(f"Database {name} already exists.")
        now_ms = self._clock.now_ms()
        self._catalog.put_database(DatabaseInfo(name, descriptor, now_ms, now_ms))

    def alter(
        self, name: str, alterations: Iterable[Alteration], comment: str | None, *, ignore_if_not_exists: bool
    ) -> None:
        """Change custom properties and the comment; an empty comment removes it."""
        database = self._catalog.database(name)
        if database is None:
            if ignore_if_not_exists:
                return
            raise ErrorCode.DATABASE_NOT_EXIST.error(f"Database {name[: names.NAME_LENGTH_MAX]} not exists.")
        properties = dict(database.descriptor.custom_properties)
        for alteration in alterations:
            apply_alteration(properties, alteration)
        kept = database.descriptor.comment if comment is None else comment or None
        descriptor = DatabaseDescriptor(kept, properties)
        if descriptor != database.descriptor:
            changed = replace(database, descriptor=descriptor, modified_ms=self._clock.now_ms())
            self._catalog.put_database(changed)

    def drop(self, name: str, *, ignore_if_not_exists: bool, cascade: bool) -> None:
        """Remove a database, with its tables when cascading."""
        if name == DEFAULT_DATABASE:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The default database '{name}' cannot be dropped.")
        if self._catalog.database(name) is None and ignore_if_not_exists:
            return
        self.get(name)
        if self._catalog.table_count(name) and not cascade:
            raise ErrorCode.DATABASE_NOT_EMPTY.error(f"Database {name} is not empty.")
        self._catalog.drop_database(name)
