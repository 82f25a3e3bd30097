"""StreamPlan: one INSERT that streams, ready to start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What a stream is, and how to begin it."""

    sink: str
    """Where the rows go: 'catalog.database.table'."""
    text: str
    """The normalised text of the statement."""
    sources: tuple[str, ...]
    """The names of the tables that are read, with their clusters."""
    state: str
    """What the state depends on; empty when the query keeps none."""
    start: Callable[[str, str], StreamingQuery]
    """(checkpoint, name of the query) → the running query."""
    is_finished: Callable[[dict[str, Any]], bool] | None = None
    """For bounded sources: whether all was read, by Spark's last progress report."""
    into: str = ""
    """Which table of the sink's name it is, where the sink can tell."""
