"""Sorted keys that are kept up to date."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lakeward.storage.kv.hash.ordered_keys import OrderedKeys
from lakeward.storage.kv.store.slices import Slices

KEYS = st.binary(max_size=3)


@given(st.sets(KEYS), st.lists(st.lists(KEYS, max_size=8), max_size=5), KEYS)
def test_old_and_new_keys_are_found_once(old: set[bytes], new: list[list[bytes]], prefix: bytes) -> None:
    """A key is found whether it was there from the start or came later, or both."""
    keys = OrderedKeys(Slices.of(sorted(old)).for_kernels(optional=False))
    for batch in new:
        keys.add(Slices.of(batch), np.arange(len(batch)))
    everything = sorted(old.union(*new))
    assert keys.with_prefix(prefix).to_list() == [key for key in everything if key.startswith(prefix)]
    assert keys.with_prefix(b"").to_list() == everything


def test_some_keys_of_a_batch_are_added() -> None:
    """Only the chosen ones are new."""
    keys = OrderedKeys(Slices.of([]))
    keys.add(Slices.of([b"a", b"b", b"c"]), np.array([0, 2]))
    assert keys.with_prefix(b"").to_list() == [b"a", b"c"]
    assert len(keys) == 2


def test_many_new_keys_are_merged_in() -> None:
    """After that nothing is counted twice, and memory is that of the keys."""
    keys = OrderedKeys(Slices.of([]))
    batch = Slices.of(b"%05d" % i for i in range(5000))
    for _ in range(3):
        keys.add(batch, np.arange(5000))
    assert len(keys) == 15_000
    assert len(keys.with_prefix(b"0001")) == 10
    assert len(keys) == 5000
    assert keys.memory_bytes == 5000 * (5 + 16)
