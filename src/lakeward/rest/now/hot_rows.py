"""A stretch of a bucket's log, or its state, as rows of the lake: the table's columns and the system columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.rows.system_columns import CHANGE, SYSTEM_FIELDS
from lakeward.query.lake.overtaken import OvertakenError
from lakeward.query.plan.splits import LogSplit
from lakeward.query.read.log_rows import LogRows
from lakeward.query.request.request import ReadRequest

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table

Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)

_TOLD = ("_bucket", "_offset", "_timestamp")
_BEFORE = "-U"


class HotRows:
    """Reads what the lake does not have of one table."""

    def __init__(self, table: Table, request: ReadRequest, now_ms: int) -> None:
        self._table = table
        self._log = LogRows(table, request)
        self._now_ms = now_ms
        self._names = table.info.schema.names

    def of_log(self, id_: BucketId, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Rows of a stretch; of a primary key table its changes, but for rows as they were before, with what they are.

        OvertakenError when retention was faster: a newer plan has the rows.
        """
        keyed = self._table.info.descriptor.has_primary_key
        split = LogSplit(id_.partition, id_.bucket, start, stop)
        try:
            for batch in self._log.fetch(split, self._names, metadata=True, strict=True):
                rows = rows_where(pc.not_equal(batch[CHANGE], _BEFORE), batch) if keyed else batch
                if rows.num_rows:
                    yield self._place_rows(rows, keyed=keyed)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                raise
            raise OvertakenError(f"{wrong.message} The lake's newer snapshot has them: ask again.") from wrong

    def of_state(self, id_: BucketId, as_of: int) -> Iterator[pa.RecordBatch]:
        """The rows of a bucket as of an offset; all of them have the last offset before it, and the time of now."""
        partitions = None if id_.partition is None else [id_.partition]
        try:
            found = self._table.snapshot_batches(self._names, partitions=partitions, buckets=[id_.bucket], as_of=as_of)
            for rows in found:
                if rows.num_rows:
                    yield self._stamp_rows(rows, id_.bucket, max(as_of - 1, 0))
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.LOG_OFFSET_OUT_OF_RANGE:
                raise
            raise OvertakenError(f"The state of {self._table.path}, bucket {id_}, has moved on: ask again.") from wrong

    def _place_rows(self, rows: pa.RecordBatch, *, keyed: bool) -> pa.RecordBatch:
        system = [rows[name].cast(field.type) for field, name in zip(SYSTEM_FIELDS, _TOLD, strict=True)]
        columns = [*(rows[name] for name in self._names), *system, *([rows[CHANGE]] if keyed else [])]
        names = [*self._names, *(field.name for field in SYSTEM_FIELDS), *([CHANGE] if keyed else [])]
        return pa.RecordBatch.from_arrays(columns, names)

    def _stamp_rows(self, rows: pa.RecordBatch, bucket: int, offset: int) -> pa.RecordBatch:
        values = (bucket, offset, self._now_ms * 1000)
        kinds = (np.int32, np.int64, np.int64)
        system = [
            pa.array(np.full(rows.num_rows, value, kind)).cast(field.type)
            for field, value, kind in zip(SYSTEM_FIELDS, values, kinds, strict=True)
        ]
        names = [*self._names, *(field.name for field in SYSTEM_FIELDS)]
        return pa.RecordBatch.from_arrays([*(rows[name] for name in self._names), *system], names)


def rows_where(wanted: pa.Array, rows: Rows) -> Rows:
    """Those that are wanted; without a copy where all are."""
    return rows if pc.all(wanted, min_count=0).as_py() else rows.filter(wanted)
