"""The time in a partition's name: one text per period, in the order of time when compared as text.

A pattern is written as in Apache Fluss: `yyyy` or `uuuu`, `Q` or `q`, `MM` or `LL`, `dd`, `HH`, text in quotes, and any
sign that is not a letter. It must name exactly the fields of its unit, largest first.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from datetime import datetime

from lakeward.model import names


class TimeUnit(enum.StrEnum):
    """The time one partition covers."""

    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    DAY = "DAY"
    HOUR = "HOUR"

    @property
    def default_pattern(self) -> str:
        """The pattern of a table that names none."""
        return _DEFAULT_PATTERNS[self]


@dataclass(frozen=True, slots=True)
class _Field:
    """A part of a time that a pattern can name; `regex` is what it may look like."""

    name: str
    letters: str
    width: int
    regex: str

    def of(self, time: datetime) -> int:
        return (time.month + 2) // 3 if self.name == "quarter" else int(getattr(time, self.name))


_YEAR = _Field("year", "yu", 4, r"\d{4}")
_QUARTER = _Field("quarter", "Qq", 1, "[1-4]")
_MONTH = _Field("month", "ML", 2, r"(?:0[1-9]|1[0-2])")
_DAY = _Field("day", "d", 2, r"(?:0[1-9]|[12]\d|3[01])")
_HOUR = _Field("hour", "H", 2, r"(?:[01]\d|2[0-3])")
_BY_LETTER = {letter: f for f in (_YEAR, _QUARTER, _MONTH, _DAY, _HOUR) for letter in f.letters}
_FIELDS_OF = {
    TimeUnit.YEAR: (_YEAR,),
    TimeUnit.QUARTER: (_YEAR, _QUARTER),
    TimeUnit.MONTH: (_YEAR, _MONTH),
    TimeUnit.DAY: (_YEAR, _MONTH, _DAY),
    TimeUnit.HOUR: (_YEAR, _MONTH, _DAY, _HOUR),
}
_DEFAULT_PATTERNS = {
    TimeUnit.YEAR: "yyyy",
    TimeUnit.QUARTER: "yyyyQ",
    TimeUnit.MONTH: "yyyyMM",
    TimeUnit.DAY: "yyyyMMdd",
    TimeUnit.HOUR: "yyyyMMddHH",
}
_PIECE = re.compile(r"''|'(?:[^']|'')*'|([A-Za-z])\1*|.", re.DOTALL)
_FORBIDDEN_SIGNS = frozenset("[]{}#'")
_EXAMPLE = datetime(2024, 11, 11, 11)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """A pattern that was read: fields and the texts between them."""

    pattern: str
    parts: tuple[_Field | str, ...]

    @classmethod
    def parse(cls, pattern: str, unit: TimeUnit) -> TimeFormat:
        """Read a pattern; ValueError says why it cannot name the periods of this unit."""
        found = cls(pattern, tuple(_part(match[0], pattern) for match in _PIECE.finditer(pattern)))
        fields = tuple(part for part in found.parts if isinstance(part, _Field))
        if fields != _FIELDS_OF[unit]:
            expected = ", ".join(f.name for f in _FIELDS_OF[unit])
            raise ValueError(f"'{pattern}' must contain fields [{expected}] in this order for the time unit {unit}")
        if wrong := names.complaint(found.text(_EXAMPLE)):
            raise ValueError(f"'{pattern}' makes partition values such as '{found.text(_EXAMPLE)}': {wrong}")
        return found

    def text(self, time: datetime) -> str:
        """The name of the period a local time falls into."""
        return "".join(p if isinstance(p, str) else f"{p.of(time):0{p.width}d}" for p in self.parts)

    def matches(self, text: str) -> bool:
        """Whether a partition value is such a name."""
        regex = "".join(re.escape(p) if isinstance(p, str) else p.regex for p in self.parts)
        return re.fullmatch(regex, text, re.ASCII) is not None


def _part(piece: str, pattern: str) -> _Field | str:
    first = piece[0]
    if first == "'" and len(piece) > 1:
        return piece[1:-1].replace("''", "'") or "'"
    if first in _FORBIDDEN_SIGNS:
        raise ValueError(f"'{pattern}' holds {first!r}, which has no meaning in a time format")
    if not (first.isascii() and first.isalpha()):
        return piece
    f = _BY_LETTER.get(first)
    if f is None:
        raise ValueError(f"'{pattern}' holds the letter '{first}'; put text in quotes")
    if len(piece) != f.width:
        raise ValueError(f"the {f.name} in '{pattern}' must be written with {f.width} letters, not {len(piece)}")
    return f
