"""What is written to an encrypted connection."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.rpc.encrypted_writes import EncryptedWrites, pieces


class NarrowTransport:
    """Takes so many writes, and says then that it is full."""

    def __init__(self, takes: int, *, encrypts: bool = True) -> None:
        self.got: list[bytes] = []
        self.takes = takes
        self.writes: EncryptedWrites | None = None
        self._encrypts = encrypts

    def set_write_buffer_limits(self, high: int) -> None:
        """As much as may be unsent."""

    def get_extra_info(self, name: str) -> object:
        """What only an encrypting one knows."""
        return "known" if self._encrypts and name == "ssl_object" else None

    def write(self, data: bytes) -> None:
        """Take it, and say when it was enough."""
        self.got.append(bytes(data))
        if len(self.got) >= self.takes:
            assert self.writes is not None
            self.writes.hold()


def writes_to(transport: Any) -> EncryptedWrites:
    """Writes that hear when the transport is full."""
    made = EncryptedWrites.of(transport)
    assert made is not None
    transport.writes = made
    return made


@pytest.mark.parametrize("sizes", [[0], [1, 2, 3], [20_000], [5, 200_000, 7, 8], [9000] * 40, [65_536, 1]])
def test_pieces_are_the_same_bytes(sizes: list[int]) -> None:
    """In the same order, none of them large."""
    parts = [bytes([n % 256]) * size for n, size in enumerate(sizes)]
    found = list(pieces(parts))
    assert b"".join(found) == b"".join(parts)
    assert all(len(piece) <= 96 * 1024 for piece in found)


def test_small_parts_go_together() -> None:
    """A header and a small body are one record."""
    assert list(pieces([b"head", b"body"])) == [b"headbody"]


def test_a_full_transport_is_given_no_more() -> None:
    """Until it has room again; then the rest follows in order."""
    transport = NarrowTransport(takes=2)
    writes = writes_to(transport)
    data = bytes(range(256)) * 2000
    writes.add([data])
    assert len(transport.got) == 2
    assert writes.size == len(data) - sum(map(len, transport.got))
    writes.add([b"the end"])
    assert len(transport.got) == 2
    transport.takes = 100
    writes.release()
    assert b"".join(transport.got) == data + b"the end"
    assert writes.size == 0


def test_the_end_hands_all_on() -> None:
    """However full the transport is: it is closed next, and writes what it has."""
    transport = NarrowTransport(takes=1)
    writes = writes_to(transport)
    writes.add([b"x" * 300_000])
    writes.finish()
    assert b"".join(transport.got) == b"x" * 300_000


def test_what_is_not_encrypted_needs_no_such_care() -> None:
    """A plain transport writes as it likes."""
    assert EncryptedWrites.of(NarrowTransport(1, encrypts=False)) is None  # type: ignore[arg-type]
