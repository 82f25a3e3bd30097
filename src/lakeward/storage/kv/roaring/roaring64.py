"""Roaring bitmaps of 64-bit members as the Java library streams them, as far as `rbm64` needs them: their union.

Not the portable 64-bit format: the high 48 bits of the members are keys of a radix tree, the tree is written first.

    0 for no members, else 1
    keys: u64
    nodes, each before its children and these by key byte; a branch's prefix is what all keys below it have in common
        branch   kind: u8 | children: u16 | prefix bytes: u8 | prefix | key bytes of the children
        leaf     kind: u8 | 0: u16 | 0: u8 | key: 6 bytes, big-endian | place of its container: u64
    lists of containers: u32; of each list
        0xFE: u8 | places: u32 | of each place: 0: u8, or 1: u8 | kind: u8 | members: u32 | container
    containers: u64 | last list: u32 | last place in it: u32

A place is `list << 32 | number in the list`; Java writes one list, and so do we. The key bytes of a branch depend on
how many children it has room for:

    0 to 4     4 bytes, from the last child to the first
    1 to 16    16 bytes, likewise but in two groups of 8
    2 to 48    256 bytes by key byte: the number of the child, or 0xFF; in groups of 8, each backwards
    3 to 256   256 bits by key byte
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping, Sequence

from lakeward.storage.kv.roaring.roaring_containers import Container, read_container, smallest, union

_KEY_BYTES = 6
_BRANCH_4, _BRANCH_16, _BRANCH_48, _BRANCH_256, _LEAF = range(5)
_KEY_BYTES_OF_BRANCH = {_BRANCH_4: 4, _BRANCH_16: 16, _BRANCH_48: 256, _BRANCH_256: 32}
_LIST_MARK = 0xFE
_NO_CHILD = 0xFF
_GROUP = 8
_NODE = struct.Struct("<BHB")
_PLACE = struct.Struct("<Q")
_U32 = struct.Struct("<I")
_LIST = struct.Struct("<BI")
_CONTAINER = struct.Struct("<BBI")
_TAIL = struct.Struct("<QII")


def check_bitmap64(data: bytes) -> None:
    """ValueError when the bytes are not a bitmap."""
    for container in read_containers(data).values():
        smallest(container)


def union_of_bitmaps64(a: bytes, b: bytes) -> bytes:
    """The members of both; ValueError when the bytes are not bitmaps."""
    mine, others = read_containers(a), read_containers(b)
    return _write({key: _unite(mine.get(key), others.get(key)) for key in sorted(mine.keys() | others.keys())})


def _unite(a: Container | None, b: Container | None) -> Container:
    if a is not None and b is not None:
        return union(a, b)
    one = a or b
    assert one is not None, "the key is of one of them"
    return smallest(one)


def read_containers(data: bytes) -> dict[int, Container]:
    """The containers by the high 48 bits of their members; ValueError when the bytes are not a bitmap."""
    try:
        if data[0] == 0:
            return {}
        keys, at = _read_tree(data)
        places = _read_lists(data, at)
        return {key: places[place] for key, place in keys.items()}
    except (struct.error, IndexError, KeyError) as wrong:
        raise ValueError("the bytes are not a Roaring64Bitmap as the Java library writes it") from wrong


def _read_tree(data: bytes) -> tuple[dict[int, int], int]:
    """Key → place of its container. A leaf holds its whole key, so the way to it need not be followed."""
    (count,) = _PLACE.unpack_from(data, 1)
    at = 1 + _PLACE.size
    keys: dict[int, int] = {}
    ahead = 1
    while ahead:
        kind, children, prefix_bytes = _NODE.unpack_from(data, at)
        at += _NODE.size
        ahead -= 1
        if kind == _LEAF:
            key = int.from_bytes(data[at : at + _KEY_BYTES], "big")
            (keys[key],) = _PLACE.unpack_from(data, at + _KEY_BYTES)
            at += _KEY_BYTES + _PLACE.size
        else:
            at += prefix_bytes + _KEY_BYTES_OF_BRANCH[kind]
            ahead += children
    if len(keys) != count:
        raise ValueError(f"the bitmap has {len(keys)} containers instead of {count}")
    return keys, at


def _read_lists(data: bytes, at: int) -> dict[int, Container]:
    (lists,) = _U32.unpack_from(data, at)
    at += _U32.size
    places: dict[int, Container] = {}
    for high in range(lists):
        _, count = _LIST.unpack_from(data, at)
        at += _LIST.size
        for low in range(count):
            if data[at] == 0:
                at += 1
                continue
            _, kind, cardinality = _CONTAINER.unpack_from(data, at)
            places[high << 32 | low], at = read_container(kind, cardinality, data, at + _CONTAINER.size)
    return places


def _write(containers: Mapping[int, Container]) -> bytes:
    if not containers:
        return b"\0"
    count = len(containers)
    out = bytearray(b"\1" + _PLACE.pack(count))
    keys = [key.to_bytes(_KEY_BYTES, "big") for key in containers]
    _write_node(out, keys, 0, 0)
    out += _U32.pack(1) + _LIST.pack(_LIST_MARK, count)
    for kind, cardinality, payload in containers.values():
        out += _CONTAINER.pack(1, kind, cardinality)
        out += payload
    out += _TAIL.pack(count, 0, count - 1)
    return bytes(out)


def _write_node(out: bytearray, keys: Sequence[bytes], place: int, depth: int) -> None:
    """The node of sorted keys that have their first `depth` bytes in common; their containers lie from `place` on."""
    if len(keys) == 1:
        out += _NODE.pack(_LEAF, 0, 0) + keys[0] + _PLACE.pack(place)
        return
    first, last = keys[0], keys[-1]
    fork = next(i for i in range(depth, _KEY_BYTES) if first[i] != last[i])
    children = [(byte, list(below)) for byte, below in itertools.groupby(keys, key=lambda key: key[fork])]
    kind, key_bytes = _branch([byte for byte, _ in children])
    out += _NODE.pack(kind, len(children), fork - depth) + first[depth:fork] + key_bytes
    for _, below in children:
        _write_node(out, below, place, fork + 1)
        place += len(below)


def _branch(key_bytes: Sequence[int]) -> tuple[int, bytes]:
    count = len(key_bytes)
    if count <= 4:
        return _BRANCH_4, bytes(key_bytes).ljust(4, b"\0")[::-1]
    if count <= 16:
        return _BRANCH_16, _backwards(bytes(key_bytes).ljust(16, b"\0"))
    if count <= 48:
        numbers = bytearray([_NO_CHILD]) * 256
        for number, byte in enumerate(key_bytes):
            numbers[byte] = number
        return _BRANCH_48, _backwards(numbers)
    return _BRANCH_256, sum(1 << byte for byte in key_bytes).to_bytes(32, "little")


def _backwards(data: bytes | bytearray) -> bytes:
    return b"".join(data[at : at + _GROUP][::-1] for at in range(0, len(data), _GROUP))
