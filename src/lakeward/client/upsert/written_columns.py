"""WrittenColumns: which columns an upsert writes, and rows as people hold them → batches of whole rows for it.

All columns unless some are named. Those that are not written keep their value; on the wire they are NULL, and the
request says which ones count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from lakeward.client.forms.data_forms import Rows, arrow_of, batches_in, lacks_columns
from lakeward.client.keys.key_forms import without_negative_zero
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import TypeRoot
from lakeward.model.table import TableInfo
from lakeward.records.arrow.arrow_types import arrow_schema, conform

_FLOATING = {TypeRoot.FLOAT, TypeRoot.DOUBLE}


class WrittenColumns:
    """The columns of one upsert, checked before anything is sent."""

    def __init__(self, info: TableInfo, names: Iterable[str] | None = None) -> None:
        schema = info.schema
        self._info = info
        self._named = names is not None
        if names is None:
            written = [n for n in schema.names if n not in schema.auto_increment]
        else:
            asked = {names} if isinstance(names, str) else set(names)
            for name in asked:
                schema.column(name)
            written = [n for n in schema.names if n in asked]
        self.names = tuple(written)
        self._whole_rows = len(written) == len(schema.names)
        if not self._whole_rows:
            _check_partial(info, written)
        self._written = schema.select(written)
        self._arrow = arrow_schema(self._written)
        self._all = arrow_schema(schema)
        self._has_floating_key = any(schema.column(n).type.root in _FLOATING for n in schema.primary_key)

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of the written columns in the table; none when whole rows are written."""
        return () if self._whole_rows else tuple(self._info.schema.positions[n] for n in self.names)

    @property
    def arrow(self) -> pa.Schema:
        """What `batches` makes: all columns of the table."""
        return self._all

    def check_delete(self) -> None:
        """Refuse deletes that would leave the row: a delete clears written columns, and that one cannot be written."""
        kept = self._info.schema.auto_increment
        if kept and not self._named:
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                f"Rows of {self._info.path} cannot be deleted as a whole, because the server keeps '{kept[0]}', which "
                "it fills itself. delete(keys, columns=[…]) sets other columns to NULL."
            )

    def batches(self, data: Any) -> Iterator[pa.RecordBatch]:
        """The rows with the table's columns, order and types; what does not fit is refused."""
        required = () if self._named else self.names
        for rows in arrow_of(data, self._info.schema, required):
            for batch in batches_in(conform(self._choose(rows), self._written, self._arrow)):
                yield self._complete(batch)

    def _choose(self, rows: Rows) -> Rows:
        """Without columns that are not to be written; an upsert of whole rows has all of them."""
        names = rows.schema.names
        if self._named:
            return rows.select([n for n in names if n in self.names])
        if filled := [n for n in self._info.schema.auto_increment if n in names]:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Column '{filled[0]}' of {self._info.path} is filled by the server; leave it out of the data."
            )
        if missing := [n for n in self.names if n not in names]:
            raise lacks_columns(missing, f"The data for {self._info.path}")
        return rows

    def _complete(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """All columns of the table, in its order; those that are not written are NULL, and keys have no −0."""
        if self._whole_rows and not self._has_floating_key:
            return batch
        arrays = []
        for column, field in zip(self._info.schema.columns, self._all, strict=True):
            place = batch.schema.get_field_index(column.name)
            values = pa.nulls(batch.num_rows, field.type) if place < 0 else batch.column(place)
            if column.type.root in _FLOATING and column.name in self._info.schema.primary_key:
                values = without_negative_zero(values)
            arrays.append(values)
        return pa.RecordBatch.from_arrays(arrays, schema=self._all)


def _check_partial(info: TableInfo, written: Sequence[str]) -> None:
    schema = info.schema
    if missing := [n for n in schema.primary_key if n not in written]:
        raise _refusal(info, f"the columns lack '{missing[0]}' of the primary key, without which no row is found")
    if filled := [n for n in schema.auto_increment if n in written]:
        raise _refusal(info, f"'{filled[0]}' is filled by the server")
    keyed = {*schema.primary_key, *schema.auto_increment}
    if required := [c.name for c in schema.columns if not c.type.nullable and c.name not in keyed]:
        raise _refusal(info, f"'{required[0]}' is NOT NULL, and a new row would have no value for it")


def _refusal(info: TableInfo, why: str) -> LakewardError:
    return ErrorCode.INVALID_TARGET_COLUMN.error(f"These columns of {info.path} cannot be upserted alone: {why}.")
