"""What an honest client does in bulk: batches of 50,000 rows into tables of every kind, and large reads of them.

As in `attacks`, each work takes the address of a server and a scale: 1.0 is what the benchmark runs, tests take a part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from attacks import DATABASE, Said

import lakeward
from lakeward.model.data_types import BIGINT, DOUBLE, STRING
from lakeward.model.schema import Aggregate, Column

ROWS = 50_000
_BATCH_BYTES = 64 << 20
_COLUMNS = (("id", BIGINT()), ("amount", BIGINT()), ("score", DOUBLE()), ("name", STRING()), ("city", STRING()))


def rows(count: int, *, text_bytes: int = 20) -> pa.RecordBatch:
    """Rows with the keys 0, 1, 2 …"""
    ids = np.arange(count, dtype=np.int64)
    text = [f"row {n} " + "x" * text_bytes for n in range(1000)]
    return pa.record_batch(
        {
            "id": ids,
            "amount": ids * 7 % 1000,
            "score": ids / 3,
            "name": pa.array(text).take(pa.array(ids % len(text))),
            "city": pa.array(["Oslo", "Wien", None]).take(pa.array(ids % 3)),
        }
    )


@contextmanager
def _table(bootstrap: str, schema: Any, **how: Any) -> Iterator[Any]:
    """A table of its own, dropped in the end."""
    with lakeward.connect(bootstrap) as connection:
        connection.create_database(DATABASE, exist_ok=True)
        name = f"{DATABASE}.bulk_{time.monotonic_ns()}"
        yield connection.create_table(name, schema, buckets=2, **how)
        connection.drop_table(name)


def append(bootstrap: str, scale: float, *, text_bytes: int = 20, properties: Mapping[str, str] | None = None) -> Said:
    """Rows into a log table, a batch at a time."""
    made = rows(int(ROWS * scale), text_bytes=text_bytes)
    with _table(bootstrap, lakeward.Schema.of(_COLUMNS), properties=properties) as table:
        for _ in range(3):
            with table.writer(batch_bytes=_BATCH_BYTES) as writer:
                writer.write(made)
            assert writer.written == made.num_rows
        assert table.count() == 3 * made.num_rows
    return Said(3)


def upsert(
    bootstrap: str,
    scale: float,
    *,
    text_bytes: int = 20,
    schema: lakeward.Schema | None = None,
    properties: Mapping[str, str] | None = None,
    columns: tuple[str, ...] | None = None,
) -> Said:
    """Rows by key: new ones, then the same keys again; with `columns` only those."""
    kind = schema or lakeward.Schema.of(_COLUMNS, ["id"])
    made = rows(int(ROWS * scale), text_bytes=text_bytes)
    made = made.select([n for n in kind.names if n in made.schema.names and (columns is None or n in columns)])
    with _table(bootstrap, kind, properties=properties) as table:
        for _ in range(3):
            with table.upserter(columns, batch_bytes=_BATCH_BYTES) as upserter:
                upserter.upsert(made)
            assert upserter.written == made.num_rows
        assert table.count() == made.num_rows
    return Said(3)


def read(bootstrap: str, scale: float) -> Said:
    """Lookups of all keys, a scan of the state, and the first rows of many."""
    made = rows(int(ROWS * scale))
    with _table(bootstrap, lakeward.Schema.of(_COLUMNS, ["id"])) as table:
        table.upsert(made)
        for _ in range(3):
            assert table.lookup(made["id"]).num_rows == made.num_rows
            assert table.snapshot().num_rows == made.num_rows
            table.head(made.num_rows)
    return Said(9)


def insert_missing(bootstrap: str, scale: float) -> Said:
    """Lookups that make a row for each key, with a number of its own."""
    keys = rows(int(ROWS * scale))["id"]
    schema = lakeward.Schema.of([("id", BIGINT()), ("no", BIGINT())], ["id"], ["no"])
    with _table(bootstrap, schema) as table:
        for _ in range(2):
            assert table.lookup(keys, insert_missing=True)["no"].null_count == 0
    return Said(2)


_SUMS = lakeward.Schema.of(
    [
        Column(name, kind, aggregate=Aggregate("sum") if name in {"amount", "score"} else None)
        for name, kind in _COLUMNS
    ],
    ["id"],
)
_NUMBERED = lakeward.Schema.of([*_COLUMNS, ("no", BIGINT())], ["id"], ["no"])
WORKS: dict[str, Callable[[str, float], Said]] = {
    "append": append,
    "append, a kilobyte a row": partial(append, text_bytes=1000),
    "append, not compressed": partial(append, properties={"table.log.arrow.compression.type": "NONE"}),
    "append, rows one by one (INDEXED)": partial(append, properties={"table.log.format": "INDEXED"}),
    "upsert": upsert,
    "upsert, a kilobyte a row": partial(upsert, text_bytes=1000),
    "upsert, INDEXED": partial(upsert, properties={"table.kv.format": "INDEXED"}),
    "upsert, the first row stays": partial(upsert, properties={"table.merge-engine": "first_row"}),
    "upsert, the larger version wins": partial(
        upsert,
        properties={"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "amount"},
    ),
    "upsert, sums": partial(upsert, schema=_SUMS, properties={"table.merge-engine": "aggregation"}),
    "upsert, some columns": partial(upsert, columns=("id", "amount")),
    "upsert, numbered rows": partial(upsert, schema=_NUMBERED, columns=tuple(name for name, _ in _COLUMNS)),
    "lookups, scans": read,
    "lookups that insert": insert_missing,
}
