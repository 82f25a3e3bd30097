"""Packets, however they arrive."""

from __future__ import annotations

import pytest
from mysql_recording import RecordedBytes

from lakeward.capture.mysql.server.packets import PacketReader

EOF = b"\xfe\0\0\2\0"
PART = 0xFFFFFF


def frame(payload: bytes) -> bytes:
    """A payload as packets: those of 2**24 - 1 bytes go on in the next."""
    out = b""
    while len(payload) >= PART:
        out, payload = out + b"\xff\xff\xff\0" + payload[:PART], payload[PART:]
    return out + len(payload).to_bytes(3, "little") + b"\0" + payload


def payloads(data: bytes, piece_bytes: int, block_bytes: int = 1000) -> list[bytes]:
    """What a reader makes of them."""
    reader = PacketReader(RecordedBytes(data, piece_bytes), block_bytes=block_bytes)
    out = []
    for block in reader:
        ends = block.starts + block.lengths
        out += [block.data[start:end].tobytes() for start, end in zip(block.starts, ends, strict=True)]
    assert reader.ended == EOF
    return out


@pytest.mark.parametrize("piece_bytes", [1, 3, 100, 1 << 20])
def test_pieces_do_not_matter(piece_bytes: int) -> None:
    """Small packets, empty ones, and one that is larger than a block."""
    sent = [bytes([i]) * (i * 7 % 50) for i in range(200)] + [b"x" * 5000, b"", b"y"]
    assert payloads(b"".join(map(frame, [*sent, EOF])), piece_bytes) == sent


def test_a_packet_in_parts_is_one() -> None:
    """Rows of 16 MB and more come in several packets, the last of which may be empty."""
    sent = [b"a", b"b" * PART, b"c", b"d" * (PART + 10), b"e"]
    assert payloads(b"".join(map(frame, [*sent, EOF])), 1 << 20) == sent


def test_a_server_that_goes_away_is_noticed() -> None:
    """In the middle of a packet."""
    with pytest.raises(EOFError):
        payloads(frame(b"abc")[:5], 100)
