"""Unions of Roaring bitmaps: the bytes of the Java library, and sets of numbers as the measure."""

from __future__ import annotations

import base64
import contextlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lakeward.storage.kv.roaring.roaring import check_bitmap, union_of_bitmaps
from lakeward.storage.kv.roaring.roaring64 import check_bitmap64, read_containers, union_of_bitmaps64
from lakeward.storage.kv.roaring.roaring_containers import bitmap_of as bitmap_of_container

DATA = Path(__file__).parents[4] / "data"
VECTORS: list[dict[str, Any]] = json.loads((DATA / "vectors.json").read_text())["roaring"]
GOLDEN: list[dict[str, Any]] = json.loads((DATA / "roaring.json").read_text())["bitmaps"]

UNION: dict[int, Callable[[bytes, bytes], bytes]] = {32: union_of_bitmaps, 64: union_of_bitmaps64}
CHECK: dict[int, Callable[[bytes], None]] = {32: check_bitmap, 64: check_bitmap64}
EMPTY = {32: bytes.fromhex("3a30000000000000"), 64: b"\0"}


def bitmap_of_one(bits: int, member: int) -> bytes:
    """The bitmap with one member, byte by byte."""
    high, low = member >> 16, (member & 0xFFFF).to_bytes(2, "little")
    if bits == 32:
        return bytes.fromhex("3a30000001000000") + high.to_bytes(2, "little") + bytes.fromhex("0000 10000000") + low
    leaf = bytes.fromhex("04000000") + high.to_bytes(6, "big") + bytes(8)
    containers = bytes.fromhex("01000000 fe01000000 01 02 01000000") + low
    return (
        bytes.fromhex("01 0100000000000000") + leaf + containers + bytes.fromhex("0100000000000000 00000000 00000000")
    )


def bitmap_of(bits: int, members: set[int]) -> bytes:
    """A bitmap, member by member."""
    out = EMPTY[bits]
    for member in members:
        out = UNION[bits](out, bitmap_of_one(bits, member))
    return out


def members_of(bits: int, data: bytes) -> set[int]:
    """The members of a bitmap."""
    if bits == 32:
        return set(BitMap.deserialize(data))
    return {key << 16 | low for key, found in read_containers(data).items() for low in bitmap_of_container(found)}


def golden(case: dict[str, Any]) -> tuple[bytes, list[int]]:
    """A bitmap that the Java library has written, and its members."""
    return zlib.decompress(base64.b64decode(case["bytes"])), [m for r in case["ranges"] for m in range(*r)]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["function"])
def test_vectors_are_met_byte_by_byte(vector: dict[str, Any]) -> None:
    """A bitmap built here is the one that Apache Fluss has."""
    bits = 32 if vector["function"] == "rbm32" else 64
    assert bitmap_of(bits, set(vector["members"])).hex() == vector["hex"]


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN if "spare" not in c["name"]], ids=lambda c: f"{c['bits']} bits, {c['name']}"
)
def test_bitmaps_of_the_java_library_are_read_and_written_alike(case: dict[str, Any]) -> None:
    """Reading and writing gives the same bytes, for every kind of container and every size of branch."""
    data, members = golden(case)
    CHECK[case["bits"]](data)
    assert members_of(case["bits"], data) == set(members)
    assert UNION[case["bits"]](data, data) == data
    assert UNION[case["bits"]](data, EMPTY[case["bits"]]) == data


@pytest.mark.parametrize("case", [c for c in GOLDEN if "branch" in c["name"]], ids=lambda c: c["name"])
def test_branches_grow_as_in_the_java_library(case: dict[str, Any]) -> None:
    """A bitmap put together member by member has the bytes of one that Java has put together."""
    data, members = golden(case)
    assert bitmap_of(64, set(members)) == union_of_bitmaps64(data, data)


def members(bits: int) -> st.SearchStrategy[set[int]]:
    """Members close together and far apart."""
    near = st.integers(0, 40)
    far = st.integers(0, 2**bits - 1)
    grouped = st.builds(lambda high, low: high << 16 | low, st.integers(0, 60), st.integers(0, 3))
    return st.sets(near | far | grouped, max_size=25)


