"""A server with a log table, a table by key and a lake, in one shape."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lakeward
from bench.rows import BATCH_ROWS, SCHEMA, batches
from bench.scale.shapes import Shape
from bench.targets import Target, lakeward_again
from bench.union.work import TIERED, Lake

LOG, KEYED = "fluss.scale_log", "fluss.scale_keyed"
KEYED_SCHEMA = pa.schema(
    [pa.field("id", pa.int64(), nullable=False), ("a", pa.int64()), ("b", pa.float64()), ("c", pa.string())]
)
#: More than any point needs; what a table may have is not what is measured.
OPTIONS = ("-D", "max.bucket.num=100000", "-D", "max.partition.num=100000")
_PLACE = pa.field("p", pa.string(), nullable=False)
_UPSERT_ROWS = 500_000


class Bed:
    """What is measured; `ours` tells whether it is our server, which can be stopped and started again."""

    def __init__(self, target: Target, shape: Shape, warehouse: Path, *, ours: bool) -> None:
        self.target, self.shape, self.ours, self.warehouse = target, shape, ours, warehouse
        self.lake: Any = None
        self.open()

    def open(self) -> None:
        """Connect; anew after the server was."""
        self.lake = Lake(self.target, self.warehouse)
        self.conn = self.lake.conn

    def close(self) -> None:
        """Hang up."""
        self.conn.close()

    @property
    def log(self) -> lakeward.Table:
        """The log table."""
        return self.conn.table(LOG)

    @property
    def keyed(self) -> lakeward.Table:
        """The table by key."""
        return self.conn.table(KEYED)

    def create(self) -> None:
        """Both tables."""
        shape = self.shape
        made = {"partition_by": ["p"]} if shape.partitions else {}
        tiered = {**TIERED, "table.datalake.format": "iceberg"} if self.ours else {}
        log_schema, keyed_schema = SCHEMA, KEYED_SCHEMA
        if shape.partitions:
            log_schema, keyed_schema = log_schema.append(_PLACE), keyed_schema.append(_PLACE)
        by_id = {"bucket_by": ["id"]} if shape.by_id else {}
        self._create(LOG, log_schema, buckets=shape.buckets, properties=tiered, **made, **by_id)
        key = ["id", "p"] if shape.partitions else ["id"]
        self._create(KEYED, keyed_schema, buckets=shape.buckets, primary_key=key, properties=tiered, **made)

    def _create(self, name: str, schema: pa.Schema, **more: Any) -> None:
        for attempt in range(100):  # Apache Fluss opens its port before its tablet server has registered
            try:
                table = self.conn.create_table(name, schema, **more)
                if not self.shape.partitions:
                    table.offsets("latest")
                return
            except lakeward.LakewardError:
                if self.ours or attempt == 99:
                    raise
                self.conn.drop_table(name, missing_ok=True)
                time.sleep(0.1)

    def log_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """So many rows, in batches of 50,000 or one smaller one."""
        if rows < BATCH_ROWS:
            yield self._placed(batches(1)[0].slice(0, rows), SCHEMA)
            return
        made = [self._placed(batch, SCHEMA) for batch in batches(min(rows // BATCH_ROWS, 8))]
        for number in range(rows // BATCH_ROWS):
            yield made[number % len(made)]

    def key_batches(self, keys: int) -> Iterator[pa.RecordBatch]:
        """Rows of the keys 0, 1, 2 …"""
        for first in range(0, keys, _UPSERT_ROWS):
            yield self.key_rows(np.arange(first, min(first + _UPSERT_ROWS, keys)))

    def key_rows(self, ids: Any, number: int = 0) -> pa.RecordBatch:
        """The rows of some keys."""
        text = pa.array(ids).cast(pa.string())
        made = [pa.array(ids), pa.array(ids + number), pa.array(ids * 0.5), text]
        return self._placed(pa.record_batch(made, schema=KEYED_SCHEMA), KEYED_SCHEMA)

    def key_of(self, number: int) -> Any:
        """The key of a row, as a lookup takes it."""
        if not self.shape.partitions:
            return number
        return {"id": number, "p": str(number % self.shape.partitions)}

    def _placed(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        if not self.shape.partitions:
            return batch
        places = pa.array(np.asarray(batch["id"]) % self.shape.partitions).cast(pa.string())
        return pa.record_batch([*batch.columns, places], schema=schema.append(_PLACE))

    # -- the server, again --------------------------------------------------------------------------------------------

    def stop_server(self, *, kill: bool = False) -> None:
        """End it, and keep its data."""
        self.close()
        for process in self.target.processes:
            process.kill() if kill else process.terminate()
            process.wait(120)

    def start_server(self, options: tuple[str, ...] = ()) -> float:
        """Start it on its data; seconds until it was ready."""
        self.target = lakeward_again(self.target, (*OPTIONS, *options))
        return self.target.start_s


@contextmanager
def made_bed(target: Target, shape: Shape, *, ours: bool) -> Iterator[Bed]:
    """A bed with its tables, not filled yet; all of it is gone afterwards."""
    warehouse = Path(tempfile.mkdtemp(prefix="lakeward-scale-lake-"))
    bed = None
    try:
        bed = Bed(target, shape, warehouse, ours=ours)
        bed.create()
        yield bed
    finally:
        if bed is not None:
            bed.close()
            target = bed.target
        target.stop()
        shutil.rmtree(warehouse, ignore_errors=True)
