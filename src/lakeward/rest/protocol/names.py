"""Names: `db` is a database, `now.db` the same with tables as they are now; so is `table$now` a table."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.rest.protocol.failures import no_namespace

#: What parts of a namespace are joined by in a URL.
SEPARATOR = "\x1f"
NOW = "now"
NOW_TABLE = "$now"


@dataclass(frozen=True, slots=True)
class Namespace:
    """A database, as committed or as it is now; without one, what databases are found in."""

    database: str | None
    is_now: bool = False

    @property
    def levels(self) -> list[str]:
        """As the protocol names it."""
        return [*([NOW] if self.is_now else []), *([] if self.database is None else [self.database])]

    def __str__(self) -> str:
        return ".".join(self.levels)


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, as committed or as it is now."""

    database: str
    table: str
    is_now: bool

    @property
    def path(self) -> str:
        """As the cluster names it."""
        return f"{self.database}.{self.table}"

    def __str__(self) -> str:
        return f"{self.path}{NOW_TABLE if self.is_now else ''}"


def namespace_of(text: str) -> Namespace:
    """The namespace of a URL; some readers join its parts by a dot."""
    parts = text.split(SEPARATOR) if SEPARATOR in text else text.split(".")
    match parts:
        case [word] if word == NOW:
            return Namespace(None, is_now=True)
        case [database] if database:
            return Namespace(database)
        case [word, database] if word == NOW and database:
            return Namespace(database, is_now=True)
        case _:
            raise no_namespace(".".join(parts))


def table_of(namespace: Namespace, name: str) -> TableName:
    """A table of a namespace."""
    if namespace.database is None:
        raise no_namespace(str(namespace))
    is_now = name.endswith(NOW_TABLE)
    return TableName(namespace.database, name.removesuffix(NOW_TABLE), is_now or namespace.is_now)
