"""Sink: what every sink can do. It is made on the driver and travels to tasks, where it opens writers.

The tasks write; what they hand back (`Part`s) the driver commits, once for each batch id, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.pipelines.evolution import Evolution
from lakeward.pipelines.plan import TablePlan


@dataclass(frozen=True, slots=True)
class Part:
    """What a task hands to the driver for one table of the sink."""

    target: str
    content: bytes


class SinkWriter(Protocol):
    """Writes the rows of one task, in their order."""

    def schema(self, plan: TablePlan) -> Schema | None:
        """The columns of the sink's table as it is now; None where there is none."""

    def write(self, plan: TablePlan, rows: pa.RecordBatch, kinds: pa.Array | None) -> None:
        """Take rows in the columns of `schema`."""

    def evolve(self, plan: TablePlan, evolution: Evolution) -> None:
        """Change a table after the rows before it and before the rows after it; again is no harm."""

    def finish(self) -> list[Part]:
        """Return when all is acknowledged."""

    def abort(self) -> None:
        """Give up what was not finished."""


class Sink(Protocol):
    """One sink of one pipeline."""

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool = False) -> list[str]:
        """Make what is missing and check what is there; what somebody should know of it.

        With `makes` false nothing is touched: the answer is what would be done. `has_begun`: it goes on from a
        checkpoint.
        """

    def writer(self, batch_id: int) -> SinkWriter:
        """In a task: a writer for its rows."""

    def commit(self, batch_id: int, parts: Sequence[Part]) -> None:
        """On the driver: what the tasks handed back."""
