"""Numbers at any address."""

from __future__ import annotations

import numpy as np
import pytest

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import (
    address,
    copy_bytes,
    get_i8,
    get_i16,
    get_i32,
    get_i64,
    get_item,
    get_u8,
    put_8,
    put_16,
    put_32,
    put_64,
)

VALUES = [0, 1, -1, 127, 128, -128, 255, 0x0123456789ABCDEF, -(2**63), 2**63 - 1]


@kernel
def _put(out, at, value):
    put_64(address(out) + at, value)
    put_32(address(out) + at + 8, value)
    put_16(address(out) + at + 12, value)
    put_8(address(out) + at + 14, value)


@kernel
def _get(data, at):
    start = address(data) + at
    return get_i64(start), get_i32(start + 8), get_i16(start + 12), get_i8(start + 14), get_u8(start + 14)


@kernel
def _copy(out, at, data, start, count):
    copy_bytes(address(out) + at, address(data) + start, count)


@kernel
def _item(data, i):
    return get_item(address(data), i)


@pytest.mark.parametrize("at", range(9))
@pytest.mark.parametrize("value", VALUES)
def test_numbers_are_little_endian_at_any_byte(at: int, value: int) -> None:
    """Each width keeps its low bytes; reading brings the sign back."""
    out = np.full(32, 0xAA, np.uint8)
    _put(out, at, value)
    raw = value.to_bytes(8, "little", signed=True)
    assert out[at : at + 15].tobytes() == raw + raw[:4] + raw[:2] + raw[:1]
    assert not (out[:at] != 0xAA).any()
    assert not (out[at + 15 :] != 0xAA).any()
    signed = [int.from_bytes(raw[:size], "little", signed=True) for size in (8, 4, 2, 1)]
    assert _get(out, at) == (*signed, raw[0])


def test_bytes_are_copied() -> None:
    """So many and no more; none at all is fine."""
    out, data = np.zeros(10, np.uint8), np.arange(10, dtype=np.uint8)
    _copy(out, 2, data, 5, 3)
    _copy(out, 9, data, 0, 0)
    assert out.tolist() == [0, 0, 5, 6, 7, 0, 0, 0, 0, 0]


def test_items_of_a_line() -> None:
    """A line of a program is an array of numbers."""
    assert [_item(np.array([5, -7, 2**62]), i) for i in range(3)] == [5, -7, 2**62]
