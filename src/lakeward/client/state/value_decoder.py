"""Stored values → Arrow, each by the schema it was written with, columns matched by id."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from lakeward.client.admin.admin import known_schema
from lakeward.client.cluster.cluster import Cluster
from lakeward.errors import CorruptError, ErrorCode, LakewardError
from lakeward.model.data_types import ROW
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options.table import KV_FORMAT
from lakeward.records.arrow.arrow_row_kernels import arrow_of_rows
from lakeward.records.arrow.arrow_rows import array_maker
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.batch.value_batch import SCHEMA_ID_BYTES, split_values
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.records.kernels.spans import Spans
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.row_codec import RowCodec, RowFormat

#: Below this many values a thread costs more than it saves.
_DECODE_HERE_VALUES = 1000
_CODECS: dict[RowForm, RowFormat] = {RowForm.COMPACTED: compacted_row.codec, RowForm.INDEXED: indexed_row.codec}


class _Plan(NamedTuple):
    """How rows of one schema become the asked columns: the schema, and where each asked column stands."""

    written: Schema
    places: tuple[int | None, ...]
    codec: RowCodec


class ValueDecoder:
    """Decodes values of one primary key table into the asked columns."""

    def __init__(self, cluster: Cluster, info: TableInfo, columns: Sequence[str] | None = None) -> None:
        self._cluster = cluster
        self._info = info
        self._form = RowForm(KV_FORMAT.read(info.descriptor.properties))
        self._columns = info.schema.columns if columns is None else tuple(info.schema.column(n) for n in columns)
        self.schema = arrow_schema(info.schema.select([c.name for c in self._columns]))
        self._rows_as_array = array_maker(ROW([(c.name, c.type) for c in self._columns]))
        self._plans: dict[int, _Plan] = {}
        self._learn(info.schema_id, info.schema)

    def _learn(self, schema_id: int, schema: Schema) -> None:
        by_id = {c.id: i for i, c in enumerate(schema.columns)}
        codec = _CODECS[self._form](tuple(c.type for c in schema.columns))
        self._plans[schema_id] = _Plan(schema, tuple(by_id.get(c.id) for c in self._columns), codec)

    async def _know(self, schema_id: int) -> _Plan:
        if schema_id not in self._plans:
            schema = await known_schema(self._cluster, self._info.path, schema_id)
            if schema is None:
                raise self._unreadable(f"it was written under schema {schema_id}, which nobody knows")
            self._learn(schema_id, schema)
        return self._plans[schema_id]

    def _unreadable(self, why: str) -> LakewardError:
        return ErrorCode.CORRUPT_RECORD.error(
            f"A stored row of {self._info.path} cannot be read: {why.rstrip('.')}. Other keys can be looked up; the "
            "row can be put anew, or deleted by its key."
        )

    async def decode_few(self, values: Sequence[bytes | None]) -> pa.RecordBatch:
        """A few values one by one, which is quicker than all of them at once; None is a row of NULLs."""
        for value in values:
            if value is not None:
                await self._know(_schema_id(value))
        found = self.decode_known(values)
        if found is not None:
            return found
        found = await self.decode(Spans.of([value for value in values if value is not None]))
        numbers = iter(range(len(values)))
        return found.take(pa.array([None if value is None else next(numbers) for value in values], pa.int64()))

    def decode_known(self, values: Sequence[bytes | None]) -> pa.RecordBatch | None:
        """The same without a question to the cluster; None where one is needed, or where they do not do one by one."""
        rows: list[tuple[Any, ...]] = []
        for value in values:
            if value is None:
                rows.append((None,) * len(self._columns))
                continue
            plan = self._plans.get(_schema_id(value))
            if plan is None:
                return None
            try:
                cells = plan.codec.decode(value[SCHEMA_ID_BYTES:])
            except CorruptError as wrong:
                raise self._unreadable(wrong.message) from wrong
            rows.append(tuple(None if place is None else cells[place] for place in plan.places))
        try:
            # One array of rows, not one per column: Arrow takes its time over each.
            return pa.RecordBatch.from_struct_array(self._rows_as_array(rows))
        except pa.ArrowInvalid:  # a sum beyond the digits of its DECIMAL: Arrow can hold it, but not be given it
            return None

    async def decode(self, values: Spans) -> pa.RecordBatch:
        """The values as rows, in their order; schemas that are not known yet are asked for."""
        try:
            ids, rows = split_values(values)
        except CorruptError as wrong:
            raise self._unreadable(wrong.message) from wrong
        for schema_id in np.unique(ids).tolist():
            await self._know(schema_id)
        if len(values) < _DECODE_HERE_VALUES:
            return self._decode_rows(ids, rows)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._cluster.workers, self._decode_rows, ids, rows)

    def _decode_rows(self, ids: np.ndarray, rows: Spans) -> pa.RecordBatch:
        present = np.unique(ids)
        if len(present) <= 1:
            return self._of_schema(int(present[0]) if len(present) else self._info.schema_id, rows)
        places = [np.flatnonzero(ids == schema_id) for schema_id in present]
        parts = [self._of_schema(int(i), rows.take(where)) for i, where in zip(present, places, strict=True)]
        order = np.empty(len(ids), np.int64)
        order[np.concatenate(places)] = np.arange(len(ids))
        return pa.concat_batches(parts).take(pa.array(order))

    def _of_schema(self, schema_id: int, rows: Spans) -> pa.RecordBatch:
        plan = self._plans[schema_id]
        try:
            written = arrow_of_rows(rows, plan.written, self._form)
        except CorruptError as wrong:
            raise self._unreadable(wrong.message) from wrong
        arrays = [
            pa.nulls(len(rows), field.type) if place is None else written.column(place)
            for place, field in zip(plan.places, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _schema_id(value: bytes) -> int:
    return int.from_bytes(value[:SCHEMA_ID_BYTES], "little", signed=True)
