"""Keys of whole numbers, days and moments → numbers of 64 bits. Two keys may have the same one, by bad luck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def key_numbers(columns: Sequence[pa.Array | pa.ChunkedArray]) -> NDArray[np.uint64] | None:
    """A number for each row; None for columns that are no numbers, or have a NULL."""
    mixed: NDArray[np.uint64] | None = None
    for column in columns:
        numbers = _numbers(column)
        if numbers is None:
            return None
        if mixed is None:
            mixed = numbers * _SPREAD
        else:
            mixed ^= mixed >> _HALF
            mixed += numbers
            mixed *= _SPREAD
    if mixed is not None:
        mixed ^= mixed >> _HALF
        mixed *= _SPREAD
    return mixed


def _numbers(column: pa.Array | pa.ChunkedArray) -> NDArray[np.uint64] | None:
    kind = column.type
    if column.null_count:
        return None
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        column = column.cast(pa.int64())
    elif not pa.types.is_signed_integer(kind):
        return None
    found: NDArray[np.uint64] = column.to_numpy().astype(np.int64, copy=False).view(np.uint64)
    return found
