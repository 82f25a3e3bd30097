"""The port: what becomes of the row of a key when a new row, or a delete, arrives.

Values are as they are stored: `schema_id: i16 | row`. A merger is made for one request (`merge_engines.merger_for`) and
decides record by record; a later record of a key is given the value that the earlier one has left.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import Protocol, TypeAlias

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo, TablePath
from lakeward.options import table as table_options


class Fate(enum.Enum):
    """What becomes of the old value, when no new one takes its place."""

    KEEP = "keep"
    """It stays, or there still is none; nothing happened and nothing is logged."""
    REMOVE = "remove"
    """It goes."""


Merged: TypeAlias = bytes | Fate
"""The value that is stored from now on, or the fate of the old one."""


class RowMerger(Protocol):
    """Merges the records of one request into the state. An error means that the whole request must change nothing."""

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """What becomes of a key when a row arrives; `old` is None for a key without a row."""
        ...

    def delete(self, old: bytes | None) -> Merged:
        """What becomes of a key when its deletion arrives."""
        ...


class Deletes(enum.StrEnum):
    """What a table does with deletions."""

    ALLOW = "ALLOW"
    IGNORE = "IGNORE"
    DISABLE = "DISABLE"


def deletes_for(table: TableInfo, *, overwrite: bool = False) -> Deletes:
    """What the table does with deletions in a request; overwriting allows them always."""
    properties = table.descriptor.properties
    if overwrite:
        return Deletes.ALLOW
    if table_options.DELETE_BEHAVIOR.key not in properties and table_options.MERGE_ENGINE.read(properties) is not None:
        return Deletes.IGNORE
    return Deletes(table_options.DELETE_BEHAVIOR.read(properties))


def deletion_error(table: TablePath) -> LakewardError:
    """The error for a deletion where they are disabled; it fails the whole batch of the bucket."""
    return ErrorCode.DELETION_DISABLED.error(
        "Delete operations are disabled for this table. The table.delete.behavior is set to 'disable'."
        f" Nothing of this batch of {table} was written."
    )


class MergeEngine(ABC):
    """A merger for one table, with the table's rule for deletions."""

    def __init__(self, table: TablePath, deletes: Deletes) -> None:
        self.table = table
        self.deletes = deletes

    @abstractmethod
    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """What becomes of a key when a row arrives."""

    def delete(self, old: bytes | None) -> Merged:
        """What becomes of a key when its deletion arrives."""
        if self.deletes is Deletes.DISABLE:
            raise deletion_error(self.table)
        if old is None or self.deletes is Deletes.IGNORE:
            return Fate.KEEP
        return self._delete(old)

    def _delete(self, old: bytes) -> Merged:  # noqa: ARG002 - some engines keep part of the row
        return Fate.REMOVE
