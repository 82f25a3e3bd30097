"""Spans: bytes where they lie."""

from __future__ import annotations

import numpy as np
import pytest
from span_bytes import bytes_of

from lakeward.errors import CorruptError
from lakeward.records.kernels.spans import Spans, read_only


def test_spans_of_several_buffers() -> None:
    """Each stretch is taken from the buffer it names."""
    sources = [read_only(b"abcdef"), read_only(bytearray(b"UVWXYZ"))]
    spans = Spans(sources, np.array([0, 2, 4]), np.array([2, 5, 6]), np.array([0, 1, 0], np.uint8))
    assert bytes_of(spans) == [b"ab", b"WXY", b"ef"]
    assert spans.sizes.tolist() == [2, 3, 2]


def test_spans_of_bounds_and_pieces() -> None:
    """Neighbours share their bounds; loose pieces are joined."""
    assert bytes_of(Spans.of_bounds(read_only(b"abcd"), np.array([0, 1, 1, 4]))) == [b"a", b"", b"bcd"]
    assert bytes_of(Spans.of([b"x", bytearray(b"yz"), memoryview(b"")])) == [b"x", b"yz", b""]
    assert len(Spans.of([])) == 0


def test_some_of_the_spans() -> None:
    """A choice keeps its order, and the buffers stay alive with it."""
    spans = Spans.of([b"a", b"bb", b"ccc"])
    assert bytes_of(spans.take(np.array([2, 0]))) == [b"ccc", b"a"]
    assert bytes_of(spans.take(np.array([False, True, False]))) == [b"bb"]
    assert bytes_of(spans.behind(1)) == [b"", b"b", b"cc"]


def test_spans_as_positions_again() -> None:
    """Who needs positions gets the buffer with them."""
    buffer, starts, ends = Spans.of([b"a", b"bb"]).in_one_buffer()
    assert (buffer.tobytes(), starts.tolist(), ends.tolist()) == (b"abb", [0, 1], [1, 3])


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (2, 1), (0, 4), (4, 4), (2**62, 2**62)])
def test_a_span_outside_its_buffer_is_refused(start: int, end: int) -> None:
    """What compiled code is given has been checked: it does not check again."""
    with pytest.raises(CorruptError, match="past the end"):
        Spans([read_only(b"abc")], np.array([start]), np.array([end]))
    with pytest.raises(CorruptError, match="past the end"):
        Spans(
            [read_only(b"longer than that"), read_only(b"abc")],
            np.array([start]),
            np.array([end]),
            np.array([1], np.uint8),
        )


@pytest.mark.parametrize("data", [b"ab", bytearray(b"ab"), memoryview(b"ab"), np.array([97, 98], np.uint8)])
def test_kernels_get_one_kind_of_array(data) -> None:
    """A writable buffer and a constant one look the same, so that kernels are compiled once."""
    array = read_only(data)
    assert array.tobytes() == b"ab"
    assert not array.flags.writeable
    assert not isinstance(data, np.ndarray) or data.flags.writeable
