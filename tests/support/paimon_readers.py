"""Readers of Paimon tables that we did not write: Apache Paimon's own, in Rust and in Python.

pypaimon asks for older versions of pyarrow, pandas and polars than we develop with, so that it cannot be installed
beside them; it reads well with the newer ones. It is fetched once, without what it asks for, into a folder of the
virtual environment, and runs in a process of its own that answers one question after the other.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lake_tables import Home, S3Warehouse

from lakeward.runtime.process.child import Child

_FOLDER = Path(sys.prefix) / "paimon-reader"
_PACKAGES = (
    "pypaimon==2.1.0",
    "cachetools>=5,<6",
    "cramjam>=2.7,<3",
    "isal>=1.8,<2",
    "pyroaring>=1",
    "readerwriterlock>=1,<2",
    "typing_extensions>=4",
)
_ANSWER = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pyarrow as pa
from pypaimon import CatalogFactory
out = pa.PythonFile(sys.stdout.buffer, "w")
for line in sys.stdin:
    options, name = json.loads(line)
    table = CatalogFactory.create(options).get_table(name)
    reading = table.new_read_builder()
    found = reading.new_read().to_arrow(reading.new_scan().plan().splits())
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, found.schema) as stream:
        stream.write_table(found)
    data = sink.getvalue().to_pybytes()
    sys.stdout.buffer.write(len(data).to_bytes(8, "big") + data)
    sys.stdout.buffer.flush()
"""


def read_by_pypaimon(warehouse: Home, name: str = "shop.orders") -> list[dict[str, Any]]:
    """What Paimon's Python reader sees; skips the test where it cannot be had."""
    process = _pypaimon()
    assert process.stdin is not None
    assert process.stdout is not None
    options = {"warehouse": str(warehouse)}
    if isinstance(warehouse, S3Warehouse):
        bucket = warehouse.bucket
        options |= {
            "fs.s3.endpoint": bucket.endpoint,
            "fs.s3.accessKeyId": bucket.access_key,
            "fs.s3.accessKeySecret": bucket.secret_key,
            "fs.s3.region": "us-east-1",
        }
    process.stdin.write(json.dumps([options, name]).encode() + b"\n")
    process.stdin.flush()
    head = process.stdout.read(8)
    assert len(head) == 8, f"pypaimon failed: {process.stderr.read().decode() if process.stderr else ''}"
    data = process.stdout.read(int.from_bytes(head, "big"))
    return pa.ipc.open_stream(data).read_all().to_pylist()


def read_by_paimon_rust(
    warehouse: Home, name: str = "shop.orders", *, columns: list[str] | None = None
) -> list[dict[str, Any]]:
    """What Paimon's Rust reader sees, of all columns or of these."""
    from pypaimon_rust.datafusion import PaimonCatalog

    options = {"warehouse": str(warehouse)}
    if isinstance(warehouse, S3Warehouse):
        bucket = warehouse.bucket
        options |= {
            "s3.endpoint": bucket.endpoint,
            "s3.access-key": bucket.access_key,
            "s3.secret-key": bucket.secret_key,
            "s3.region": "us-east-1",
            "s3.path.style.access": "true",
        }
    reading = PaimonCatalog(options).get_table(name).new_read_builder()
    if columns is not None:
        reading = reading.with_projection(columns)
    return [row for batch in reading.new_read().read(reading.new_scan().plan().splits()) for row in batch.to_pylist()]


@cache
def _pypaimon() -> Child:
    if not (_FOLDER / "pypaimon").exists():
        fetch = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(_FOLDER), *_PACKAGES]
        done = subprocess.run(fetch, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"pypaimon could not be fetched: {done.stderr.strip().splitlines()[-1]}")
    process = Child(
        [sys.executable, "-c", _ANSWER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(_FOLDER)},
    )
    atexit.register(process.kill)
    return process
