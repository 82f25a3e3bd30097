"""A table with a column of every type, and a row of it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

EVERY_TYPE = """
    b BOOLEAN, i8 TINYINT, i16 SMALLINT, i32 INT, i64 BIGINT, f32 FLOAT, f64 DOUBLE, c CHAR(3), s STRING,
    bin BINARY(2), bytes BYTES, d DATE, t TIME(3), dec_short DECIMAL(10, 2), dec_long DECIMAL(38, 10),
    ts0 TIMESTAMP(0), ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), ts9 TIMESTAMP(9),
    ltz3 TIMESTAMP_LTZ(3), ltz6 TIMESTAMP_LTZ(6), ltz9 TIMESTAMP_LTZ(9),
    arr ARRAY<INT>, m MAP<STRING, BIGINT>, r ROW<x INT, y ARRAY<STRING>>
"""
_MOMENT = dt.datetime(2026, 11, 1, 12, 30, 15, 123456)
_UTC = _MOMENT.replace(tzinfo=dt.UTC)
ROW_OF_EVERY_TYPE: dict[str, Any] = {
    "b": True,
    "i8": -8,
    "i16": -16_000,
    "i32": -(2**31),
    "i64": 2**63 - 1,
    "f32": 1.5,
    "f64": -2.25,
    "c": "abc",
    "s": "grüße",
    "bin": b"\x00\x01",
    "bytes": b"\xff" * 5,
    "d": dt.date(1969, 12, 31),
    "t": dt.time(23, 59, 59, 123000),
    "dec_short": Decimal("-12.34"),
    "dec_long": Decimal("1234567890123456789012345678.0123456789"),
    "ts0": _MOMENT.replace(microsecond=0),
    "ts3": _MOMENT.replace(microsecond=123000),
    "ts6": _MOMENT,
    "ts9": _MOMENT,
    "ltz3": _UTC.replace(microsecond=123000),
    "ltz6": _UTC,
    "ltz9": _UTC,
    "arr": [1, None, 3],
    "m": {"k": 1, "l": None},
    "r": {"x": 1, "y": ["p", None]},
}
