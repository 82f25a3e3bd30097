"""Rows of one relation out of a bulk of messages, and the values that an update did not send."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakeward.capture.port import ChangeKind, SourceTable
from lakeward.capture.postgres.decode.cells import Cells, copy_cells
from lakeward.capture.postgres.decode.message_kernels import NULL, UNCHANGED, read_rows
from lakeward.capture.postgres.read.queries import literal, names_now, read_copy_of, select_list
from lakeward.capture.postgres.read.queries import name as quote_name
from lakeward.capture.postgres.server.catalog import Catalog
from lakeward.capture.postgres.server.connections import Session
from lakeward.capture.postgres.server.replication import Bulk
from lakeward.capture.postgres.server.slot import quote_table
from lakeward.errors import ErrorCode
from lakeward.records.kernels.spans import I64, U8


@dataclass(frozen=True, slots=True)
class RelationRows:
    """Changed rows of a table: their cells, what each is, and the message that each is of."""

    cells: Cells
    kinds: U8
    messages: I64

    def take(self, rows: NDArray[np.bool_]) -> RelationRows:
        """Some of the rows."""
        return RelationRows(self.cells.take(rows), self.kinds[rows], self.messages[rows])


def relation_rows(bulk: Bulk, chosen: I64, table: SourceTable) -> RelationRows:
    """Rows of the chosen messages, which are all of this table."""
    columns, room = len(table.schema.columns), 2 * len(chosen)
    starts, lengths = np.empty((columns, room), np.int64), np.empty((columns, room), np.int64)
    kinds, messages = np.empty(room, np.uint8), np.empty(room, np.int64)
    keys = np.array([table.schema.positions[name] for name in table.schema.primary_key], np.int64)
    count = read_rows(bulk.data, bulk.bounds, chosen, keys, starts, lengths, kinds, messages)
    if count < 0:
        raise ErrorCode.CORRUPT_MESSAGE.error(f"PostgreSQL sent a change of {table.id} that cannot be read.")
    cells = Cells(bulk.data, starts[:, :count], lengths[:, :count])
    return RelationRows(cells, kinds[:count], messages[:count])


def complete(rows: RelationRows, table: SourceTable, session: Session, catalog: Catalog) -> RelationRows:
    """The rows with what the updates did not send, read from the table as it is now.

    A row that is not there any more is left out: its delete is still to come.
    """
    lacking = (rows.cells.lengths == UNCHANGED).any(axis=0)
    if not lacking.any():
        return rows
    if not session.settings.looks_up_unchanged:
        raise ErrorCode.INVALID_TABLE.error(
            f"An update of {table.id} left a long value as it was, and PostgreSQL did not send it. Run ALTER TABLE"
            f" {quote_table(table.id)} REPLICA IDENTITY FULL; changes from before that are read with"
            " 'unchanged-values' = 'lookup'."
        )
    places = np.flatnonzero(lacking)
    columns = np.flatnonzero((rows.cells.lengths == UNCHANGED).any(axis=1)).tolist()
    query = _lookup(rows.cells.take(places), columns, table, names_now(table, catalog.numbers(table.id)))
    found = read_copy_of(session, query, 1 + len(columns)) if query else copy_cells(b"", 1 + len(columns))
    return _patch(rows, places, columns, found)


def _lookup(wanted: Cells, columns: list[int], table: SourceTable, names: list[str]) -> str | None:
    """The query for some columns of some rows, by key; None where the table or its key is gone."""
    keys = [table.schema.positions[name] for name in table.schema.primary_key]
    if not all(names[key] for key in keys):
        return None
    lists = ([text.decode() for text in wanted.texts(key).to_pylist()] for key in keys)
    listed = ", ".join(literal(texts) + "::text[]" for texts in lists)
    aliases = ", ".join(f"k{n}" for n in range(len(keys)))
    types = [table.native_types[name] for name in table.schema.primary_key]
    match = " AND ".join(
        f"t.{quote_name(names[key])} = k.k{n}::{type_}" for n, (key, type_) in enumerate(zip(keys, types, strict=True))
    )
    return (
        f"SELECT k.place, {select_list([names[n] for n in columns], 't.')}"
        f" FROM ROWS FROM (unnest({listed})) WITH ORDINALITY AS k({aliases}, place)"
        f" JOIN {quote_table(table.id)} t ON {match}"
    )


def _patch(rows: RelationRows, places: NDArray[np.intp], columns: list[int], found: Cells) -> RelationRows:
    """Put the values that were found where they were lacking, and leave out the rows that were not found."""
    which = places[np.array([int(text) - 1 for text in found.texts(0).to_pylist()], np.intp)]
    data = np.concatenate([rows.cells.data, found.data])
    starts, lengths = rows.cells.starts.copy(), rows.cells.lengths.copy()
    for n, column in enumerate(columns, start=1):
        is_lacking = lengths[column, which] == UNCHANGED
        at = which[is_lacking]
        starts[column, at] = found.starts[n, is_lacking] + len(rows.cells.data)
        lengths[column, at] = np.maximum(found.lengths[n, is_lacking], NULL)
    kept = ~(lengths == UNCHANGED).any(axis=0)
    kept |= rows.kinds == ChangeKind.DELETE
    return RelationRows(Cells(data, starts, lengths), rows.kinds, rows.messages).take(kept)
