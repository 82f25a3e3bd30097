"""Spans: stretches of bytes where they lie, in one buffer or several. Keys, rows and stored values are handed on so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import string_at

import numpy as np
from numpy.typing import NDArray

from lakeward.errors import ErrorCode

U8 = NDArray[np.uint8]
I64 = NDArray[np.int64]
Positions = I64


def read_only(data: bytes | bytearray | memoryview | U8) -> U8:
    """The bytes as an array; one kind of array, so that one compiled kernel serves all."""
    array = data.view() if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    array.flags.writeable = False
    return array


class Spans:
    """Stretches of bytes that nobody copied. The buffers are held, and are not to be resized meanwhile.

    `starts` and `ends` are addresses: what compiled code takes, and the same whatever buffer a stretch lies in.
    """

    __slots__ = ("_sources", "ends", "starts")

    def __init__(self, sources: Sequence[U8], starts: I64, ends: I64, source_of: U8 | None = None) -> None:
        """Bytes between `starts` and `ends` of the buffer that `source_of` names for each, or of the only one."""
        assert len(starts) == len(ends)
        limit: int | I64
        base: int | I64
        if source_of is None:
            (only,) = sources
            limit, base = len(only), only.ctypes.data
        else:
            limit = np.array([len(s) for s in sources], np.int64)[source_of]
            base = np.array([s.ctypes.data for s in sources], np.int64)[source_of]
        if ((starts < 0) | (starts > ends) | (ends > limit)).any():
            raise ErrorCode.CORRUPT_RECORD.error("A record reaches past the end of its buffer.")
        self._sources = tuple(sources)
        self.starts: I64 = starts + base
        self.ends: I64 = ends + base

    @classmethod
    def of_bounds(cls, data: U8, bounds: I64) -> Spans:
        """Neighbouring stretches of one buffer: n + 1 bounds."""
        return cls([data], bounds[:-1], bounds[1:])

    @classmethod
    def of(cls, pieces: Sequence[bytes | bytearray | memoryview]) -> Spans:
        """Stretches that lie in as many objects, joined into one buffer."""
        bounds = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(p) for p in pieces], out=bounds[1:])
        return cls.of_bounds(read_only(b"".join(pieces)), bounds)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> I64:
        """Bytes of each stretch."""
        return self.ends - self.starts

    def take(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Spans:
        """Some of the stretches, in the order asked for."""
        taken = object.__new__(Spans)
        taken._sources = self._sources
        taken.starts, taken.ends = self.starts[which], self.ends[which]
        return taken

    def behind(self, head_bytes: int) -> Spans:
        """The stretches without their first bytes; each must be at least as long."""
        rest = self.take(slice(None))
        rest.starts = rest.starts + head_bytes
        assert not (rest.starts > rest.ends).any()
        return rest

    def pieces(self) -> Iterator[bytes]:
        """The stretches as bytes of their own; for a few of them."""
        for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True):
            yield string_at(start, end - start)

    def in_one_buffer(self) -> tuple[U8, I64, I64]:
        """The only buffer, and where in it each stretch starts and ends."""
        (source,) = self._sources
        base = source.ctypes.data
        return source, self.starts - base, self.ends - base
