"""What libraries cost and give where we have, or had, code of our own: `python -m bench.libraries`.

The figures of docs/decisions/0025-by-hand-or-by-library.md. CPU time, the best of some rounds.
"""

from __future__ import annotations

import io
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fastavro
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import (
    DataFile,
    DataFileContent,
    FileFormat,
    ManifestEntry,
    ManifestEntryStatus,
    ManifestFile,
    write_manifest,
)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.typedef import Record
from pyiceberg.types import LongType, NestedField
from pyroaring import BitMap

from lakeward.lake.iceberg.read.manifest_entries import read_entries
from lakeward.storage.kv.roaring.roaring import union_of_bitmaps

_SERVER = "import lakeward.server.node, uvloop, obstore, lakeward.remote.s3.s3_settings"
_WEIGHED = {
    "pyroaring": "import pyroaring",
    "numpy": "import numpy",
    "our keys and signatures": "import lakeward.remote.s3.credential_chain, lakeward.remote.s3.open_uploads",
    "botocore, an STS client": "import botocore.session\nbotocore.session.Session().create_client('sts', 'x')",
    "awscrt, its chain (if installed)": "import awscrt.auth, awscrt.io\n"
    "awscrt.auth.AwsCredentialsProvider.new_default_chain(awscrt.io.ClientBootstrap.get_or_create_static_default())",
    "fastavro": "import fastavro",
    "pyiceberg's Avro and manifests": "import pyiceberg.manifest",
}
_COLUMNS = range(1, 14)
_ROUNDS = 5


def main() -> None:
    """Print the figures."""
    print("loaded on top of a server with obstore:")
    for name, code in _WEIGHED.items():
        print(f"  {name:36} {_weight(code)}")
    print("manifests of 13 columns with bounds, CPU µs an entry:")
    with TemporaryDirectory() as directory:
        for entries in (8, 100, 5000):
            single = _manifest(Path(directory) / f"{entries}.avro", entries)
            for blocks, path in (("a block each", single), ("large blocks", _in_large_blocks(single))):
                found = ", ".join(f"{n} {_cpu_us(read) / entries:.1f}" for n, read in _readers(path).items())
                print(f"  {entries} entries, {blocks}: {found}")
    print("unions of bitmaps, CPU µs:")
    for name, (a, b) in _bitmaps().items():
        print(f"  {name:44} {_cpu_us(lambda a=a, b=b: union_of_bitmaps(a, b)):.1f}")


def _weight(code: str) -> str:
    script = f"""{_SERVER}
import resource
def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    pages = int(open('/proc/self/statm').read().split()[1])
    return own.ru_utime + own.ru_stime, pages * resource.getpagesize() / 1e6
before = used()
{code}
print(*(b - a for a, b in zip(before, used())))
"""
    found = []
    for _ in range(_ROUNDS):
        done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
        if done.returncode:
            return "not installed"
        found.append(tuple(map(float, done.stdout.split())))
    seconds, megabytes = min(found)
    return f"{seconds * 1000:.0f} ms CPU, {megabytes:.1f} MB"


def _manifest(path: Path, entries: int) -> Path:
    """As pyiceberg writes it, and we by it: one entry a block."""
    schema = Schema(*(NestedField(i, f"c{i}", LongType(), required=False) for i in _COLUMNS))
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"), spec_id=0)
    with write_manifest(2, spec, schema, PyArrowFileIO().new_output(str(path)), 77, "deflate") as out:
        for n in range(entries):
            file = DataFile.from_args(
                content=DataFileContent.DATA,
                file_path=f"s3://bucket/warehouse/db/t/data/p={n % 7}/00000-{n:036}.parquet",
                file_format=FileFormat.PARQUET,
                partition=Record(n % 7),
                record_count=100_000 + n,
                file_size_in_bytes=9_999_999 + n,
                **{name: dict.fromkeys(_COLUMNS, 1000) for name in ("column_sizes", "value_counts")},
                null_value_counts=dict.fromkeys(_COLUMNS, 0),
                nan_value_counts={},
                **{name: dict.fromkeys(_COLUMNS, struct.pack("<q", n)) for name in ("lower_bounds", "upper_bounds")},
                split_offsets=[4],
                sort_order_id=0,
            )
            added = ManifestEntryStatus.ADDED
            out.add_entry(ManifestEntry.from_args(status=added, snapshot_id=77, sequence_number=3, data_file=file))
    return path


def _in_large_blocks(path: Path) -> Path:
    """The same as Java's writers have it."""
    with path.open("rb") as stream:
        reader = fastavro.reader(stream)
        records = list(reader)
    metadata = {k: v for k, v in reader.metadata.items() if not k.startswith("avro.")}
    large = path.with_suffix(".large")
    with large.open("wb") as stream:
        fastavro.writer(stream, reader.writer_schema, records, "deflate", 64_000, metadata)
    return large


def _readers(path: Path) -> dict[str, Callable[[], object]]:
    data = path.read_bytes()
    files = PyArrowFileIO()
    about: dict[str, Any] = {"manifest_length": len(data), "partition_spec_id": 0, "content": 0, "sequence_number": 3}
    manifest = ManifestFile.from_args(manifest_path=str(path), added_snapshot_id=77, **about)
    return {
        "ours for a plan": lambda: read_entries(data, 3),
        "ours with all bounds": lambda: [entry.statistics for entry in read_entries(data, 3)],
        "fastavro": lambda: list(fastavro.reader(io.BytesIO(data))),
        "pyiceberg": lambda: manifest.fetch_manifest_entry(files),
    }


def _bitmaps() -> dict[str, tuple[bytes, bytes]]:
    sample = random.Random(1).sample
    wide, million = range(2**32), range(10**6)
    return {
        "1 member into 100 near ones": (_bitmap(range(0, 300, 3)), _bitmap([7])),
        "1 member into 1,000 spread ones": (_bitmap(sample(wide, 1000)), _bitmap([7])),
        "10,000 spread ones into as many": (_bitmap(sample(wide, 10_000)), _bitmap(sample(wide, 10_000))),
        "100,000 of a million into as many": (_bitmap(sample(million, 100_000)), _bitmap(sample(million, 100_000))),
        "1 member into a run of 16 million": (_bitmap(range(16 << 20)), _bitmap([1 << 30])),
    }


def _bitmap(members: Any) -> bytes:
    bitmap = BitMap(members)
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


def _cpu_us(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        count, begin = 0, time.process_time()
        while time.process_time() - begin < 0.1:
            work()
            count += 1
        best = min(best, (time.process_time() - begin) / count)
    return best * 1e6


if __name__ == "__main__":
    main()
