"""Positions of rows that are gone → a file of position deletes."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionKey

_FILE_PATH_ID = 2147483546


def write_delete_file(io: FileIO, path: str, rows: pa.Table, partition: PartitionKey, spec_id: int) -> DataFile:
    """The file, written; `rows` are in the schema and the order that the format prescribes."""
    output = io.new_output(path)
    with output.create(overwrite=True) as stream:
        pq.write_table(rows, stream, compression="zstd")
    named: list[str] = pc.unique(rows["file_path"]).to_pylist()
    bounds: dict[str, Any] = {
        "lower_bounds": {_FILE_PATH_ID: min(named).encode()},
        "upper_bounds": {_FILE_PATH_ID: max(named).encode()},
    }
    return DataFile.from_args(
        content=DataFileContent.POSITION_DELETES,
        file_path=path,
        file_format=FileFormat.PARQUET,
        partition=partition.partition,
        record_count=rows.num_rows,
        file_size_in_bytes=len(output),
        column_sizes={},  # may be left out; pyiceberg's `inspect.entries` fails where they are
        spec_id=spec_id,
        sort_order_id=None,
        equality_ids=None,
        key_metadata=None,
        split_offsets=None,
        **bounds,
    )
