"""Engine: what a plan asks of the side that has the tables and Spark."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from lakeward.language.plan.shape.relation import Lookup, Relation


class Style(enum.Enum):
    """How a stream of changes is told."""

    BEFORE_AND_AFTER = "updates as two rows, so that what was counted can be taken back"
    BY_KEY = "updates as one row, which replaces that of the same key"


@dataclass(frozen=True, slots=True)
class LookupStep:
    """Rows of a table looked up for every row of a query: columns of both under their new names."""

    lookup: Lookup
    on: Mapping[str, str]
    columns: tuple[str, ...]
    prefix: str
    keeps_unmatched: bool


class Engine(Protocol):
    """Tables by name, and the steps that are no SQL."""

    def table(self, table: exp.Table, *, as_stream: bool) -> Relation | exp.Query:
        """A table as a relation, or the query of a view; ScriptError if there is none."""

    def columns(self, query: exp.Query) -> tuple[str, ...]:
        """The columns of bounded rows."""

    def kinds(self, query: exp.Query) -> tuple[str, ...]:
        """The kind of each column of a query: equal values of one kind are the same value."""

    def distinct(self, query: exp.Query) -> exp.Table:
        """The rows of a stream without those that came before, as a view."""

    def look_up(self, query: exp.Query, step: LookupStep) -> exp.Table:
        """The rows of a query with those that were looked up, as a view."""


class Planning(Protocol):
    """What the steps of a plan ask of the plan as a whole."""

    @property
    def engine(self) -> Engine:
        """The tables, and the steps that are no SQL."""

    @property
    def style(self) -> Style:
        """How a stream of changes is told."""

    @property
    def is_final(self) -> bool:
        """Whether windows are told once, when they are complete."""

    def before(self, node: exp.Expr, what: str, state: tuple[str, ...]) -> None:
        """Called where changes by key cannot be taken: the plan begins again in the other style, or it is refused."""
