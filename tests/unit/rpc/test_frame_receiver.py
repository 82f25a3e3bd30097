"""Frames come out whole, however the stream was cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, LakewardError
from lakeward.rpc.frame_receiver import FrameReceiver

FRAMES = st.lists(
    st.one_of(st.binary(min_size=1, max_size=40), st.integers(60_000, 140_000).map(lambda n: bytes([n % 251]) * n)),
    max_size=8,
)


def wire(frames: list[bytes]) -> bytes:
    """Frames as a server writes them."""
    return b"".join(len(f).to_bytes(4, "big") + f for f in frames)


def received(receiver: FrameReceiver, stream: bytes, piece_bytes: int) -> list[bytes]:
    """What comes out when the stream arrives in pieces of at most this size."""
    out = []
    at = 0
    while at < len(stream):
        room = receiver.buffer()
        assert len(room) > 0
        count = min(len(room), piece_bytes, len(stream) - at)
        room[:count] = stream[at : at + count]
        out += [bytes(f) for f in receiver.received(count)]
        at += count
    return out


@given(FRAMES, st.integers(1, 200_000))
def test_chunking_is_invisible(frames: list[bytes], piece_bytes: int) -> None:
    """Any cut of the stream gives the same frames, small and large."""
    piece_bytes = max(piece_bytes, sum(map(len, frames)) // 2000)
    assert received(FrameReceiver(), wire(frames), piece_bytes) == frames


def test_frames_keep_their_bytes_when_later_ones_arrive() -> None:
    """Each frame owns its memory, so that payload views stay good."""
    receiver = FrameReceiver()
    kept = []
    for fill in (b"a", b"b", b"c"):
        for size in (100, 100_000):
            stream = wire([fill * size])
            while stream:
                room = receiver.buffer()
                part, stream = stream[: len(room)], stream[len(room) :]
                room[: len(part)] = part
                kept += list(receiver.received(len(part)))
    assert [bytes(k[:1]) * len(k) for k in kept] == [bytes(k) for k in kept]
    assert len(kept) == 6


@pytest.mark.parametrize("length", [-1, 0, 1001])
def test_impossible_lengths_are_refused(length: int) -> None:
    """A negative length, an empty frame or one over the limit is CORRUPT_MESSAGE, not an allocation."""
    receiver = FrameReceiver(frame_bytes_max=1000)
    receiver.buffer()[:4] = length.to_bytes(4, "big", signed=True)
    with pytest.raises(LakewardError) as caught:
        list(receiver.received(4))
    assert caught.value.code is ErrorCode.CORRUPT_MESSAGE
