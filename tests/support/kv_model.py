"""The plainest primary key table there is: a dict of rows, and a list of what happened to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]
Key = tuple[Any, ...]
Record = tuple[Key, Row | None]
"""A row, or None to delete the key. Rows may be shorter than the table has columns."""

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a + b,
    "max": max,
    "listagg": lambda a, b: f"{a},{b}",
    "last_value_ignore_nulls": lambda _, b: b,
}
"""What two cells make that are not NULL."""


class DeletesRefusedError(Exception):
    """The table accepts no deletes."""


@dataclass
class KvModel:
    """A table whose first columns are its key. `functions` has one name for each other column."""

    key_columns: int
    functions: list[str]
    engine: str | None = None
    deletes: str = "ALLOW"
    image: str = "FULL"
    version_at: int = 0
    state: dict[Key, Row] = field(default_factory=dict)
    log: list[tuple[int, str, Row]] = field(default_factory=list)
    end_offset: int = 0
    history: dict[int, dict[Key, Row]] = field(default_factory=lambda: {0: {}})

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self.key_columns + len(self.functions)

    def add_column(self, function: str) -> None:
        """Grow by a column, which is NULL in the rows that are there."""
        self.functions.append(function)
        self.state = {key: (*row, None) for key, row in self.state.items()}
        self.log = [(offset, kind, (*row, None)) for offset, kind, row in self.log]
        self.history = {end: {key: (*row, None) for key, row in state.items()} for end, state in self.history.items()}

    def put(self, records: Sequence[Record], targets: Sequence[int] | None = None, *, overwrite: bool = False) -> None:
        """One batch: all of it, or DeletesRefusedError and nothing."""
        chosen = None if targets is None or len(set(targets)) == self.width else set(targets)
        engine = None if overwrite else self.engine
        deletes = "ALLOW" if overwrite else self.deletes
        if deletes == "DISABLE" and any(row is None for _, row in records):
            raise DeletesRefusedError
        is_blind = engine is None and chosen is None and self.image == "WAL"
        before = len(self.log)
        for key, row in records:
            old = self.state.get(key)
            if row is None:
                new = old if deletes == "IGNORE" or old is None else self._deleted(old, chosen)
                if new is not old:
                    self._set(key, old, new, is_blind=False)
                continue
            full = (*row, *(None,) * (self.width - len(row)))
            new = self._merged(old, full, engine, chosen)
            if new is not None:
                self._set(key, old, new, is_blind=is_blind)
        if len(self.log) == before:
            self.end_offset += 1  # an empty batch takes one offset, or the writer could not be recognised
        self.history[self.end_offset] = dict(self.state)

    def _deleted(self, old: Row, targets: set[int] | None) -> Row | None:
        if targets is None or all(cell is None for i, cell in enumerate(old) if i not in targets):
            return None
        return tuple(None if i in targets and i >= self.key_columns else cell for i, cell in enumerate(old))

    def _merged(self, old: Row | None, new: Row, engine: str | None, targets: set[int] | None) -> Row | None:
        """The row that is stored from now on; None when nothing happens."""
        if old is None:
            return new if targets is None else tuple(cell if i in targets else None for i, cell in enumerate(new))
        if engine == "first_row":
            return None
        if engine == "versioned":
            low = -(2**31)
            versions = [low if row[self.version_at] is None else row[self.version_at] for row in (old, new)]
            return new if versions[0] <= versions[1] else None
        if engine is None and targets == set(range(self.key_columns)):
            return None
        cells = [self._cell(i, a, b) for i, (a, b) in enumerate(zip(old, new, strict=True))] if engine else list(new)
        return tuple(cell if targets is None or i in targets else old[i] for i, cell in enumerate(cells))

    def _cell(self, place: int, old: Any, new: Any) -> Any:
        if place < self.key_columns or old is None:
            return new
        return old if new is None else FUNCTIONS[self.functions[place - self.key_columns]](old, new)

    def _set(self, key: Key, old: Row | None, new: Row | None, *, is_blind: bool) -> None:
        if new is None:
            assert old is not None
            self._note("-D", old)
            del self.state[key]
            return
        if is_blind:
            self._note("+U", new)
        elif old is None:
            self._note("+I", new)
        else:
            if self.image == "FULL":
                self._note("-U", old)
            self._note("+U", new)
        self.state[key] = new

    def _note(self, kind: str, row: Row) -> None:
        self.log.append((self.end_offset, kind, row))
        self.end_offset += 1

    def back_to(self, end_offset: int) -> None:
        """Forget what came after an offset that a batch ended with: a crash tore it off before it was promised."""
        self.end_offset = end_offset
        self.state = dict(self.history[end_offset])
        self.log = [entry for entry in self.log if entry[0] < end_offset]
        self.history = {end: state for end, state in self.history.items() if end <= end_offset}
