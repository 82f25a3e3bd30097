"""Frames come out whole, however the stream was cut; what is no frame is refused, wherever it was cut."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import CorruptError, ErrorCode
from lakeward.protocol.frame_reader import SMALL_BYTES, FrameReader, FreshMemory, Memory
from lakeward.protocol.frames import FRAME_BYTES_MAX, REQUEST_HEADER_BYTES
from lakeward.rpc.buffer_pool import BufferPool

HEADER_BYTES = 1
#: Mostly small frames, and some around the sizes at which memory changes.
SIZES = st.integers(HEADER_BYTES, 300) | st.sampled_from(
    [4080, 4096, SMALL_BYTES - 5, SMALL_BYTES - 4, SMALL_BYTES - 3, SMALL_BYTES, 131_072, 140_000]
)
FRAMES = st.lists(st.tuples(st.integers(0, 255), SIZES).map(lambda f: bytes([f[0]]) * f[1]), max_size=8)
CUTS = st.lists(st.integers(0, 2**30), max_size=30)
MEMORIES = pytest.mark.parametrize("memory", [FreshMemory, BufferPool])


def wire(frames: list[bytes]) -> bytes:
    """Frames as they are sent."""
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    """The stream cut at some places."""
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    return [stream[a:b] for a, b in pairwise(places)]


class Reading:
    """A reader that is fed piece by piece, and what became of it."""

    def __init__(self, memory: type[Memory], frame_bytes_max: int = FRAME_BYTES_MAX, *, shrinks: bool = False) -> None:
        self.reader = FrameReader(memory(), header_bytes=HEADER_BYTES, frame_bytes_max=frame_bytes_max)
        self.shrinks = shrinks
        self.frames: list[bytes] = []

    def feed(self, stream: list[bytes]) -> None:
        """The stream arrives piece by piece."""
        for piece in stream:
            self._feed(piece)

    def _feed(self, piece: bytes) -> None:
        while piece:  # no more at a time than there is room for
            room = self.reader.room()
            assert len(room) > 0, "no room is offered"
            taken, piece = piece[: len(room)], piece[len(room) :]
            room[: len(taken)] = taken
            if self.reader.fill(len(taken)):
                while (frame := self.reader.take_frame()) is not None:
                    self.frames.append(bytes(frame))
                    if self.shrinks:
                        self.reader.shrink()
                if self.shrinks:
                    self.reader.shrink()


@MEMORIES
@given(frames=FRAMES, cuts=CUTS, shrinks=st.booleans())
def test_chunking_is_invisible(memory: type[Memory], frames: list[bytes], cuts: list[int], shrinks: bool) -> None:
    """Any cut of the stream gives the same frames, small and large, whether or not memory is given back between."""
    reading = Reading(memory, shrinks=shrinks)
    reading.feed(pieces(wire(frames), cuts))
    assert reading.frames == frames
    assert reading.reader.awaited_bytes == reading.reader.unread_bytes == 0


@MEMORIES
@given(frames=FRAMES, cuts=CUTS, length=st.integers(-(2**31), HEADER_BYTES - 1) | st.integers(200_000, 2**31 - 1))
def test_refusal_is_the_same_for_any_chunking(
    memory: type[Memory], frames: list[bytes], cuts: list[int], length: int
) -> None:
    """Behind good frames comes a length below the header or above the limit: CORRUPT_MESSAGE, and no memory for it."""
    reading = Reading(memory, frame_bytes_max=200_000)
    with pytest.raises(CorruptError, match=f"A frame of {length} bytes is ") as caught:
        reading.feed(pieces(wire(frames) + struct.pack(">i", length), cuts))
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
    assert reading.frames == frames
    assert reading.reader.awaited_bytes == 0


@MEMORIES
@given(frames=FRAMES.filter(bool), cuts=CUTS, lost=st.integers(1, 2**30))
def test_a_frame_that_is_cut_off_never_comes_out(
    memory: type[Memory], frames: list[bytes], cuts: list[int], lost: int
) -> None:
    """Whatever part of the last frame is missing when the stream ends, those before it are whole and it is awaited."""
    stream = wire(frames)
    kept = len(stream) - 1 - lost % (len(frames[-1]) + 4)
    reading = Reading(memory)
    reading.feed(pieces(stream[:kept], cuts))
    assert reading.frames == frames[:-1]
    here = kept - len(wire(frames[:-1]))
    assert reading.reader.unread_bytes == here
    assert reading.reader.awaited_bytes == (4 + len(frames[-1]) if here >= 4 else 0)


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 7, 997, 2**31 - 1])
def test_impossible_lengths_are_corrupt(length: int) -> None:
    """Negative, shorter than the header, or over the limit, which counts the length field too."""
    reader = FrameReader(FreshMemory(), header_bytes=REQUEST_HEADER_BYTES, frame_bytes_max=1000)
    reader.room()[:4] = struct.pack(">i", length)
    assert reader.fill(4)
    with pytest.raises(CorruptError) as caught:
        reader.take_frame()
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [8, 9, 996])
def test_possible_lengths_are_awaited(length: int) -> None:
    """From an empty body to the very limit."""
    reader = FrameReader(FreshMemory(), header_bytes=REQUEST_HEADER_BYTES, frame_bytes_max=1000)
    reader.room()[:4] = struct.pack(">i", length)
    reader.fill(4)
    assert reader.take_frame() is None
    assert reader.awaited_bytes == 4 + length


def test_kept_frames_keep_their_bytes_when_later_ones_arrive() -> None:
    """Each owns its memory, so that payload views stay good."""
    reader = FrameReader(FreshMemory(), header_bytes=HEADER_BYTES)
    kept = []
    for fill in (b"a", b"b", b"c"):
        for size in (100, 100_000):
            stream = wire([fill * size])
            while stream:
                room = reader.room()
                part, stream = stream[: len(room)], stream[len(room) :]
                room[: len(part)] = part
                if reader.fill(len(part)):
                    kept += list(reader.kept_frames())
    assert [bytes(k[:1]) * len(k) for k in kept] == [bytes(k) for k in kept]
    assert [len(k) for k in kept] == [100, 100_000] * 3
    assert all(isinstance(k, memoryview) for k in kept[1::2]), "large ones are not copied"


def test_a_reader_without_memory_waits_where_it_is() -> None:
    """A large frame whose memory is not there now is taken up again when it is, and nothing is lost."""

    class Short(FreshMemory):
        is_short = True

        def take(self, size: int) -> bytearray | None:  # type: ignore[override]
            return None if self.is_short else super().take(size)

    memory = Short()
    reader = FrameReader(memory, header_bytes=HEADER_BYTES)
    stream = wire([b"x" * 100_000])
    reader.room()[:100] = stream[:100]
    reader.fill(100)
    assert reader.take_frame() is None
    assert reader.lacks_memory
    memory.is_short = False
    assert reader.take_frame() is None
    assert not reader.lacks_memory
    rest = stream[100:]
    reader.room()[: len(rest)] = rest
    reader.fill(len(rest))
    assert reader.take_frame() == b"x" * 100_000
