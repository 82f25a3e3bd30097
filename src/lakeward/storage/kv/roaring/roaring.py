"""Roaring bitmaps of 32-bit members in the portable format, by pyroaring: their union, for `rbm32`.

What is read is not trusted: ValueError. The forms of containers are chosen as the Java library chooses them: runs
where they are smaller, else up to 4096 members an array.
"""

from __future__ import annotations

import struct

from pyroaring import BitMap

_WITH_RUNS = 12347
#: 12347, containers − 1; without runs it is another number.
_COOKIE = struct.Struct("<HH")
#: High bits, members − 1.
_CONTAINER = struct.Struct("<HH")


def check_bitmap(data: bytes) -> None:
    """ValueError when the bytes are not a bitmap."""
    _read(data)


def union_of_bitmaps(a: bytes, b: bytes) -> bytes:
    """The members of both; ValueError when the bytes are not bitmaps."""
    return write_smallest(_read(a) | _read(b))


def read_bitmap(data: bytes) -> BitMap:
    """A bitmap, its bounds and the order of its members checked; how many its runs announce is not."""
    try:
        return BitMap.deserialize(data)
    except (ValueError, IndexError) as wrong:
        raise ValueError(f"the bitmap is cut off, or its members are out of order: {wrong}") from wrong


def write_smallest(bitmap: BitMap) -> bytes:
    """The bitmap in its smallest form."""
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


def _read(data: bytes) -> BitMap:
    bitmap = read_bitmap(data)
    if _COOKIE.unpack_from(data)[0] == _WITH_RUNS and len(bitmap) != _announced_members(data):
        raise ValueError("the bitmap has other members than it announces")
    return bitmap


def _announced_members(data: bytes) -> int:
    """What the heads of the containers tell, in a bitmap with runs."""
    containers = _COOKIE.unpack_from(data)[1] + 1
    begin = _COOKIE.size + (containers + 7) // 8  # one bit per container: which are runs
    return sum(fewer + 1 for _, fewer in _CONTAINER.iter_unpack(data[begin : begin + containers * _CONTAINER.size]))
