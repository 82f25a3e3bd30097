"""Values → Paimon's binary rows, as manifests hold keys, partitions and statistics: how many columns, then the row."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from lakeward.model.data_types import DataType
from lakeward.records.aligned_row import decode_row, encode_row

_COUNT = struct.Struct(">i")
EMPTY = _COUNT.pack(0) + bytes(8)


def to_binary(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """A row of values, as `model.values` describes them."""
    if not types:
        return EMPTY
    return _COUNT.pack(len(types)) + encode_row([t.as_nullable() for t in types], values)


def of_binary(types: Sequence[DataType], data: bytes) -> tuple[Any, ...]:
    """The values of a row."""
    if not types:
        return ()
    return decode_row([t.as_nullable() for t in types], data[_COUNT.size :])
