"""Many byte strings in one buffer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, LakewardError
from lakeward.storage.kv.store.slices import Entries, Slices


@given(st.lists(st.none() | st.binary(max_size=20)))
def test_what_goes_in_comes_out(strings: list[bytes | None]) -> None:
    """None and the empty string are told apart."""
    slices = Slices.of(strings)
    assert len(slices) == len(strings)
    assert slices.to_list() == strings
    assert slices.present() == [s for s in strings if s is not None]
    assert slices.for_kernels(optional=True).to_list() == strings


def test_entries_are_pairs() -> None:
    """Keys and values stand side by side."""
    rows = [(b"a", b"1"), (b"", b"")]
    assert Entries.of(rows).to_list() == rows
    assert len(Entries.of(())) == 0


def test_numbers_that_may_not_be_written_to_are_copied() -> None:
    """Compiled code exists for one kind of array; a read-only or strided one becomes that kind."""
    data = np.frombuffer(b"abcdef", np.uint8)
    bounds = np.array([0, 9, 2, 9, 4, 9])
    bounds.flags.writeable = False
    slices = Slices(data, bounds[::2], bounds[::2] + 1).for_kernels(optional=False)
    assert slices.starts.flags.writeable
    assert slices.starts.flags.c_contiguous
    assert slices.to_list() == [b"a", b"c", b"e"]


@pytest.mark.parametrize(
    ("starts", "ends"),
    [([0], [7]), ([3], [2]), ([-2], [0]), ([-1], [-1]), ([0, 1], [1]), ([7], [7])],
    ids=["beyond the end", "backwards", "before the start", "absent", "unequal", "starts beyond"],
)
def test_slices_outside_the_buffer_are_refused(starts: list[int], ends: list[int]) -> None:
    """Whatever came over the wire, compiled code never reads outside a buffer."""
    slices = Slices(np.zeros(6, np.uint8), np.array(starts), np.array(ends))
    with pytest.raises(LakewardError) as raised:
        slices.for_kernels(optional=False)
    assert raised.value.code is ErrorCode.CORRUPT_RECORD
