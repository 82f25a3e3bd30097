"""A stream of two columns in ten beside one of all ten: bytes that the server has sent for each, as it counts them."""

from __future__ import annotations

import random
import re
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

import lakeward as lw
import lakeward.spark
from bench.targets import Target

_TABLE = "fluss.spark_wide"
_NAMES = [f"c{number}" for number in range(10)]
_BATCH_ROWS = 200


def bytes_share(target: Target, rows: int = 20_000) -> float:
    """What a scan of two columns is of a scan of all; both start at the first row and read all of them."""
    with lw.connect(target.bootstrap) as connection:
        _fill(connection, rows)
    spark = lakeward.spark.session(target.bootstrap, master="local[2]", **{"spark.ui.enabled": "false"})
    try:
        stream = spark.readStream.option("scan.startup.mode", "earliest").table(f"fluss.{_TABLE}")
        whole = _sent_for(target, stream, rows)
        return _sent_for(target, stream.select(*_NAMES[:2]), rows) / whole
    finally:
        spark.stop()


def _fill(connection: Any, rows: int) -> None:
    """Columns of one size that do not get smaller when they are packed; in many batches, since a stream that asks how
    far behind it is looks at one of them, with all columns."""
    table = connection.create_table(_TABLE, ", ".join(f"{name} STRING" for name in _NAMES), buckets=2)
    some = random.Random(0)
    for _ in range(0, rows, _BATCH_ROWS):
        table.append({name: [some.randbytes(10).hex() for _ in range(_BATCH_ROWS)] for name in _NAMES})


def _sent_for(target: Target, stream: Any, rows: int) -> int:
    """Bytes of a query that ends when it has read what is there."""
    before = _sent(target)
    with tempfile.TemporaryDirectory(prefix="lakeward-stream-") as place:
        writer = stream.writeStream.format("noop").option("checkpointLocation", str(Path(place) / "checkpoint"))
        query = writer.trigger(availableNow=True).start()
        if not query.awaitTermination(60):
            query.stop()
            raise TimeoutError("the stream did not end")
        read = sum(progress.numInputRows for progress in query.recentProgress)
    if read != rows:
        raise AssertionError(f"the stream gave {read} rows of {rows}")
    return _sent(target) - before


def _sent(target: Target) -> int:
    """Bytes of the table that the server has sent so far."""
    with urllib.request.urlopen(f"http://{target.bootstrap}/metrics") as answer:
        found = re.search(rf'lakeward_table_out_bytes_total{{table="{_TABLE}"}} (\d+)', answer.read().decode())
    return int(found[1]) if found else 0
