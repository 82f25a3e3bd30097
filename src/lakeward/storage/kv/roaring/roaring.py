"""Roaring bitmaps of 32-bit members in the portable format, as far as `rbm32` needs them: their union.

without runs   12346: u32 | containers: u32
with runs      12347: u16 | containers − 1: u16 | one bit per container, set = runs
both           per container: high bits: u16, members − 1: u16
               per container: where it starts: u32; left out of bitmaps with runs and fewer than 4 containers
               the containers
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from lakeward.storage.kv.roaring.roaring_containers import (
    ARRAY,
    BITMAP,
    RUN,
    Container,
    read_container,
    smallest,
    union,
)

_WITHOUT_RUNS = 12346
_WITH_RUNS = 12347
_WITHOUT_STARTS_BELOW = 4
_CONTAINERS_MAX = 1 << 16
_ARRAY_MEMBERS_MAX = 4096
_U32 = struct.Struct("<I")
_HEAD = struct.Struct("<HH")


def check_bitmap(data: bytes) -> None:
    """ValueError when the bytes are not a bitmap."""
    for container in _read(data).values():
        smallest(container)


def union_of_bitmaps(a: bytes, b: bytes) -> bytes:
    """The members of both; ValueError when the bytes are not bitmaps."""
    return _write(merged(_read(a), _read(b)))


def merged(a: Mapping[int, Container], b: Mapping[int, Container]) -> dict[int, Container]:
    """Containers of both by their high bits, in order, each in its smallest form."""
    out: dict[int, Container] = {}
    for high in sorted(a.keys() | b.keys()):
        mine, other = a.get(high), b.get(high)
        if mine is not None and other is not None:
            out[high] = union(mine, other)
        else:
            one = mine or other
            assert one is not None
            out[high] = smallest(one)
    return out


def _read(data: bytes) -> dict[int, Container]:
    try:
        return _containers(data)
    except struct.error as wrong:
        raise ValueError("the bitmap is cut off") from wrong


def _containers(data: bytes) -> dict[int, Container]:
    (cookie,) = _U32.unpack_from(data)
    at = _U32.size
    runs = b""
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        runs = data[at : at + (count + 7) // 8]
        at += len(runs)
    elif cookie == _WITHOUT_RUNS:
        (count,) = _U32.unpack_from(data, at)
        at += _U32.size
    else:
        raise ValueError("the bytes do not begin as a 32-bit Roaring bitmap in the portable format")
    if count > _CONTAINERS_MAX or len(data) < at + count * _HEAD.size:
        raise ValueError("the bitmap is cut off")
    heads = list(_HEAD.iter_unpack(data[at : at + count * _HEAD.size]))
    at += count * _HEAD.size
    if not runs or count >= _WITHOUT_STARTS_BELOW:
        at += count * _U32.size
    out: dict[int, Container] = {}
    before = -1
    for i, (high, fewer) in enumerate(heads):
        if high <= before:
            raise ValueError("the containers are out of order")
        before = high
        out[high], at = read_container(_kind(i, fewer + 1, runs), fewer + 1, data, at)
    return out


def _kind(i: int, cardinality: int, runs: bytes) -> int:
    if runs and runs[i >> 3] >> (i & 7) & 1:
        return RUN
    return ARRAY if cardinality <= _ARRAY_MEMBERS_MAX else BITMAP


def _write(containers: Mapping[int, Container]) -> bytes:
    count = len(containers)
    run_bits = sum(1 << i for i, container in enumerate(containers.values()) if container.kind == RUN)
    if run_bits:
        out = bytearray(_HEAD.pack(_WITH_RUNS, count - 1)) + run_bits.to_bytes((count + 7) // 8, "little")
    else:
        out = bytearray(_U32.pack(_WITHOUT_RUNS) + _U32.pack(count))
    for high, container in containers.items():
        out += _HEAD.pack(high, container.cardinality - 1)
    if not run_bits or count >= _WITHOUT_STARTS_BELOW:
        start = len(out) + count * _U32.size
        for container in containers.values():
            out += _U32.pack(start)
            start += len(container.payload)
    for container in containers.values():
        out += container.payload
    return bytes(out)
