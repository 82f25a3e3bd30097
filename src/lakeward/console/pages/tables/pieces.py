"""Piece: one page of a long list, after a filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
_NAME_LENGTH_MAX = 200


@dataclass(frozen=True, slots=True)
class Piece(Generic[T]):
    """Some of a list: which page of how many, and how many there are in all and after the filter."""

    rows: Sequence[T]
    number: int
    last: int
    first_row: int
    found: int
    total: int
    wanted: str


def piece_of(rows: Sequence[T], wanted: str, page: str, size: int, name: Callable[[T], str] = str) -> Piece[T]:
    """The page that was asked for, as near as there is one, of the rows whose names hold what is wanted."""
    wanted = wanted.strip()[:_NAME_LENGTH_MAX]
    found = [row for row in rows if wanted.lower() in name(row).lower()] if wanted else rows
    last = max(1, -(-len(found) // size))
    number = min(max(int(page), 1), last) if page.isascii() and page.isdigit() and len(page) < 10 else 1
    first = (number - 1) * size
    return Piece(found[first : first + size], number, last, first + 1, len(found), len(rows), wanted)
