"""Entries of a hash engine in key order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kv_rows import apply_to

from lakeward.storage.kv.hash_store import HashStore

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


def test_many_keys_that_differ_late_come_in_order() -> None:
    """More keys with a common beginning than are compared one by one, at several depths."""
    tails = [b"%04d" % i for i in range(500)]
    keys = [head + tail for head in (b"", b"common-beginning/", b"common-beginning/deep" * 9) for tail in tails]
    keys += [b"common-beginning/" + b"\0" * i for i in range(1, 900)]
    store = HashStore()
    apply_to(store, [(key, b"") for key in reversed(keys)])
    assert store.scan(len(keys)).keys.to_list() == sorted(keys)
