"""Rows and names that several client tests use."""

from __future__ import annotations

import datetime as dt
import itertools
import os
from decimal import Decimal

import pyarrow as pa

_numbers = itertools.count()


def fresh(stem: str) -> str:
    """A name that no other test, and no other run on the same server, uses."""
    return f"{stem}_{os.getpid()}_{next(_numbers)}"


def numbered(start: int, count: int) -> pa.RecordBatch:
    """Rows that say which they are."""
    ids = range(start, start + count)
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "name": pa.array([f"row {i}" for i in ids])})


EVERY_TYPE = (
    "b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE, c CHAR(3), s STRING, "
    "bin BINARY(2), byt BYTES, d9 DECIMAL(9, 2), d30 DECIMAL(30, 5), day DATE, t0 TIME(0), t3 TIME(3), "
    "ts0 TIMESTAMP(0), ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), ltz TIMESTAMP_LTZ(6), "
    "arr ARRAY<INT>, m MAP<STRING, BIGINT>, r ROW<x INT, y STRING>"
)
EVERY_VALUE = {
    "b": True,
    "i8": -128,
    "i16": 32767,
    "i32": -(2**31),
    "i64": 2**63 - 1,
    "f32": 1.5,
    "f64": -2.25,
    "c": "abc",
    "s": "grüße",
    "bin": b"\x00\xff",
    "byt": b"bytes",
    "d9": Decimal("1234567.89"),
    "d30": Decimal("-12345678901234567890.12345"),
    "day": dt.date(2024, 2, 29),
    "t0": dt.time(12, 34, 56),
    "t3": dt.time(1, 2, 3, 456_000),
    "ts0": dt.datetime(2024, 1, 2, 3, 4, 5),
    "ts3": dt.datetime(2024, 1, 2, 3, 4, 5, 678_000),
    "ts6": dt.datetime(2024, 1, 2, 3, 4, 5, 678_901),
    "ltz": dt.datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=dt.UTC),
    "arr": [1, None, 3],
    "m": [("k", 1), ("l", None)],
    "r": {"x": 1, "y": "z"},
}
