"""TableChanges: what happened to a table around a snapshot, boiled down to what a copy as of a position needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.capture.port import ChangeKind, SourceTable, TableId
from lakeward.capture.postgres.decode.cells import Cells
from lakeward.capture.postgres.decode.message_kernels import HEAD_BYTES, KIND, LSN, NULL, RELATION, XID
from lakeward.capture.postgres.decode.messages import Relation, read_relation
from lakeward.capture.postgres.read.relation_rows import RelationRows, complete, relation_rows
from lakeward.capture.postgres.read.schema_changes import resolve
from lakeward.capture.postgres.server.catalog import Catalog
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.replication import Bulk, ReplicationStream

_I, _UB, _UA, _D = (kind.value for kind in ChangeKind)


@dataclass(slots=True)
class TableChanges:
    """Keys whose rows are not to be copied, and rows to put back in their place."""

    key: list[int]
    put_back: Cells
    #: Of a table with a key.
    dropped: pa.Array | None = None
    #: Of a table without one: how many of each row are to be left out.
    surplus: Counter[bytes] = field(default_factory=Counter)

    def keep(self, cells: Cells) -> Cells:
        """The rows of the snapshot that were there at the position, and as they are."""
        if self.dropped is not None and len(self.dropped):
            return cells.take(~pc.is_in(cells.keys(self.key), self.dropped).to_numpy(zero_copy_only=False))
        if self.surplus:
            return cells.take(self._without_surplus(cells))
        return cells

    def _without_surplus(self, cells: Cells) -> NDArray[np.bool_]:
        keys, kept = cells.keys(self.key), np.ones(cells.rows, np.bool_)
        suspects = pc.is_in(keys, pa.array(list(self.surplus), pa.binary()))
        for place in np.flatnonzero(suspects).tolist():
            row = keys[place].as_py()
            if self.surplus[row] > 0:
                self.surplus[row] -= 1
                kept[place] = False
        return kept


def no_changes(table: SourceTable) -> TableChanges:
    """A table to which nothing happened."""
    columns = len(table.schema.columns)
    return TableChanges([], Cells(np.empty(0, np.uint8), *(np.empty((columns, 0), np.int64) for _ in range(2))))


@dataclass(slots=True)
class _Pieces:
    """Rows of changes that were collected, with the xid of each and whether it is after the position."""

    cells: list[Cells] = field(default_factory=list)
    kinds: list[NDArray[np.uint8]] = field(default_factory=list)
    xids: list[NDArray[np.int64]] = field(default_factory=list)
    after: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(self, rows: RelationRows, bulk: Bulk, as_of: int) -> None:
        """Take the rows of a bulk."""
        self.cells.append(rows.cells)
        self.kinds.append(rows.kinds)
        self.xids.append(bulk.found[rows.messages, XID])
        self.after.append(bulk.found[rows.messages, LSN] >= as_of)


class TableFollower:
    """Reads what happens to a table after a position, further and further, for one chunk of it after the other."""

    def __init__(
        self,
        stream: ReplicationStream,
        table: SourceTable,
        as_of: int,
        suspects: frozenset[int],
        session: Session,
        catalog: Catalog,
    ) -> None:
        self.table, self.as_of, self.suspects = table, as_of, suspects
        self._stream, self._session, self._catalog = stream, session, catalog
        self._pieces = _Pieces()
        self._told: dict[int, SourceTable] = {}

    def close(self) -> None:
        """End the connection."""
        self._stream.close()

    def read(self, end: int, shows: Callable[[int], bool]) -> TableChanges:
        """Read on up to `end`, and boil down all that was read; `shows`: whether a snapshot shows a transaction."""
        table = self.table
        for bulk, chosen, told in self._messages(end):
            self._collect(bulk, relation_rows(bulk, chosen, told), told)
        pieces = self._pieces
        if not pieces.cells:
            return no_changes(table)
        cells = _join(pieces.cells)
        kinds, xids, after = np.concatenate(pieces.kinds), np.concatenate(pieces.xids), np.concatenate(pieces.after)
        if table.schema.primary_key:
            return _by_key(cells, kinds, after, table)
        return _by_row(cells, kinds, np.array([shows(xid) for xid in xids.tolist()], np.bool_), after)

    def _collect(self, bulk: Bulk, rows: RelationRows, told: SourceTable) -> None:
        early = bulk.found[rows.messages, LSN] < self.as_of
        forward = early & np.isin(bulk.found[rows.messages, XID], list(self.suspects))
        if forward.any():
            completed = complete(rows.take(forward), told, self._session, self._catalog)
            self._pieces.add(_fit(completed, told, self.table), bulk, self.as_of)
        if not early.all():
            self._pieces.add(_fit(rows.take(~early), told, self.table), bulk, self.as_of)

    def _messages(self, end: int) -> Iterator[tuple[Bulk, NDArray[np.int64], SourceTable]]:
        """Messages that change the table, with the table as it was told just before."""
        while (bulk := self._stream.read(end)) is not None:
            kinds = bulk.found[:, KIND]
            start = 0
            for place in [*np.flatnonzero(kinds == ord("R")).tolist(), len(kinds)]:
                part = bulk.found[start:place]
                is_row = np.isin(part[:, KIND], [ord(letter) for letter in "IUD"])
                for oid, known in self._told.items():
                    chosen = np.flatnonzero(is_row & (part[:, RELATION] == oid)) + start
                    if len(chosen):
                        yield bulk, chosen, known
                if place < len(kinds):
                    relation: Relation = read_relation(bulk.message(place, HEAD_BYTES))
                    if TableId(relation.space, relation.name) == self.table.id:
                        self._told[relation.oid] = resolve(relation, self.table, self._catalog).table
                start = place + 1


def _by_key(cells: Cells, kinds: NDArray[np.uint8], after: NDArray[np.bool_], table: SourceTable) -> TableChanges:
    """The first change after the position says what was there at it; before it, the last one of those not seen."""
    key = [table.schema.positions[name] for name in table.schema.primary_key]
    keys = cells.keys(key)
    codes = pc.dictionary_encode(keys).indices.to_numpy(zero_copy_only=False)
    later, sooner = np.flatnonzero(after), np.flatnonzero(~after)
    changed, first = np.unique(codes[later], return_index=True)
    first = later[first]
    moved, last = np.unique(codes[sooner[::-1]], return_index=True)
    last = sooner[::-1][last][~np.isin(moved, changed)]
    back = [last[np.isin(kinds[last], (_I, _UA))]]
    if table.has_before:
        back.append(first[np.isin(kinds[first], (_UB, _D))])
    return TableChanges(key, cells.take(np.concatenate(back)), pc.unique(keys))


def _by_row(cells: Cells, kinds: NDArray[np.uint8], shown: NDArray[np.bool_], after: NDArray[np.bool_]) -> TableChanges:
    """Rows have no names here: what the snapshot shows and came later is taken back, what it lacks is added."""
    key = list(range(cells.starts.shape[0]))
    keys = cells.keys(key)
    came = np.isin(kinds, (_I, _UA))
    undo, redo = shown & after, ~shown & ~after
    plus, minus = (undo & ~came) | (redo & came), (undo & came) | (redo & ~came)
    balance: Counter[bytes] = Counter(keys.filter(pa.array(plus)).to_pylist())
    balance.subtract(keys.filter(pa.array(minus)).to_pylist())
    back: list[int] = []
    for place in np.flatnonzero(plus).tolist():
        row = keys[place].as_py()
        if balance[row] > 0:
            balance[row] -= 1
            back.append(place)
    surplus = Counter({row: -count for row, count in balance.items() if count < 0})
    return TableChanges(key, cells.take(np.array(back, np.intp)), None, surplus)


def _fit(rows: RelationRows, told: SourceTable, table: SourceTable) -> RelationRows:
    """The cells in the order of the table's columns; columns are the same by their numbers, or by name."""
    if told.schema.names == table.schema.names:
        return rows
    place = {column.id: n for n, column in enumerate(told.schema.columns)}
    shape = (len(table.schema.columns), rows.cells.rows)
    starts, lengths = np.zeros(shape, np.int64), np.full(shape, NULL, np.int64)
    for n, column in enumerate(table.schema.columns):
        source = place.get(column.id, told.schema.positions.get(column.name))
        if source is not None:
            starts[n], lengths[n] = rows.cells.starts[source], rows.cells.lengths[source]
    return RelationRows(Cells(rows.cells.data, starts, lengths), rows.kinds, rows.messages)


def _join(parts: list[Cells]) -> Cells:
    """Cells of several buffers in one."""
    bases = np.cumsum([0, *(len(part.data) for part in parts[:-1])])
    starts = np.concatenate([part.starts + base for part, base in zip(parts, bases.tolist(), strict=True)], axis=1)
    lengths = np.concatenate([part.lengths for part in parts], axis=1)
    return Cells(np.concatenate([part.data for part in parts]), starts, lengths)
