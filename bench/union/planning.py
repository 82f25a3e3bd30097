"""A table of many partitions, and how long a plan of it takes. Its files in the lake are only said to be there."""

from __future__ import annotations

import copy
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pyarrow as pa

from bench.union.work import TIERED, Lake, Table
from lakeward.lake.catalog_of import catalog_of
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.write.data_writer import WrittenFiles
from lakeward.lake.port import LakePlace
from lakeward.lake.round_properties import RoundProperties
from lakeward.lake.rows.system_columns import BUCKET, OFFSET, SYSTEM_FIELDS, TIMESTAMP
from lakeward.model.bucket import TableBucket
from lakeward.query.plan.planner import plan_read
from lakeward.query.request.request import ReadRequest

_SCHEMA = pa.schema([("p", pa.int32()), ("id", pa.int64()), ("a", pa.int64()), ("b", pa.float64()), ("c", pa.string())])
_ROWS_A_BUCKET = 4


def wide_table(lake: Lake, partitions: int, buckets: int) -> Table:
    """Rows in every bucket of every partition, the last row of each not in the lake yet."""
    table = lake.conn.create_table(
        "fluss.union_wide",
        _SCHEMA,
        partition_by=["p"],
        buckets=buckets,
        bucket_by=["id"],
        properties={**TIERED, "table.datalake.format": "iceberg"},
    )
    count = buckets * _ROWS_A_BUCKET
    for first in range(0, partitions, 100):
        table.append(_rows(np.repeat(np.arange(first, min(first + 100, partitions), dtype=np.int32), count)))
    _say_tiered(lake, table)
    return table


def _rows(partitions: Any) -> pa.Table:
    ids = np.arange(len(partitions))
    text = pa.array(ids).cast(pa.string())
    return pa.table([pa.array(partitions), pa.array(ids), pa.array(ids), pa.array(ids * 0.5), text], schema=_SCHEMA)


def _say_tiered(lake: Lake, table: Table) -> None:
    """Commit a round with a file for each bucket: one is written, the others are copies of its entry."""
    catalog = catalog_of(table.info, {"warehouse": lake.warehouse})
    lake_table: Any = catalog.ensure(table.info)
    ids = {p.name: p.id for p in table.partitions()}
    ends = {id_: end - 1 for id_, end in table.offsets("latest").items() if end > 1}
    (writing,) = lake_table.writing([LakePlace(0, ("0",))])
    writer = lake_format("iceberg").writer(writing, LakePlace(0, ("0",)))
    rows = _rows(np.zeros(100, np.int32))
    system = {BUCKET: np.zeros(100, np.int32), OFFSET: np.arange(100), TIMESTAMP: np.zeros(100, "M8[us]")}
    for field in SYSTEM_FIELDS:
        rows = rows.append_column(field, pa.array(system[field.name]).cast(field.type))
    writer.write(rows.to_batches()[0])
    (file,) = WrittenFiles.of_bytes(writer.finish().record, 0).data
    files = [_copied(file, int(id_.partition or 0), id_.bucket) for id_ in ends]
    offsets = {TableBucket(table.info.table_id, ids[id_.partition], id_.bucket): end for id_, end in ends.items()}
    lake_table.commit([WrittenFiles(files).to_bytes()], RoundProperties(table.info.table_id, offsets, 0), None)


def _copied(file: Any, partition: int, bucket: int) -> Any:
    made = copy.copy(file)
    made._data = list(file._data)
    made._data[1] = file.file_path.replace(".parquet", f"-{partition}-{bucket}.parquet")
    made._data[3] = type(file.partition)(partition, bucket)
    return made


def planning_s(lake: Lake, table: Table, rounds: int) -> tuple[float, float, int]:
    """Seconds of the first plan in a process of its own, of later ones (the median), and how many splits there are."""
    request = _request(lake, table)
    splits = len(plan_read(lake.conn, request).splits)
    code = (
        "import sys, time, lakeward, lakeward.query.duckdb.sql\n"
        "from bench.union.planning import once_s\n"
        "with lakeward.connect(sys.argv[1]) as conn:\n"
        "    conn.tables()\n"
        "    print(once_s(conn, sys.argv[2], sys.argv[3]))\n"
    )
    command = [sys.executable, "-c", code, lake.bootstrap, str(table.path), lake.warehouse]
    fresh = [float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(3)]
    again = [once_s(lake.conn, str(table.path), lake.warehouse) for _ in range(rounds)]
    return statistics.median(fresh), statistics.median(again), splits


def once_s(conn: Any, name: str, warehouse: str) -> float:
    """Seconds of one plan."""
    request = ReadRequest.of_name(name, options={"lake.warehouse": warehouse})
    begun = time.perf_counter()
    plan_read(conn, request)
    return time.perf_counter() - begun


def _request(lake: Lake, table: Table) -> ReadRequest:
    return ReadRequest(table.path, options={"lake.warehouse": lake.warehouse})
