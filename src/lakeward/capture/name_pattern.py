"""NamePattern: which tables of a database are captured."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.capture.port import TableId


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A regular expression for databases or schemas and one for tables; the whole name must match."""

    space: re.Pattern[str]
    table: re.Pattern[str]

    def is_of(self, table: TableId) -> bool:
        """Whether it names that table."""
        return bool(self.space.fullmatch(table.space) and self.table.fullmatch(table.name))
