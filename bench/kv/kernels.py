"""What each step of a put costs by itself: `python -m bench.kv.kernels`. One core, no server, no sockets.

Thousand rows a second and nanoseconds a row, the best of several runs; a row is one upsert, or one change.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bench.rows import SCHEMA as WIDE
from bench.rows import batches
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_row_kernels import columns_of_arrow
from lakeward.records.arrow.arrow_types import conform, schema_of_arrow
from lakeward.records.batch.changelog_batch import build_changelog_batch, build_row_changelog_batch, changelog_rows
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.batch.value_batch import encode_value_batch, parse_value_batch
from lakeward.records.columnar.row_kernels import decode_rows, encode_rows
from lakeward.records.ipc.buffer_codecs import codec_of
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_rows import keys_of_columns

BATCH_ROWS = 10_000
NARROW = pa.schema([("id", pa.int64()), ("number", pa.int32()), ("name", pa.string()), ("amount", pa.float64())])
_RUN_S = 0.4


class Work(NamedTuple):
    """One step: its name, what is done, and how many rows that is."""

    name: str
    do: Callable[[], object]
    rows: int


def narrow_batch(rows: int) -> pa.RecordBatch:
    """An int64 key and three values."""
    random = np.random.default_rng(1)
    return pa.record_batch(
        [
            pa.array(random.permutation(500_000)[:rows]),
            pa.array(random.integers(0, 1000, rows, dtype=np.int32)),
            pa.array(np.char.add("name-", random.integers(0, 500_000, rows).astype(str))),
            pa.array(random.random(rows)),
        ],
        schema=NARROW,
    )


def steps(batch: pa.RecordBatch, schema: Schema) -> list[Work]:
    """Every step, on one batch."""
    types, n = [c.type for c in schema.columns], batch.num_rows
    columns = columns_of_arrow(batch, schema)
    rows, keys = Spans.of_bounds(*encode_rows(columns, types)), keys_of_columns(columns, types, [0])
    request = bytes(build_kv_batch(1, keys, rows))
    # An update of every key: the old row, taken from another buffer, and the new one.
    old = Spans.of_bounds(*encode_rows(columns, types))
    both = np.repeat(np.arange(n), 2)
    old_buffer, old_starts, old_ends = old.in_one_buffer()
    new_buffer, new_starts, new_ends = rows.in_one_buffer()
    side = np.tile(np.array([0, 1], np.uint8), n)
    starts = np.where(side == 0, old_starts[both], new_starts[both])
    ends = np.where(side == 0, old_ends[both], new_ends[both])
    changes = np.tile(np.array([2, 3], np.uint8), n)
    inserts = np.ones(n, np.uint8)
    zstd, lz4 = codec_of("ZSTD"), codec_of("LZ4_FRAME")

    def update(codec: object = None) -> bytearray:
        spans = Spans([old_buffer, new_buffer], starts, ends, side)
        return build_changelog_batch(types, 1, changes, spans, codec=codec)  # type: ignore[arg-type]

    plain, packed = update(), update(zstd)
    row_log = build_row_changelog_batch(types, 1, inserts, rows)
    values = encode_value_batch(rows)
    return [
        Work("client: columns of an Arrow batch", lambda: columns_of_arrow(batch, schema), n),
        Work("client: rows of columns", lambda: encode_rows(columns, types), n),
        Work("client: keys of columns", lambda: keys_of_columns(columns, types, [0]), n),
        Work("client: kv batch of keys and rows", lambda: build_kv_batch(1, keys, rows), n),
        Work("server: parse a kv batch", lambda: parse_kv_batch(request), n),
        Work("server: rows to columns", lambda: decode_rows(rows, types), n),
        Work("server: changelog, inserts", lambda: build_changelog_batch(types, 1, inserts, rows), n),
        Work("server: changelog, updates (2 changes)", update, n),
        Work("server: changelog, updates, ZSTD", lambda: update(zstd), n),
        Work("server: changelog, updates, LZ4", lambda: update(lz4), n),
        Work("server: row changelog, inserts", lambda: build_row_changelog_batch(types, 1, inserts, rows), n),
        Work("server: value batch", lambda: encode_value_batch(rows), n),
        Work("client: parse a value batch", lambda: parse_value_batch(values), n),
        Work("replay: a changelog (changes)", lambda: changelog_rows(plain, types, [0]), 2 * n),
        Work("replay: a ZSTD changelog (changes)", lambda: changelog_rows(packed, types, [0]), 2 * n),
        Work(
            "replay: a row changelog (changes)",
            lambda: changelog_rows(row_log, types, [0], log_format="COMPACTED"),
            n,
        ),
    ]


def best_s(do: Callable[[], object]) -> float:
    """The shortest of the runs that fit the time."""
    do()
    best, until = float("inf"), time.perf_counter() + _RUN_S
    while time.perf_counter() < until:
        begun = time.perf_counter()
        do()
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> None:
    """Print a line for each step: four columns, ten columns, and a batch of one row."""
    wide = batches(1)[0].slice(0, BATCH_ROWS)
    tables = [
        ("4 columns", narrow_batch(BATCH_ROWS), schema_of_arrow(NARROW)),
        ("10 columns", wide, schema_of_arrow(WIDE)),
        ("1 row, 4 columns", narrow_batch(1), schema_of_arrow(NARROW)),
    ]
    for title, batch, schema in tables:
        print(f"\n{title}, {batch.num_rows} rows")
        for work in steps(conform(batch, schema), schema):
            spent = best_s(work.do)
            print(f"  {work.name:40} {work.rows / spent / 1000:10,.0f} krow/s {spent / work.rows * 1e9:10,.0f} ns/row")


if __name__ == "__main__":
    sys.exit(main())
