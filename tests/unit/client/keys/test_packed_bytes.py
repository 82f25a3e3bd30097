"""Bytes side by side, and stretches of several buffers."""

from __future__ import annotations

import numpy as np

from lakeward.client.keys.packed_bytes import PackedBytes, spans_of


def test_pieces_are_found_again() -> None:
    """By number, empty ones too."""
    packed = PackedBytes.of([b"ab", b"", b"cde"])
    assert (len(packed), packed.sizes.tolist()) == (3, [2, 0, 3])
    assert [packed[i] for i in range(3)] == [b"ab", b"", b"cde"]


def test_stretches_of_several_buffers_keep_their_order() -> None:
    """Those of the first buffer come first."""
    one, two = (np.frombuffer(b, np.uint8) for b in (b"hello world", b"..bye"))
    spans = spans_of([one, two], [np.array([6, 0]), np.array([2])], [np.array([11, 5]), np.array([5])])
    assert list(spans.pieces()) == [b"world", b"hello", b"bye"]
