"""Values of a column in Postgres's binary forms."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakeward.sql_server.postgres.codec import pg_types as pg
from lakeward.sql_server.postgres.codec.values_text import plain, text_values

_EPOCH_DAYS = 10_957
_EPOCH_MICROS = _EPOCH_DAYS * 86_400_000_000
_NUMERIC_NEGATIVE = 0x4000
_DIGITS_MAX = 1000


def binary_values(column: pa.Array) -> pa.Array:
    """Each value as its bytes, NULL where there is none; as large binary."""
    oid = pg.oid_of(column.type)
    column = plain(column)
    if oid in _NUMBERS:
        return _NUMBERS[oid](column)
    if oid in pg.ARRAYS:
        inner = pg.ARRAYS[oid].oid
        made = [None if v is None else _array(column.type.value_type, inner, v) for v in column.to_pylist()]
        return pa.array(made, pa.large_binary())
    if oid in _ONE_BY_ONE:
        make = _ONE_BY_ONE[oid]
        return pa.array([None if v is None else make(v) for v in column.to_pylist()], pa.large_binary())
    if oid == pg.BYTEA:
        return column.cast(pa.large_binary())
    return text_values(column)


def _fix_width(column: pa.Array, dtype: str) -> pa.Array:
    values = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(dtype)
    bare = pa.Array.from_buffers(pa.binary(values.dtype.itemsize), len(values), [None, pa.py_buffer(values.tobytes())])
    bare = bare.cast(pa.large_binary())
    if not column.null_count:
        return bare
    return pc.if_else(pc.is_valid(column), bare, pa.scalar(None, pa.large_binary()))


def _integers(dtype: str) -> Callable[[pa.Array], pa.Array]:
    return lambda column: _fix_width(column, dtype)


def _dates(column: pa.Array) -> pa.Array:
    return _fix_width(pc.subtract(column.cast(pa.int32()), _EPOCH_DAYS), ">i4")


def _moments(column: pa.Array) -> pa.Array:
    zone = column.type.tz
    micros = column.cast(pa.timestamp("us", tz=zone), safe=False).cast(pa.int64())
    return _fix_width(pc.subtract(micros, _EPOCH_MICROS), ">i8")


def _times(column: pa.Array) -> pa.Array:
    return _fix_width(column.cast(pa.time64("us"), safe=False).cast(pa.int64()), ">i8")


def numeric_bytes(value: Decimal | int) -> bytes:
    """A decimal as groups of four digits."""
    number = Decimal(value)
    if not number.is_finite():
        return struct.pack("!hhHh", 0, 0, 0xC000, 0)
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    text = "".join(map(str, digits)) + "0" * max(exponent, 0)
    whole, fraction = (text[:-scale], text[-scale:]) if scale else (text, "")
    fraction = fraction.rjust(scale, "0")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    fraction = fraction.ljust(-(-len(fraction) // 4) * 4, "0")
    groups = [int((whole + fraction)[i : i + 4]) for i in range(0, len(whole) + len(fraction), 4)]
    weight = len(whole) // 4 - 1
    while groups and not groups[0]:
        groups.pop(0)
        weight -= 1
    while groups and not groups[-1]:
        groups.pop()
    head = struct.pack("!hhHh", len(groups), weight if groups else 0, _NUMERIC_NEGATIVE if sign else 0, scale)
    return head + struct.pack(f"!{len(groups)}h", *groups)


def numeric_of(data: bytes) -> Decimal:
    """The decimal of such bytes, to its last digit; ValueError or struct.error if they are none."""
    count, weight, sign, scale = struct.unpack_from("!hhHh", data)
    if sign not in {0, _NUMERIC_NEGATIVE}:
        return Decimal("NaN")
    groups = struct.unpack_from(f"!{max(count, 0)}h", data, 8)
    if not 0 <= scale <= _DIGITS_MAX or abs(weight) > _DIGITS_MAX // 4 or any(not 0 <= g <= 9999 for g in groups):
        raise ValueError
    digits = "".join(f"{group:04}" for group in groups) or "0"
    beyond = 4 * (weight + 1 - count) + scale
    digits = digits + "0" * beyond if beyond >= 0 else digits[:beyond] or "0"
    return Decimal((int(sign != 0), tuple(map(int, digits)), -scale))


def _interval(value: Any) -> bytes:
    return struct.pack("!qii", value.nanoseconds // 1000, value.days, value.months)


def _uuid(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes.fromhex(str(value).replace("-", ""))


def _array(kind: pa.DataType, oid: int, values: list[Any]) -> bytes:
    """A list of one dimension."""
    if not values:
        return struct.pack("!iiI", 0, 0, oid)
    cells = binary_values(pa.array(values, kind)).to_pylist()
    has_null = any(cell is None for cell in cells)
    head = struct.pack("!iiIii", 1, int(has_null), oid, len(cells), 1)
    return head + b"".join(b"\xff\xff\xff\xff" if c is None else struct.pack("!i", len(c)) + c for c in cells)


def _booleans(column: pa.Array) -> pa.Array:
    return _fix_width(column.cast(pa.uint8()), np.dtype(np.uint8).str)


_NUMBERS: dict[int, Callable[[pa.Array], pa.Array]] = {
    pg.BOOL: _booleans,
    pg.INT2: _integers(">i2"),
    pg.INT4: _integers(">i4"),
    pg.INT8: _integers(">i8"),
    pg.OID: _integers(">u4"),
    pg.FLOAT4: _integers(">f4"),
    pg.FLOAT8: _integers(">f8"),
    pg.DATE: _dates,
    pg.TIMESTAMP: _moments,
    pg.TIMESTAMPTZ: _moments,
    pg.TIME: _times,
}
_ONE_BY_ONE: dict[int, Callable[[Any], bytes]] = {
    pg.NUMERIC: numeric_bytes,
    pg.INTERVAL: _interval,
    pg.UUID: _uuid,
}
