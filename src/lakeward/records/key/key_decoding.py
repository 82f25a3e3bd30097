"""Key bytes → key columns: `key_encoding` read backwards, for keys that hold their values.

What Iceberg's encoding leaves out (a timestamp's nanoseconds) is zero. Hudi's is a hash; stored keys never have it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.values import Timestamp, decimal_of
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder
from lakeward.records.row import aligned_row, compacted_row

_I64, _F32, _F64 = struct.Struct("<q"), struct.Struct("<f"), struct.Struct("<d")


def decode_key(encoding: KeyEncoding, types: Sequence[DataType], key: bytes) -> tuple[Any, ...]:
    """The values of a key's columns; CORRUPT_RECORD when the bytes are not such a key."""
    if encoding is KeyEncoding.HUDI:
        raise ErrorCode.UNSUPPORTED_VERSION.error("A key for Hudi is a hash; its columns cannot be told from it.")
    types = tuple(types)
    match encoding:
        case KeyEncoding.COMPACTED:
            no_nulls = bytes((len(types) + 7) // 8)
            values = compacted_row.decode_row(types, no_nulls + key)
        case KeyEncoding.PAIMON:
            values = aligned_row.decode_row(types, key)
        case KeyEncoding.ICEBERG:
            try:
                values = (_iceberg_value(types[0])(key),)
            except (ValueError, struct.error) as wrong:
                raise ErrorCode.CORRUPT_RECORD.error(f"The bytes are no key of type {types[0]}: {wrong}.") from wrong
    if key_encoder(encoding, types)(values) != key:  # else it would be stored where nobody finds it
        raise ErrorCode.CORRUPT_RECORD.error(f"The bytes of a key are not as {encoding} keys are written.")
    return values


def _iceberg_value(type_: DataType) -> Callable[[bytes], Any]:
    match type_.root:
        case TypeRoot.TIME:
            return lambda key: _I64.unpack(key)[0] // 1000
        case TypeRoot.TIMESTAMP:
            return lambda key: Timestamp.of_nanos(_I64.unpack(key)[0] * 1000)
        case TypeRoot.FLOAT:
            return lambda key: _F32.unpack(key)[0]
        case TypeRoot.DOUBLE:
            return lambda key: _F64.unpack(key)[0]
        case TypeRoot.CHAR | TypeRoot.STRING:
            return bytes.decode
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return bytes
        case TypeRoot.DECIMAL:
            precision, scale = type_.precision, type_.scale
            assert precision is not None
            assert scale is not None
            return lambda key: decimal_of(int.from_bytes(key, "big", signed=True), precision, scale)
        case _:
            return lambda key: _I64.unpack(key)[0]
