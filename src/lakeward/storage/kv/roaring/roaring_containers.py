"""Containers: the members of a 64-bit Roaring bitmap that share all but their lowest 16 bits.

    ARRAY    members in order, u16 each; at most 4096
    BITMAP   65536 bits, more than 4096 of them set
    RUN      number of runs: u16, then of each run: first member: u16, further members: u16

The payloads are those of the 32-bit format, all little-endian: with the head of a bitmap of one container before it,
pyroaring reads and writes each. What is read is not trusted: ValueError.
"""

from __future__ import annotations

import itertools
import struct
from typing import Final, NamedTuple

from pyroaring import BitMap

from lakeward.storage.kv.roaring.roaring import read_bitmap, write_smallest

RUN: Final = 0
BITMAP: Final = 1
ARRAY: Final = 2

_MEMBERS_MAX = 1 << 16
_BITMAP_BYTES = _MEMBERS_MAX // 8
_ARRAY_MEMBERS_MAX = 4096
_RUN_BYTES = 4
#: Below this many members an array is the smallest form whatever they are, and needs no library.
_TINY = 4
_COUNT = struct.Struct("<H")
#: Cookie, containers; high bits, members − 1; where the container starts.
_PLAIN_HEAD = struct.Struct("<IIHHI")
#: Cookie, containers − 1, which of them are runs; high bits, members − 1.
_RUN_HEAD = struct.Struct("<HHBHH")
_PLAIN_COOKIE = 12346
_RUN_COOKIE = 12347


class Container(NamedTuple):
    """Some of 65536 members, as they are stored."""

    kind: int
    cardinality: int
    payload: bytes


def read_container(kind: int, cardinality: int, data: bytes, at: int) -> tuple[Container, int]:
    """The container at a position, and the position after it."""
    match kind:
        case 0:
            (runs,) = _COUNT.unpack_from(data, at)
            size = _COUNT.size + runs * _RUN_BYTES
        case 1 if cardinality > _ARRAY_MEMBERS_MAX:
            size = _BITMAP_BYTES
        case 2 if cardinality <= _ARRAY_MEMBERS_MAX:
            size = 2 * cardinality
        case _:
            raise ValueError(f"{kind} is no kind of container for {cardinality} members of a bitmap")
    payload = data[at : at + size]
    if len(payload) != size or not 0 < cardinality <= _MEMBERS_MAX:
        raise ValueError(f"a container of {cardinality} members at byte {at} is cut off")
    return Container(kind, cardinality, payload), at + size


def union(a: Container, b: Container) -> Container:
    """The members of both, in the smallest form."""
    return _container_of(bitmap_of(a) | bitmap_of(b))


def smallest(container: Container) -> Container:
    """The same members in the smallest form."""
    if container.kind == ARRAY and container.cardinality < _TINY:
        members = struct.unpack(f"<{container.cardinality}H", container.payload)
        if any(b <= a for a, b in itertools.pairwise(members)):
            raise ValueError("the members of a container are out of order")
        return container
    return _container_of(bitmap_of(container))


def bitmap_of(container: Container) -> BitMap:
    """Its members; ValueError when they are out of order, or others than announced."""
    fewer = container.cardinality - 1
    if container.kind == RUN:
        head = _RUN_HEAD.pack(_RUN_COOKIE, 0, 1, 0, fewer)
    else:
        head = _PLAIN_HEAD.pack(_PLAIN_COOKIE, 1, 0, fewer, _PLAIN_HEAD.size)
    bitmap = read_bitmap(head + container.payload)
    if len(bitmap) != container.cardinality:
        raise ValueError(f"a container has other than its {container.cardinality} members")
    return bitmap


def _container_of(bitmap: BitMap) -> Container:
    data, cardinality = write_smallest(bitmap), len(bitmap)
    if _COUNT.unpack_from(data)[0] == _RUN_COOKIE:
        return Container(RUN, cardinality, data[_RUN_HEAD.size :])
    kind = ARRAY if cardinality <= _ARRAY_MEMBERS_MAX else BITMAP
    return Container(kind, cardinality, data[_PLAIN_HEAD.size :])
