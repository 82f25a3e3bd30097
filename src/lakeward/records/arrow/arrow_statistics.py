"""Statistics of Arrow batches, for tables that ask for them (`table.statistics.columns`)."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_rows import values_of
from lakeward.records.batch.statistics import ColumnStatistics


def collect(batch: pa.RecordBatch, schema: Schema, positions: Iterable[int]) -> list[ColumnStatistics]:
    """Null count, minimum and maximum of some columns of a conformed batch."""
    return [_column(batch.column(p), schema.columns[p].type, p) for p in positions]


def _column(array: pa.Array, type_: DataType, position: int) -> ColumnStatistics:
    minimum = maximum = None
    if not _is_unordered(array, type_):
        found = pc.min_max(array)
        minimum, maximum = values_of(pa.array([found["min"], found["max"]], array.type), type_)
    return ColumnStatistics(position, array.null_count, minimum, maximum)


def _is_unordered(array: pa.Array, type_: DataType) -> bool:
    """CHAR is not collected by Apache Fluss either; where there is a NaN nothing may be pruned."""
    if type_.root is TypeRoot.CHAR:
        return True
    return type_.root in {TypeRoot.FLOAT, TypeRoot.DOUBLE} and bool(pc.any(pc.is_nan(array)).as_py())
