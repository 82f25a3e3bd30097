"""The columns of changes: what a row was before it changed may lack all but its key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from lakeward.formats.port import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Decoded
from lakeward.formats.values.faults import Faults
from lakeward.formats.values.values import I64, U8
from lakeward.model.data_types import ROW, DataType
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_IN_WORDS = {INSERT: "an insert", UPDATE_BEFORE: "an update", UPDATE_AFTER: "an update", DELETE: "a delete"}


class ChangeSchema:
    """Of a table, the columns that changes of it have."""

    def __init__(self, schema: Schema) -> None:
        self.names = schema.names
        #: A row as it stands in a message: nothing in it is sure to be there.
        self.row: DataType = ROW([(column.name, column.type.as_nullable()) for column in schema.columns])
        self._key = set(schema.primary_key)
        self._needed = {column.name for column in schema.columns if not column.type.nullable}
        loose = [
            column if column.name in self._key else replace(column, type=column.type.as_nullable())
            for column in schema.columns
        ]
        self._arrow = arrow_schema(replace(schema, columns=tuple(loose)))

    def finish(self, rows: pa.StructArray, kinds: U8, owners: I64, faults: Faults) -> Decoded:
        """Rows that were found; messages with rows that lack what they need are bad."""
        columns = rows.flatten()
        for name, column in zip(self.names, columns, strict=True):
            if name in self._needed and column.null_count:
                is_after = (kinds == INSERT) | (kinds == UPDATE_AFTER)
                lacks = np.asarray(column.is_null())
                for index in np.flatnonzero(lacks if name in self._key else lacks & is_after).tolist():
                    what = _IN_WORDS[int(kinds[index])]
                    faults.add(int(owners[index]), f"column '{name}' is NOT NULL, and {what} has no value for it")
        batch = pa.RecordBatch.from_arrays(columns, schema=self._arrow)
        if len(faults):
            keep = ~np.isin(owners, faults.owners())
            batch, kinds, owners = batch.filter(pa.array(keep)), kinds[keep], owners[keep]
        return Decoded(batch, pa.array(owners), pa.array(kinds, pa.uint8()), faults.bad())
