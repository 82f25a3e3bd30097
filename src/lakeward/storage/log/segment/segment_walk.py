"""A segment's file walked from end to end, every byte of it: what is good, and what is not.

Reads piece by piece through a descriptor of its own, so that it may run on any thread, whatever happens to the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lakeward.records.batch.batch_header import BatchHeader
from lakeward.runtime.files.port import File, Files
from lakeward.storage.log.segment.batch_check import FoundBatch, batch_at, candidates, size_at
from lakeward.storage.log.segment.damage import Damage

_PIECE_BYTES = 4 << 20


class Good(NamedTuple):
    """A batch that is as it was written."""

    position: int
    header: BatchHeader


class Bad(NamedTuple):
    """Bytes that are no batch, and the offsets that should stand there."""

    position: int
    end_position: int
    first: int
    end: int
    reason: str


class SegmentWalk:
    """One walk over a file. `end_offset` is what the segment must reach; None where nobody knows."""

    def __init__(
        self,
        disk: Files,
        path: Path,
        base_offset: int,
        end_offset: int | None,
        *,
        start: int = 0,
        size: int | None = None,
        pause: Callable[[int], None] | None = None,
    ) -> None:
        """`pause` is told how many bytes were read, and may wait."""
        self._disk = disk
        self._path = path
        self._offset = base_offset
        self._end_offset = end_offset
        self._position = start
        self._size = size
        self._pause = pause
        self._piece = memoryview(b"")
        self._piece_at = 0

    def __iter__(self) -> Iterator[Good | Bad]:
        try:
            file = self._disk.open(self._path)
        except FileNotFoundError:
            yield from self._missing("the file is missing")
            return
        try:
            there = file.facts().size
            self._size = there if self._size is None else min(self._size, there)
            yield from self._walk(file, self._size)
        except OSError as wrong:
            yield from self._missing(f"it cannot be read: {wrong.strerror}")
        finally:
            file.close()

    def data_of(self, found: Good) -> memoryview:
        """The bytes of the batch that was found last, as they were checked."""
        start = found.position - self._piece_at
        return self._piece[start : start + found.header.size]

    def _missing(self, reason: str) -> Iterator[Bad]:
        if self._end_offset is None or self._offset < self._end_offset:
            end = self._offset if self._end_offset is None else self._end_offset
            yield Bad(self._position, self._size or 0, self._offset, end, reason)

    def _walk(self, file: File, size: int) -> Iterator[Good | Bad]:
        while self._position < size:
            found = self._batch(file, self._position, self._offset)
            if found is not None:
                yield Good(found.start, found.header)
            else:
                reason = self._reason(file)
                found = self._next_good(file, size)
                end = self._end_offset if found is None else found.header.base_offset
                stop = size if found is None else found.start
                yield Bad(self._position, stop, self._offset, self._offset if end is None else end, reason)
                if found is None:
                    return
                yield Good(found.start, found.header)
            self._position, self._offset = found.end, found.header.last_offset + 1
        if self._end_offset is not None and self._offset < self._end_offset:
            yield Bad(size, size, self._offset, self._end_offset, f"the file ends at byte {size}, before them")

    def _reason(self, file: File) -> str:
        found = self._batch(file, self._position, None)
        if found is not None:
            wrong = f"it says offset {found.header.base_offset} instead of {self._offset}"
        else:
            claimed = size_at(self._window(file, self._position, 64), 0)
            wrong = "its checksum is wrong or it is cut off" if claimed else "its header makes no sense"
        return f"the batch at byte {self._position} is damaged, {wrong}"

    def _batch(self, file: File, position: int, offset: int | None) -> FoundBatch | None:
        claimed = size_at(self._window(file, position, 64), 0)
        if not claimed or position + claimed > (self._size or 0):
            return None
        found = batch_at(self._window(file, position, claimed), 0, offset)
        if found is None or (self._end_offset is not None and found.header.last_offset >= self._end_offset):
            return None
        return FoundBatch(position, position + found.end, found.header)

    def _next_good(self, file: File, size: int) -> FoundBatch | None:
        """The first good batch behind the one that is not, with offsets that come later."""
        at = self._position + 1
        while at < size:
            window = self._window(file, at, _PIECE_BYTES)
            for place in candidates(window, 0, self._offset, self._end_offset):
                found = self._batch(file, at + place, None)
                if found is not None:
                    return found
            if at + len(window) >= size:
                return None
            at += len(window) - 64  # a header may stand across two pieces
        return None

    def _window(self, file: File, position: int, wanted: int) -> memoryview:
        """The bytes from a position on: as many as are wanted, or what there is."""
        wanted = min(wanted, (self._size or 0) - position)
        inside = position - self._piece_at
        if inside < 0 or inside + wanted > len(self._piece):
            want = min(max(wanted, _PIECE_BYTES), (self._size or 0) - position)
            self._piece = memoryview(file.pread(want, position))
            self._piece_at, inside = position, 0
            if self._pause is not None:
                self._pause(len(self._piece))
        return self._piece[inside : inside + wanted]


def damage_of(walk: SegmentWalk, path: Path) -> list[Damage]:
    """What is wrong with a segment."""
    return [Damage(one.first, one.end, path, one.reason) for one in walk if isinstance(one, Bad)]
