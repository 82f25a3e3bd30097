"""Sparse indexes of a segment: offset → position and time → offset.

    .index      (last offset of a batch − base offset: i32, position where that batch starts: i32), big-endian
    .timeindex  (largest time so far: i64, offset − base offset: i32), big-endian

An entry is made when more than `log.index.interval-size` bytes were appended since the one before. Indexes are a
convenience: whatever is wrong with them is noticed, and they are rebuilt from the segment.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from operator import lt

_OFFSET_ENTRY_BYTES = 8
_TIME_ENTRY_BYTES = 12
_OFFSET_MAX = 2**31 - 1


class LogIndex:
    """Both indexes of one segment, in memory. Offsets are relative to the segment's base."""

    __slots__ = ("_offsets", "_positions", "_time_offsets", "_times_ms")

    def __init__(self) -> None:
        self._offsets = array("i")
        self._positions = array("i")
        self._times_ms = array("q")
        self._time_offsets = array("i")

    def add(self, last_offset: int, position: int, time_ms: int, base_offset: int) -> None:
        """Remember a batch: where it starts, and that time had reached `time_ms` at it.

        One that ends beyond what an entry can say (offsets given up, or a count that is absurd) is found by walking.
        """
        if last_offset <= _OFFSET_MAX:
            self._offsets.append(last_offset)
            self._positions.append(position)
        self.add_time(time_ms, base_offset)

    def add_time(self, time_ms: int, base_offset: int) -> None:
        """Remember that time had reached `time_ms` at an offset, if it moved on."""
        if not self._times_ms or time_ms > self._times_ms[-1]:
            base_offset = min(base_offset, _OFFSET_MAX)
            if self._time_offsets and self._time_offsets[-1] >= base_offset:
                self._times_ms[-1] = time_ms
                return
            self._times_ms.append(time_ms)
            self._time_offsets.append(base_offset)

    def position_before(self, offset: int) -> int:
        """A position to start from when looking for an offset; never after it."""
        found = bisect_right(self._offsets, offset) - 1
        return self._positions[found] if found >= 0 else 0

    def position_up_to(self, position: int) -> int:
        """The last batch start we know of at or before a position."""
        found = bisect_right(self._positions, position) - 1
        return self._positions[found] if found >= 0 else 0

    def offset_at(self, position: int) -> int | None:
        """Where the batch ends that starts at a position, if the index knows."""
        found = bisect_left(self._positions, position)
        is_known = found < len(self._positions) and self._positions[found] == position
        return self._offsets[found] if is_known else None

    def time_before(self, time_ms: int) -> tuple[int, int]:
        """A time and its offset to start from when looking for a time, never after it; (-1, 0) for the beginning."""
        found = bisect_left(self._times_ms, time_ms) - 1
        return (self._times_ms[found], self._time_offsets[found]) if found >= 0 else (-1, 0)

    @property
    def time_ms_max(self) -> int:
        """The largest time the index knows of, or -1."""
        return self._times_ms[-1] if self._times_ms else -1

    @property
    def last_position(self) -> int:
        """Where the last indexed batch starts."""
        return self._positions[-1] if self._positions else 0

    def cut(self, position: int, offset: int) -> None:
        """Forget what lies at or after a position and offset."""
        keep = bisect_left(self._positions, position)
        del self._offsets[keep:], self._positions[keep:]
        while self._time_offsets and self._time_offsets[-1] >= offset:
            self._time_offsets.pop()
            self._times_ms.pop()

    def offset_bytes(self) -> bytes:
        """The offset index as it stands in its file."""
        entries = array("i", bytes(_OFFSET_ENTRY_BYTES * len(self._offsets)))
        entries[0::2], entries[1::2] = self._offsets, self._positions
        _to_big_endian(entries)
        return entries.tobytes()

    def time_bytes(self) -> bytes:
        """The time index as it stands in its file."""
        times, offsets = self._times_ms[:], self._time_offsets[:]
        _to_big_endian(times)
        _to_big_endian(offsets)
        words = array("i", times.tobytes())
        out = array("i", bytes(_TIME_ENTRY_BYTES * len(times)))
        out[0::3], out[1::3], out[2::3] = words[0::2], words[1::2], offsets
        return out.tobytes()

    @property
    def size_bytes(self) -> int:
        """Memory that it takes, about."""
        return _OFFSET_ENTRY_BYTES * len(self._offsets) + _TIME_ENTRY_BYTES * len(self._times_ms)

    @classmethod
    def of_files(cls, offset_data: bytes, time_data: bytes, segment_bytes: int) -> LogIndex | None:
        """The indexes in these files, or None when they cannot be those of a segment of this size."""
        if len(offset_data) % _OFFSET_ENTRY_BYTES or len(time_data) % _TIME_ENTRY_BYTES:
            return None
        index = cls()
        entries = array("i", offset_data)
        _to_big_endian(entries)
        index._offsets, index._positions = entries[0::2], entries[1::2]
        words = array("i", time_data)
        wide = array("i", bytes(8 * (len(words) // 3)))
        wide[0::2], wide[1::2] = words[0::3], words[1::3]
        index._times_ms, index._time_offsets = array("q", wide.tobytes()), words[2::3]
        _to_big_endian(index._times_ms)
        _to_big_endian(index._time_offsets)
        rising = all(
            _rises(column) for column in (index._offsets, index._positions, index._times_ms, index._time_offsets)
        )
        inside = not index._positions or (index._positions[0] >= 0 and index._positions[-1] < segment_bytes)
        return index if rising and inside else None


def _rises(column: array[int]) -> bool:
    return all(map(lt, column, column[1:]))


def _to_big_endian(column: array[int]) -> None:
    if sys.byteorder == "little":
        column.byteswap()
