"""Writing some of the columns: the target columns take or merge the new cells, the others keep the old ones.

A deletion clears the target columns; the row goes when nothing is left but its key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakeward.storage.kv.merge.aggregate_functions import Combine, keep_old, last_value
from lakeward.storage.kv.merge.row_merger import Deletes, Fate, Merged, MergeEngine
from lakeward.storage.kv.merge.value_rows import ValueRows

NextId = Callable[[], int]


class PartialUpdate(MergeEngine):
    """Merges rows that speak of the target columns only, by the functions of an aggregation table if it is one."""

    def __init__(
        self,
        rows: ValueRows,
        deletes: Deletes,
        targets: frozenset[int],
        *,
        functions: Sequence[Combine] | None = None,
        next_id: NextId | None = None,
    ) -> None:
        super().__init__(rows.table.path, deletes)
        schema = rows.table.schema
        keys = {schema.positions[name] for name in schema.primary_key}
        columns = range(len(schema.columns))
        own = functions or [last_value] * len(columns)
        self.rows = rows
        #: Whether columns merge as the aggregation engine has it.
        self.aggregates = functions is not None
        self.targets = targets
        self._functions = [own[i] if i in targets else keep_old for i in columns]
        self.says_nothing = functions is None and targets == keys
        self._others = [i for i in columns if i not in targets]
        self._cleared = targets - keys
        self.number_at = schema.positions[schema.auto_increment[0]] if schema.auto_increment else None
        self._next_id = next_id
        assert self.number_at is None or next_id is not None, "a table that numbers its rows needs numbers"

    def upsert(self, old: bytes | None, new: bytes) -> Merged:
        """The old row with what the new one says."""
        arrived = self.rows.read_new(new)
        if old is not None and self.says_nothing:
            return Fate.KEEP
        stored = self.rows.nothing if old is None else self.rows.read(old)
        cells = [combine(a, b) for combine, a, b in zip(self._functions, stored, arrived, strict=True)]
        if old is None and self.number_at is not None and self._next_id is not None:
            cells[self.number_at] = self._next_id()
        return self.rows.write(cells)

    def _delete(self, old: bytes) -> Merged:
        stored = self.rows.read(old)
        if all(stored[i] is None for i in self._others):
            return Fate.REMOVE
        return self.rows.write([None if i in self._cleared else cell for i, cell in enumerate(stored)])
