"""Which names are legal for databases, tables and partition values."""

from __future__ import annotations

import re

from lakeward.errors import ErrorCode

NAME_LENGTH_MAX = 200
RESERVED_PREFIX = "__"
_LEGAL = re.compile(r"[A-Za-z0-9_-]+")


def complaint(name: str, *, reserved_prefix_allowed: bool = False) -> str | None:
    """What is wrong with a name, or None."""
    if not name:
        return "the empty string is not allowed"
    if name in {".", ".."}:
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name[:40]}…' is {len(name)}, longer than the limit of {NAME_LENGTH_MAX}"
    if not _LEGAL.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '_' and '-'"
    if name.startswith(RESERVED_PREFIX) and not reserved_prefix_allowed:
        return (
            f"'{RESERVED_PREFIX}' is not allowed as prefix, since it is reserved for internal databases/internal"
            " tables/internal partitions in Fluss server"
        )
    return None


def check_database(name: str) -> None:
    """Refuse an illegal database name."""
    if wrong := complaint(name):
        raise ErrorCode.INVALID_DATABASE.error(f"Database name {name[:NAME_LENGTH_MAX]} is invalid: {wrong}")


def check_table(name: str) -> None:
    """Refuse an illegal table name."""
    if wrong := complaint(name):
        raise ErrorCode.INVALID_TABLE.error(f"Table name {name[:NAME_LENGTH_MAX]} is invalid: {wrong}")
