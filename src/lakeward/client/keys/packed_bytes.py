"""PackedBytes: stretches of bytes one after the other in one buffer. Encoded keys and rows are handed on so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakeward.records.kernels.spans import I64, U8, Spans


class PackedBytes:
    """Neighbouring stretches of one buffer; `bounds` are n + 1."""

    __slots__ = ("bounds", "data")

    def __init__(self, data: U8, bounds: I64) -> None:
        self.data = data
        self.bounds = bounds

    @classmethod
    def of(cls, pieces: Sequence[bytes]) -> PackedBytes:
        """These pieces, joined."""
        bounds = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(p) for p in pieces], out=bounds[1:])
        return cls(np.frombuffer(bytearray().join(pieces), np.uint8), bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @property
    def sizes(self) -> I64:
        """Bytes of each stretch."""
        return self.bounds[1:] - self.bounds[:-1]

    def __getitem__(self, which: int) -> bytes:
        return self.data[self.bounds[which] : self.bounds[which + 1]].tobytes()


def spans_of(sources: Sequence[U8], starts: Sequence[I64], ends: Sequence[I64]) -> Spans:
    """Stretches of several buffers, those of the first buffer first."""
    if len(sources) == 1:
        return Spans(sources, starts[0], ends[0])
    which: NDArray[Any] = np.repeat(np.arange(len(sources)), [len(s) for s in starts])
    return Spans(sources, np.concatenate(starts), np.concatenate(ends), which)
