"""Slices: many byte strings in one buffer. What goes into a key/value store and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lakeward.errors import ErrorCode

U8: TypeAlias = NDArray[np.uint8]
I64: TypeAlias = NDArray[np.int64]
U64: TypeAlias = NDArray[np.uint64]
_FEW = 8
ABSENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """Byte string i is `buffer[starts[i]:ends[i]]`; a start of -1 says that there is none."""

    buffer: U8
    starts: I64
    ends: I64

    @classmethod
    def of(cls, strings: Iterable[bytes | None]) -> Slices:
        """Slices of byte strings and Nones; for single rows and tests, not for hot paths."""
        given = list(strings)
        sizes = np.array([ABSENT if s is None else len(s) for s in given], np.int64)
        absent = sizes == ABSENT
        sizes[absent] = 0
        ends = np.cumsum(sizes)
        starts = ends - sizes
        starts[absent] = ends[absent] = ABSENT
        return cls(np.frombuffer(b"".join(filter(None, given)), np.uint8), starts, ends)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, i: int) -> bytes | None:
        start = self.starts[i]
        return None if start < 0 else self.buffer[start : self.ends[i]].tobytes()

    def to_list(self) -> list[bytes | None]:
        """All byte strings; for single rows and tests, not for hot paths."""
        data = self.buffer.data
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [None if start < 0 else data[start:end].tobytes() for start, end in bounds]

    def present(self) -> list[bytes]:
        """The byte strings that are there; for single rows and tests, not for hot paths."""
        return [s for s in self.to_list() if s is not None]

    def for_kernels(self, *, optional: bool) -> Slices:
        """The same slices, checked, as compiled code wants them; `optional` allows absent ones."""
        starts, ends = _own(self.starts), _own(self.ends)
        if len(starts) != len(ends):
            raise ErrorCode.CORRUPT_RECORD.error(
                f"There are {len(starts)} starts of keys or values and {len(ends)} ends."
            )
        if not _lie_inside(starts, ends, ABSENT if optional else 0, len(self.buffer)):
            raise ErrorCode.CORRUPT_RECORD.error(
                f"A key or value lies outside its buffer of {len(self.buffer)} bytes; the batch is damaged."
            )
        return Slices(np.ascontiguousarray(self.buffer, np.uint8), starts, ends)


def _lie_inside(starts: I64, ends: I64, first: int, size: int) -> bool:
    if len(starts) <= _FEW:  # as plain numbers: NumPy takes its time over each question
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return all(first <= start <= end <= size for start, end in pairs)
    return bool(starts.min() >= first and ends.max() <= size and (ends - starts).min() >= 0)


def _own(numbers: I64) -> I64:
    """The numbers in one block that may be written to: compiled code exists for that kind of array only."""
    block = np.ascontiguousarray(numbers, np.int64)
    return block if block.flags.writeable else block.copy()


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Keys and their values."""

    keys: Slices
    values: Slices

    @classmethod
    def of(cls, rows: Iterable[tuple[bytes, bytes]]) -> Entries:
        """Entries of pairs; for single rows and tests, not for hot paths."""
        given = list(rows)
        return cls(Slices.of(key for key, _ in given), Slices.of(value for _, value in given))

    def __len__(self) -> int:
        return len(self.keys)

    def to_list(self) -> list[tuple[bytes, bytes]]:
        """All pairs; for single rows and tests, not for hot paths."""
        return list(zip(self.keys.present(), self.values.present(), strict=True))
