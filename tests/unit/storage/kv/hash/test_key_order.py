"""Entries of a hash engine in key order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kv_rows import apply_to

from lakeward.storage.kv.hash.hash_store import HashStore

#: Made of few bytes and repeats, so that keys are alike for long and differ late, or in length only.
PIECES = st.sampled_from([b"", b"\0", b"\xff", b"a", b"abcdefgh", b"\0" * 9, b"x" * 30])
KEYS = st.lists(PIECES, max_size=5).map(b"".join)


@given(st.sets(KEYS | st.binary(max_size=12), max_size=300), st.integers(0, 300))
def test_keys_come_in_the_order_of_bytes(keys: set[bytes], limit: int) -> None:
    """The order is that which Python gives bytes."""
    store = HashStore()
    apply_to(store, [(key, b"") for key in keys])
    assert store.scan(len(keys)).keys.to_list() == sorted(keys)
    assert store.scan(limit).keys.to_list() == sorted(keys)[:limit]


@pytest.mark.parametrize("share_alike", [0, 0.4, 1])
def test_order_holds_from_piece_to_piece(share_alike: float) -> None:
    """Many rows are sorted piece by piece, also where most of them begin alike."""
    numbers = np.random.default_rng(5).permutation(150_000)
    alike = np.where(numbers < share_alike * len(numbers), b"alike-alike-alike", b"")
    keys = [head + b"%d" % number for head, number in zip(alike.tolist(), numbers.tolist(), strict=True)]
    store = HashStore()
    apply_to(store, [(key, b"") for key in keys])
    view = store.view()
    found = []
    while len(batch := view.read(300_000)):
        assert batch.keys.ends[-1] <= 300_000
        found += batch.keys.present()
    assert found == sorted(keys)
    assert store.scan(70_000).keys.present() == found[:70_000]


def test_many_keys_that_differ_late_come_in_order() -> None:
    """More keys with a common beginning than are compared one by one, at several depths."""
    tails = [b"%04d" % i for i in range(500)]
    keys = [head + tail for head in (b"", b"common-beginning/", b"common-beginning/deep" * 9) for tail in tails]
    keys += [b"common-beginning/" + b"\0" * i for i in range(1, 900)]
    store = HashStore()
    apply_to(store, [(key, b"") for key in reversed(keys)])
    assert store.scan(len(keys)).keys.to_list() == sorted(keys)
