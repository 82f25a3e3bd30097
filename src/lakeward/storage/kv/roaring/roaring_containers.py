"""Containers: the members of a Roaring bitmap that share all but their lowest 16 bits.

    ARRAY    members in order, u16 each; at most 4096
    BITMAP   65536 bits
    RUN      number of runs: u16, then of each run: first member: u16, further members: u16

The 32-bit and the 64-bit format write the same payloads, all little-endian. What is read is not trusted: ValueError.
"""

from __future__ import annotations

import itertools
import struct
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

RUN: Final = 0
BITMAP: Final = 1
ARRAY: Final = 2

_MEMBERS = 1 << 16
_BITMAP_BYTES = _MEMBERS // 8
_ARRAY_MEMBERS_MAX = 4096
#: Below this many members an array is the smallest form whatever they are, and Python is quicker than numpy.
_TINY = 4
_COUNT = struct.Struct("<H")
_RUN_BYTES = 4

Bits = NDArray[np.bool_]


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
        case 1:
            size = _BITMAP_BYTES
        case 2:
            size = 2 * cardinality
        case _:
            raise ValueError(f"{kind} is no kind of container")
    payload = data[at : at + size]
    if len(payload) != size or not 0 < cardinality <= _MEMBERS:
        raise ValueError(f"a container of {cardinality} members at byte {at} is cut off")
    return Container(kind, cardinality, payload), at + size


def union(a: Container, b: Container) -> Container:
    """The members of both, in the smallest form."""
    bits = _bits(a)
    bits |= _bits(b)
    return _smallest(bits)


def smallest(container: Container) -> Container:
    """The same members in the smallest form."""
    if container.kind == ARRAY and container.cardinality < _TINY:
        members = struct.unpack(f"<{container.cardinality}H", container.payload)
        if any(b <= a for a, b in itertools.pairwise(members)):
            raise ValueError("the members of a container are out of order")
        return container
    return _smallest(_bits(container))


def _bits(container: Container) -> Bits:
    bits: Bits
    if container.kind == BITMAP:
        bits = np.unpackbits(np.frombuffer(container.payload, np.uint8), bitorder="little").view(np.bool_)
    elif container.kind == ARRAY:
        members = np.frombuffer(container.payload, "<u2")
        if np.any(members[1:] <= members[:-1]):
            raise ValueError("the members of a container are out of order")
        bits = np.zeros(_MEMBERS, np.bool_)
        bits[members] = True
    else:
        bits = _bits_of_runs(container.payload)
    if np.count_nonzero(bits) != container.cardinality:
        raise ValueError(f"a container has other than its {container.cardinality} members")
    return bits


def _bits_of_runs(payload: bytes) -> Bits:
    runs = np.frombuffer(payload, "<u2", offset=_COUNT.size).astype(np.int64)
    firsts, ends = runs[::2], runs[::2] + runs[1::2] + 1
    if np.any(ends > _MEMBERS) or np.any(firsts[1:] < ends[:-1]):
        raise ValueError("the runs of a container are out of order")
    edges = np.zeros(_MEMBERS + 1, np.int8)
    edges[firsts] += 1
    edges[ends] -= 1
    return np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_)


def _smallest(bits: Bits) -> Container:
    """As Apache Fluss's library chooses: runs where they are strictly smaller, then up to 4096 members an array."""
    members = np.flatnonzero(bits)
    cardinality = len(members)
    breaks = np.flatnonzero(members[1:] - members[:-1] != 1)
    runs_bytes = _COUNT.size + _RUN_BYTES * (len(breaks) + 1)
    if runs_bytes < min(2 * cardinality, _BITMAP_BYTES):
        firsts = members[np.concatenate(([0], breaks + 1))]
        lasts = members[np.concatenate((breaks, [cardinality - 1]))]
        pairs = np.stack((firsts, lasts - firsts), axis=1).astype("<u2")
        return Container(RUN, cardinality, _COUNT.pack(len(firsts)) + pairs.tobytes())
    if cardinality <= _ARRAY_MEMBERS_MAX:
        return Container(ARRAY, cardinality, members.astype("<u2").tobytes())
    return Container(BITMAP, cardinality, np.packbits(bits, bitorder="little").tobytes())
