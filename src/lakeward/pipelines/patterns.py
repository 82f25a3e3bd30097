r"""TablePattern: which tables a text names.

`shop.orders` is one table; in a pattern the dot between database and table is plain, and the dot of a regular
expression is written `\.`: `shop.\.*` is every table of shop, `app_[0-9]+.order_\.*` several of several.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lakeward.capture.port import TableId

#: A dot that is not `\.`; a backslash in front of anything else belongs to the expression.
_SEPARATOR = re.compile(r"(?<!\\)\.")
_PATTERN_LENGTH_MAX = 1000


@dataclass(frozen=True, slots=True)
class TablePattern:
    """A regular expression for each part of a table's name; `database` only where three parts were written."""

    text: str
    space: str
    name: str
    database: str | None = None
    _compiled: tuple[re.Pattern[str], re.Pattern[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", (_compile(self.space), _compile(self.name)))
        if self.database is not None:
            _compile(self.database)

    @classmethod
    def parse(cls, text: str) -> TablePattern:
        """Read one; a ValueError says what is wrong with it."""
        parts = [part.strip().replace("\\.", ".") for part in _SEPARATOR.split(text.strip())]
        if len(parts) not in {2, 3} or not all(parts):
            raise ValueError(
                f"'{text}' does not name tables; expected database.table (schema.table for PostgreSQL), where a dot of "
                r"a regular expression is written \. as in shop.\.*"
            )
        return cls(text.strip(), parts[-2], parts[-1], parts[0] if len(parts) == len("dst") else None)

    @classmethod
    def parse_list(cls, text: str) -> tuple[TablePattern, ...]:
        """Several, with commas between them; a comma inside of brackets or braces belongs to a pattern."""
        parts = [part for part in _split_outside(text) if part.strip()]
        if not parts:
            raise ValueError(r"no table is named; expected patterns such as shop.orders, shop.\.*")
        return tuple(map(cls.parse, parts))

    @property
    def is_plain(self) -> bool:
        """Whether it names one table, and no more."""
        return re.fullmatch(r"[\w$-]+", self.space) is not None and re.fullmatch(r"[\w$-]+", self.name) is not None

    def matches(self, table: TableId) -> bool:
        """Whether it names this table, as a whole."""
        space, name = self._compiled
        return space.fullmatch(table.space) is not None and name.fullmatch(table.name) is not None


def _split_outside(text: str) -> list[str]:
    parts, depth, begin = [], 0, 0
    for i, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth <= 0:
            parts.append(text[begin:i])
            begin = i + 1
    return [*parts, text[begin:]]


def _compile(text: str) -> re.Pattern[str]:
    if len(text) > _PATTERN_LENGTH_MAX:
        raise ValueError(f"a pattern of {len(text)} characters is too long")
    try:
        return re.compile(text)
    except re.error as wrong:
        raise ValueError(f"'{text}' is no regular expression: {wrong}") from None
