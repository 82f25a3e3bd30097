"""Variable-length integers in compiled loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lakeward.records.kernels.kernel import kernel
from lakeward.records.kernels.memory_kernels import address
from lakeward.records.kernels.varint_kernels import PAST_END, get_varint, put_varint, varint_bytes
from lakeward.records.row import varint


@kernel
def _put(value, out):
    return put_varint(value, address(out)) - address(out)


@kernel
def _get(data, size, bytes_max):
    value, after = get_varint(address(data), address(data) + size, bytes_max)
    return value, after - address(data) if after != PAST_END else PAST_END


@kernel
def _size(value):
    return varint_bytes(value)


@given(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300))
def test_numbers_are_written_as_by_the_reference(value: int) -> None:
    """The bytes of `varint`, negative numbers in ten."""
    expected, out = bytearray(), np.zeros(10, np.uint8)
    varint.put_i64(expected, value)
    assert out[: _put(value, out)].tobytes() == expected
    assert _get(out, 10, 10) == (value, len(expected))
    if value >= 0:
        assert _size(value) == len(expected)


@given(st.binary(max_size=12), st.sampled_from([5, 10]))
def test_any_bytes_are_read_as_by_the_reference(raw: bytes, bytes_max: int) -> None:
    """A number that is cut off or too long is not read; the rest agrees."""
    read = varint.get_i64 if bytes_max == 10 else varint.get_u32
    try:
        expected = read(raw, 0)
    except (IndexError, ValueError):
        expected = (0, PAST_END)
    data = np.frombuffer(raw + bytes(12 - len(raw)), np.uint8)
    value, after = _get(data, len(raw), bytes_max)
    assert (value if bytes_max == 10 or after == PAST_END else value & 0xFFFFFFFF, after) == expected
