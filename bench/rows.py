"""Ten columns of about 92 bytes a row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

BATCH_ROWS = 50_000
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("user_id", pa.int64()),
        pa.field("amount", pa.float64()),
        pa.field("quantity", pa.int32()),
        pa.field("flag", pa.int32()),
        pa.field("created", pa.timestamp("us")),
        pa.field("score", pa.float64()),
        pa.field("name", pa.string()),
        pa.field("city", pa.string()),
        pa.field("note", pa.string()),
    ]
)


def batches(count: int) -> list[pa.RecordBatch]:
    """So many batches; a few are made and used again and again, since making rows is not what is measured."""
    made = [_batch(i) for i in range(min(count, 8))]
    return [made[i % len(made)] for i in range(count)]


def _batch(seed: int) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    n = BATCH_ROWS
    ids = np.arange(n, dtype=np.int64) + seed * n
    cities = np.array(["Berlin", "Paris", "Lisbon", "Oslo", "Vienna", "Madrid", "Zagreb", "Athens"])
    return pa.record_batch(
        [
            pa.array(ids),
            pa.array(random.integers(0, 1_000_000, n)),
            pa.array(np.round(random.random(n) * 1000, 2)),
            pa.array(random.integers(0, 100, n, dtype=np.int32)),
            pa.array(random.integers(0, 2, n, dtype=np.int32)),
            pa.array(1_700_000_000_000_000 + ids * 1000, pa.timestamp("us")),
            pa.array(random.random(n)),
            pa.array(np.char.add("user-", random.integers(0, 1_000_000, n).astype(str))),
            pa.array(cities[random.integers(0, len(cities), n)]),
            pa.array(np.char.add("order note ", random.integers(0, 10_000, n).astype(str))),
        ],
        schema=SCHEMA,
    )
