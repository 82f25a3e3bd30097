"""Variable-length integers in compiled loops. `varint` says what the bytes mean."""

from __future__ import annotations

from lakeward.records.kernels.kernel import kernel_part
from lakeward.records.kernels.memory_kernels import get_u8, put_8

PAST_END = -1
BYTES_MAX_32 = 5
BYTES_MAX_64 = 10
_LOW_57_BITS = (1 << 57) - 1


@kernel_part
def get_varint(at: int, end: int, bytes_max: int) -> tuple[int, int]:
    """The number at an address, all 64 bits of it, and the address after it: PAST_END when it is not whole."""
    value, shift = 0, 0
    limit = min(end, at + bytes_max)
    while at < limit:
        byte = get_u8(at)
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return 0, PAST_END


@kernel_part
def varint_bytes(value: int) -> int:
    """Bytes of a number that is not negative."""
    size = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size


@kernel_part
def put_varint(value: int, at: int) -> int:
    """Write all 64 bits of a number, negative ones as unsigned; the address after it."""
    while value < 0 or value > 0x7F:
        put_8(at, value & 0x7F | 0x80)
        at += 1
        value = value >> 7 & _LOW_57_BITS
    put_8(at, value)
    return at + 1