@pytest.mark.parametrize("bits", [32, 64])
@given(data=st.data())
def test_unions_are_those_of_sets(bits: int, data: st.DataObject) -> None:
    """The union of two bitmaps has the members of both, whichever way they came in.

    Not always the same bytes: where runs are no smaller than an array, the form that was there stays, as in Java.
    """
    a, b = data.draw(members(bits)), data.draw(members(bits))
    both = UNION[bits](bitmap_of(bits, a), bitmap_of(bits, b))
    CHECK[bits](both)
    assert members_of(bits, both) == a | b == members_of(bits, bitmap_of(bits, a | b))


@given(
    st.lists(st.tuples(st.integers(0, 65535), st.integers(0, 20000)), max_size=4),
    st.lists(st.tuples(st.integers(0, 65535), st.integers(0, 20000), st.integers(2, 3)), max_size=3),
)
def test_full_containers_change_their_kind(runs: list[tuple[int, int]], combs: list[tuple[int, int, int]]) -> None:
    """Arrays, bitmaps and runs of one container unite to the same members in any order."""
    pieces = [span(first, min(65536, first + size), 1) for first, size in runs]
    pieces += [span(first, min(65536, first + size), step) for first, size, step in combs]
    forth, back = EMPTY[32], EMPTY[32]
    for piece in pieces:
        forth = union_of_bitmaps(forth, piece)
    for piece in reversed(pieces):
        back = union_of_bitmaps(piece, back)
    check_bitmap(forth)
    check_bitmap(back)
    assert members_of(32, forth) == members_of(32, back) == set().union(*(members_of(32, piece) for piece in pieces))


def span(first: int, end: int, step: int) -> bytes:
    """A bitmap of one array or bitmap container, never of runs."""
    low = range(first, end, step)
    if not low:
        return EMPTY[32]
    head = bytes.fromhex("3a30000001000000 0000") + (len(low) - 1).to_bytes(2, "little") + bytes.fromhex("10000000")
    if len(low) <= 4096:
        return head + b"".join(m.to_bytes(2, "little") for m in low)
    return head + sum(1 << m for m in low).to_bytes(8192, "little")


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("damage", ["nothing", "cut off", "another format"])
def test_what_is_no_bitmap_is_refused(bits: int, damage: str) -> None:
    """Damaged bytes are a ValueError, not a bitmap with other members."""
    whole = bitmap_of(bits, {1, 2, 70000, 900000})
    data = {"nothing": b"", "cut off": whole[: len(whole) // 2], "another format": b"\x07" * 40}[damage]
    with pytest.raises(ValueError, match=r"bitmap|Bitmap|cut off"):
        CHECK[bits](data)
    with pytest.raises(ValueError, match=r"bitmap|Bitmap|cut off"):
        UNION[bits](whole, data)


@given(st.data())
def test_flipped_bytes_never_break_the_reader(data: st.DataObject) -> None:
    """Whatever the bytes, reading gives a bitmap or a ValueError."""
    case = data.draw(st.sampled_from([c for c in GOLDEN if len(c["bytes"]) < 500]))
    damaged = bytearray(golden(case)[0])
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        UNION[case["bits"]](bytes(damaged), EMPTY[case["bits"]])


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param("3a300000 01000000 0000 0100 10000000 0200 0100", id="two members out of order"),
        pytest.param("3a300000 01000000 0000 0400 10000000 0100 0200 0200 0300 0400", id="a member twice"),
        pytest.param("3b300000 01 0000 0900 0200 0100 0400 0300 0400", id="runs that overlap"),
        pytest.param("3b300000 01 0000 0100 0100 ffff 0100", id="a run past the end"),
        pytest.param("3b300000 01 0000 0500 0100 0100 0100", id="other than the members announced"),
        pytest.param("3a300000 02000000 0500 0000 0500 0000 18000000 1a000000 0100 0100", id="a container twice"),
    ],
)
def test_members_out_of_order_are_refused(payload: str) -> None:
    """A bitmap whose members are not in order would lose some in a union."""
    with pytest.raises(ValueError, match=r"order|members"):
        check_bitmap(bytes.fromhex(payload))
