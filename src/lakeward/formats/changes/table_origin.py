"""TableOrigin: which table changes are of, as messages say it."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableOrigin:
    """A table's full name: `space` is its schema where `database` has several, else its database."""

    space: str
    table: str
    database: str | None = None

    def fields(self, format_name: str) -> str:
        """The fields of a message that name the table, as text of JSON without braces."""
        if format_name == "canal-json":  # which knows databases only; readers choose tables by the two
            return _text({"database": self.space, "table": self.table})
        names = {"db": self.space} if self.database is None else {"db": self.database, "schema": self.space}
        return _text({"source": {**names, "table": self.table}})


def _text(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[1:-1]
