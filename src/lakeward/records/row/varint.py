"""Variable-length integers: base 128, low group first, no zig-zag. Negative numbers take the full 5 or 10 bytes."""

from __future__ import annotations

I32_MAX = 2**31 - 1
I64_MAX = 2**63 - 1
_U32_MASK = 2**32 - 1
_U64_MASK = 2**64 - 1


def put_unsigned(out: bytearray, value: int) -> None:
    """Append a number that is not negative."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def put_i32(out: bytearray, value: int) -> None:
    """Append a 32-bit integer."""
    if not -I32_MAX - 1 <= value <= I32_MAX:
        raise OverflowError(f"{value} does not fit 32 bits")
    put_unsigned(out, value & _U32_MASK)


def put_i64(out: bytearray, value: int) -> None:
    """Append a 64-bit integer."""
    if not -I64_MAX - 1 <= value <= I64_MAX:
        raise OverflowError(f"{value} does not fit 64 bits")
    put_unsigned(out, value & _U64_MASK)


def get_u32(data: bytes, at: int) -> tuple[int, int]:
    """Read an unsigned 32-bit integer; returns it and the position after it. IndexError past the end."""
    value, after = _get(data, at, bytes_max=5)
    return value & _U32_MASK, after


def get_i32(data: bytes, at: int) -> tuple[int, int]:
    """Read a 32-bit integer; returns it and the position after it. IndexError past the end."""
    value, after = _get(data, at, bytes_max=5)
    value &= _U32_MASK
    return (value if value <= I32_MAX else value - 2**32), after


def get_i64(data: bytes, at: int) -> tuple[int, int]:
    """Read a 64-bit integer; returns it and the position after it. IndexError past the end."""
    value, after = _get(data, at, bytes_max=10)
    value &= _U64_MASK
    return (value if value <= I64_MAX else value - 2**64), after


def _get(data: bytes, at: int, bytes_max: int) -> tuple[int, int]:
    value = 0
    for group in range(bytes_max):
        byte = data[at + group]
        value |= (byte & 0x7F) << (7 * group)
        if byte < 0x80:
            return value, at + group + 1
    raise ValueError(f"a variable-length integer at byte {at} is longer than {bytes_max} bytes")
