"""LiveRows: the rows of a streaming SELECT as they are now, and the changes that made them so."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from lakeward.language.changes import CHANGE_TYPE
from lakeward.spark.scripts.state.top_rows import Change, Row, TopRows, changes_between

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_ROWS_KEPT = 10_000


class LiveRows:
    """Takes the micro-batches of one query; whoever shows them asks for `rows`, or listens to changes."""

    def __init__(
        self,
        schema: pa.Schema,
        key: Sequence[str] | None,
        *,
        has_changes: bool,
        limit: int | None = None,
        top: TopRows | None = None,
    ) -> None:
        """`limit`: how many rows end it, where rows are only added; `top`: which of them are shown, in which order."""
        self.schema = schema
        """The columns that are shown."""
        self.query: StreamingQuery | None = None
        self.batches = 0
        self._key = None if key is None else [schema.names.index(name) for name in key]
        self._has_changes = has_changes
        self._limit = limit
        self._top = top
        self._kept: list[Row] = []
        self._guard = threading.Condition()
        self._added: deque[Row] = deque(maxlen=_ROWS_KEPT)
        self._by_key: dict[Row, Row] = {}
        self._counts: Counter[str] = Counter()
        self._samples: dict[str, Row] = {}
        self._listeners: list[Callable[[list[Change]], None]] = []
        self._endings: list[Callable[[], None]] = []
        self.is_full = False
        """Whether LIMIT rows have come."""

    def listen(self, listener: Callable[[list[Change]], None]) -> None:
        """Call with the changes of every micro-batch from now on."""
        self._listeners.append(listener)

    def take(self, frame: DataFrame, _batch: int) -> None:
        """A micro-batch, from Spark."""
        self.add(frame.toArrow())

    def add(self, table: pa.Table) -> None:
        """A micro-batch: rows, or changes with their type."""
        kinds = table[CHANGE_TYPE].to_pylist() if self._has_changes else ["insert"] * table.num_rows
        columns = [table[name].to_pylist() for name in self.schema.names]
        changes: list[Change] = []
        with self._guard:
            for kind, *row in zip(kinds, *columns, strict=True):
                changes.append(self._apply(kind, tuple(row)))
                if self._limit is not None and len(self._added) >= self._limit and not self._has_changes:
                    self.is_full = True
                    break
            if self._top is not None:
                changes = self._choose(self._top)
            self.batches += 1
            self._guard.notify_all()
        for listener in self._listeners:
            listener(changes)

    def _choose(self, top: TopRows) -> list[Change]:
        """Show the first rows of all there are; what changed among them."""
        before, found = self._kept, self._all()
        if not self._has_changes:  # what is not among the first never will be
            found = [*before, *found]
            self._added.clear()
        self._kept = top.of(found)
        return changes_between(before, self._kept)

    def _apply(self, kind: str, row: Row) -> Change:
        if not self._has_changes:
            self._added.append(row)
            return kind, row
        is_gone = kind in {"delete", "update_before"}
        if self._key is not None:
            key = tuple(repr(row[at]) for at in self._key)
            was = key in self._by_key
            if is_gone:
                if kind == "delete" or self._by_key.get(key) == row:
                    self._by_key.pop(key, None)
                return kind, row
            self._by_key[key] = row
            return ("insert" if kind == "update_after" and not was else kind), row
        text = repr(row)
        self._counts[text] += -1 if is_gone else 1
        if self._counts[text] == 0:
            del self._counts[text]
            self._samples.pop(text, None)
        else:
            self._samples[text] = row
        return kind, row

    @property
    def rows(self) -> list[Row]:
        """The rows as they are now; of rows that are only added, the last ones."""
        with self._guard:
            return list(self._kept) if self._top is not None else self._all()

    def _all(self) -> list[Row]:
        if not self._has_changes:
            return list(self._added)
        if self._key is not None:
            return list(self._by_key.values())
        return [row for text, row in self._samples.items() for _ in range(max(0, self._counts[text]))]

    def wait(self, timeout_s: float) -> bool:
        """Until the next micro-batch, or as long; whether one came."""
        with self._guard:
            before = self.batches
            return self._guard.wait_for(lambda: self.batches > before, timeout_s)

    def when_stopped(self, then: Callable[[], None]) -> None:
        """Call when it has ended."""
        self._endings.append(then)

    def stop(self) -> None:
        """End the query."""
        if self.query is not None:
            self.query.stop()
        for then in self._endings:
            then()
        self._endings.clear()
