"""Equality deletes, as Apache Fluss's tiering writes them: files of values; older rows with such values are gone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeward.lake.iceberg.read.lake_files import Inputs
from lakeward.lake.port import LakeEqualityDeletes

_ROW = "__row"


class EqualityDeletes:
    """What files of equality deletes say; they are read once, as long as neighbours ask for the same."""

    def __init__(self, io: Inputs) -> None:
        self._io = io
        self._known: tuple[tuple[LakeEqualityDeletes, ...], list[pa.Table]] = ((), [])

    def of(self, files: tuple[LakeEqualityDeletes, ...]) -> list[pa.Table]:
        """The values that are gone: a table for each set of columns."""
        known, found = self._known  # taken at once: threads share this
        if known != files:
            found = self._read(files)
            self._known = (files, found)
        return found

    def _read(self, files: Sequence[LakeEqualityDeletes]) -> list[pa.Table]:
        by_columns: dict[tuple[str, ...], list[pa.Table]] = {}
        for file in files:
            with self._io.new_input(file.path).open() as stream:
                rows = pq.read_table(stream, columns=list(file.columns))
            by_columns.setdefault(file.columns, []).append(rows)
        return [
            pa.concat_tables(tables, promote_options="permissive").select(list(columns)).combine_chunks()
            for columns, tables in by_columns.items()
        ]


def wider(schema: pa.Schema, gone: Sequence[pa.Table]) -> pa.Schema:
    """A schema with the columns that deletes are about."""
    fields = {field.name: field for values in gone for field in values.schema}
    return pa.schema([*schema, *(field for name, field in fields.items() if name not in schema.names)])


def without(rows: pa.RecordBatch, gone: Sequence[pa.Table]) -> pa.RecordBatch:
    """The rows that have none of the values that are gone. NULL is a value like others."""
    for values in gone:
        if values.num_rows and rows.num_rows:
            rows = _without(rows, values)
    return rows


def _without(rows: pa.RecordBatch, values: pa.Table) -> pa.RecordBatch:
    names = values.column_names
    if len(names) == 1 and not pa.types.is_floating(values.schema.field(0).type):
        column = rows.column(names[0])
        same = pc.cast(values[names[0]].combine_chunks(), column.type)
        return rows.filter(pc.invert(pc.is_in(column, value_set=same)))
    keys = pa.Table.from_batches([rows.select(names)])
    values = values.cast(keys.schema)
    numbered = keys.append_column(_ROW, pa.array(np.arange(rows.num_rows)))
    left = numbered.join(values, names, join_type="left anti", use_threads=False)[_ROW].to_numpy()
    # A join takes no NULL for another: rows with one are few, and are looked at one by one.
    odd = {tuple(row.values()) for row in values.filter(_any_null(values)).to_pylist()}
    if odd:
        kept = [at for at in left if tuple(keys.slice(at, 1).to_pylist()[0].values()) not in odd]
        left = np.array(kept, np.int64)
    return rows.take(pa.array(np.sort(left)))


def _any_null(rows: pa.Table) -> pa.ChunkedArray:
    found = pc.is_null(rows[rows.column_names[0]])
    for name in rows.column_names[1:]:
        found = pc.or_(found, pc.is_null(rows[name]))
    return found
