"""PacketReader: what the server sends after a command, as blocks of whole packets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lakeward.capture.mysql.cells.cells import I32, I64, U8
from lakeward.capture.mysql.server.wire_kernels import cut_packets

_BLOCK_BYTES = 4 << 20
_PACKETS_MAX = _BLOCK_BYTES // 16
_PART = 0xFFFFFF
_EOF, _ERROR = 0xFE, 0xFF
_EOF_BYTES_MAX = 9

#: Of packets that are there (data, where they begin, how many were looked at before), how many are a block; 0: wait.
Enough = Callable[[U8, I64, int], int]


class ByteSource(Protocol):
    """Where bytes come from."""

    def recv_into(self, buffer: memoryview, /) -> int:
        """Wait for some and take as many as there are; 0 at the end."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole packets; `data` is overwritten when the next block is asked for."""

    data: U8
    starts: I64
    lengths: I32


class PacketReader:
    """Reads until the packet that says it was the last, EOF or an error, which `ended` holds then.

    Blocks are large where much comes, so that kernels have something to do; `enough` may say where they end.
    """

    def __init__(self, source: ByteSource, enough: Enough | None = None, block_bytes: int = _BLOCK_BYTES) -> None:
        self._source = source
        self._enough = enough
        self._block_bytes = block_bytes
        self._data = np.empty(block_bytes + (1 << 20), np.uint8)
        self._held = 0
        self.ended: bytes | None = None

    def __iter__(self) -> Iterator[Block]:
        starts, lengths = np.empty(_PACKETS_MAX, np.int64), np.empty(_PACKETS_MAX, np.int32)
        while self.ended is None:
            known, at = self._fill(starts, lengths)
            if known:
                yield Block(self._data, starts[:known], lengths[:known])
            elif self.ended is None:
                yield self._long_packet()
                continue
            self._drop(at)

    def _fill(self, starts: I64, lengths: I32) -> tuple[int, int]:
        """Read until there is a block: the number of packets, and where they end; none if a long packet is first."""
        known, at, seen = 0, 0, 0
        while True:
            known, at = cut_packets(self._data, at, self._held, starts, lengths, known)
            if known and self._is_last(starts[known - 1], lengths[known - 1]):
                known -= 1
                begin = int(starts[known])
                self.ended = self._data[begin : begin + int(lengths[known])].tobytes()
                return known, at
            if self._enough is not None:
                count = self._enough(self._data, starts[:known], seen)
                if count:
                    return count, int(starts[count - 1] + lengths[count - 1])
                seen = known
            is_full = known == len(starts) or (self._enough is None and at >= self._block_bytes)
            if is_full or self._is_part(at):
                return known, at
            self._read_more()

    def _is_last(self, start: int, length: int) -> bool:
        first = self._data[start] if length else 0
        return bool(first == _ERROR or (first == _EOF and length < _EOF_BYTES_MAX))

    def _is_part(self, at: int) -> bool:
        return self._held - at >= 4 and int.from_bytes(self._data[at : at + 3].tobytes(), "little") == _PART

    def _read_more(self) -> None:
        if self._held == len(self._data):
            self._data = np.concatenate([self._data, np.empty(len(self._data), np.uint8)])
        count = self._source.recv_into(self._data[self._held :].data)
        if not count:
            raise EOFError("the server closed it")
        self._held += count

    def _drop(self, count: int) -> None:
        self._data[: self._held - count] = self._data[count : self._held].copy()
        self._held -= count

    def _long_packet(self) -> Block:
        """A packet that was sent in parts, as a block of its own; it begins where the buffer does."""
        parts, at = [], 0
        while True:
            while self._held - at < 4:
                self._read_more()
            size = int.from_bytes(self._data[at : at + 3].tobytes(), "little")
            while self._held - at - 4 < size:
                self._read_more()
            parts.append(self._data[at + 4 : at + 4 + size].copy())
            at += 4 + size
            if size < _PART:
                break
        self._drop(at)
        whole = np.concatenate(parts)
        return Block(whole, np.zeros(1, np.int64), np.array([len(whole)], np.int32))
