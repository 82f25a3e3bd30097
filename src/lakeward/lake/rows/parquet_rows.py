"""A Parquet file → its live rows, in wanted columns and types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakeward.lake.files.s3_path import LakePath, S3Path
from lakeward.lake.rows.conformed_rows import match_columns

_BATCH_ROWS = 131_072


def parquet_rows(stream: Any, schema: pa.Schema, deleted: NDArray[np.int64] | None = None) -> Iterator[pa.RecordBatch]:
    """Rows in the file's order, without those at deleted positions; columns that it lacks are NULL."""
    with pq.ParquetFile(stream, pre_buffer=True) as file:
        gone = np.empty(0, np.int64) if deleted is None else np.unique(deleted)
        if not schema.names:
            yield _blank_rows(file.metadata.num_rows - len(gone))
            return
        there = set(file.schema_arrow.names)
        at = 0
        for batch in file.iter_batches(_BATCH_ROWS, columns=[n for n in schema.names if n in there] or [_any(file)]):
            first, last = np.searchsorted(gone, (at, at + batch.num_rows))
            if last > first:
                live = np.ones(batch.num_rows, np.bool_)
                live[gone[first:last] - at] = False
                rows = batch.filter(pa.array(live))
            else:
                rows = batch
            at += batch.num_rows
            if rows.num_rows:
                yield fit_rows(rows, schema)


def _any(file: pq.ParquetFile) -> str:
    name: str = file.schema_arrow.names[0]
    return name


def fit_rows(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The rows in these columns and types; columns that they lack are NULL."""
    if not schema.names:
        return _blank_rows(rows.num_rows)
    return match_columns(rows, schema, lambda field, column: pc.cast(column, field.type))


def _blank_rows(rows: int) -> pa.RecordBatch:
    return pa.record_batch([pa.nulls(rows)], ["_"]).select([])


def parquet_table(path: LakePath) -> pa.Table:
    """All rows of a file, as they are."""
    if not isinstance(path, S3Path):
        return pq.read_table(path, partitioning=None)
    with path.open("rb") as stream:
        return pq.read_table(stream, partitioning=None)
