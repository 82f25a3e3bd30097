"""Relation: what is known of the rows of a table or subquery while a query is planned."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from lakeward.language.changes import Changes

#: The event time as Spark wants it for watermarks: a TIMESTAMP, whatever the column is. It travels beside the rows.
TIME = "__time"

#: A step of `state`: changes are read from a later moment on, so that what was before is not known.
LATER = "later"

Key = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class EventTime:
    """The column with a watermark; `is_ntz`: it has no time zone, and TIME is its twin in UTC; else `zone` shows it."""

    column: str
    is_ntz: bool
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Lookup:
    """How rows of a table are found by key: `handle` is the engine's, the rest is the table's."""

    handle: object
    primary_key: tuple[str, ...]
    bucket_key: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Rows as a tree that can stand in FROM, with the visible columns and what they mean.

    `key`: every part is a set of columns of which one is enough. `of_key`: columns that depend on the key alone.
    `volatile`: columns that have another value when the same row is told again. `state`: the stateful steps on the way.
    """

    tree: exp.Expr
    columns: tuple[str, ...]
    is_stream: bool = False
    changes: Changes = Changes.APPEND
    key: Key | None = None
    of_key: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset()
    time: EventTime | None = None
    state: tuple[str, ...] = ()
    mode: str = "append"
    is_shuffled: bool = False
    lookup: Lookup | None = None
    name: str = ""

    @property
    def has_changes(self) -> bool:
        """Whether the hidden column with the change type travels beside the rows."""
        return self.is_stream and self.changes is not Changes.APPEND

    def key_columns(self) -> str:
        """The key for people."""
        return ", ".join(min(part) for part in self.key or ())


def simple_key(columns: tuple[str, ...]) -> Key:
    """A key of columns that each must be there."""
    return tuple(frozenset([column]) for column in columns)
