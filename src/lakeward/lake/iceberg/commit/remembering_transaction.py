"""A pyiceberg transaction that works out the table's metadata once for each change, not once for each look at it.

pyiceberg copies all of it, every snapshot included, whenever a producer looks: sixteen times in one commit, so that
rounds would take longer with every round before them. What it still copies, it copies without the snapshots of old.
"""

from __future__ import annotations

from typing import Any

from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Snapshot, SnapshotLogEntry
from pyiceberg.table.update import update_table_metadata


def _itself(unchanging: Any, _memo: dict[int, Any] | None = None) -> Any:
    return unchanging


# Snapshots never change, and pyiceberg forbids them to: a copy of a table's metadata, two of which each commit makes,
# may share them. There are as many as rounds that were not expired.
for _kind in (Snapshot, SnapshotLogEntry):
    setattr(_kind, "__deepcopy__", _itself)  # noqa: B010 - mypy knows that it is a method


class RememberingTransaction(Transaction):
    """The same transaction, quicker."""

    _seen: tuple[Any, Any, TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        """The metadata with the changes so far."""
        base, updates = self._table.metadata, self._updates
        if not updates:
            return base
        seen = self._seen
        if seen is None or seen[0] is not base or seen[1] is not updates:
            seen = self._seen = (base, updates, update_table_metadata(base, updates))
        return seen[2]
