"""Columns that a table gets while somebody works on it: who cannot follow them says so, once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from lakeward.model.table import TablePath

_log = logging.getLogger("lakeward.client")
_STREAMS_MAX = 1000


class NewColumns:
    """What long-lived readers and writers have seen of their tables, by a name for each of them."""

    def __init__(self) -> None:
        self._seen: dict[str, frozenset[str]] = {}

    def begin(self, who: str, names: Iterable[str]) -> None:
        """Somebody starts, with these columns of the table."""
        if len(self._seen) > _STREAMS_MAX:
            self._seen.clear()
        self._seen[who] = frozenset(names)

    def look(self, who: str, path: TablePath, names: Sequence[str], used: Iterable[str], means: str) -> None:
        """Warn of columns that the table has got and that are not used; `means` is what comes of it."""
        if who not in self._seen:
            self.begin(who, names)
        taken = self._seen[who] | set(used)
        self._seen[who] = self._seen[who] | set(names)
        if new := [name for name in names if name not in taken]:
            warn(path, new, means)


def warn(path: TablePath, new: Iterable[str], means: str) -> None:
    """Say that a table has got columns, and what comes of it."""
    _log.warning("%s has got column %s meanwhile. %s", path, ", ".join(f"'{name}'" for name in new), means)
