"""Statement: what every statement of a script has; Name: what it speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakeward.language.place import Place


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a table, view or database, as it was written: one to three parts."""

    parts: tuple[str, ...]
    place: Place = field(default=Place(1, 1), compare=False)

    def __str__(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement: its text without the semicolon, where it begins, and its number in the script, from 1."""

    text: str
    place: Place
    number: int = 1


Options = Mapping[str, str]
