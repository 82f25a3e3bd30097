"""The log of one bucket as readers see it: whole batches by offset or time, and errors where they are damaged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lakeward.errors import CorruptError, ErrorCode
from lakeward.records.batch.batch_header import HEADER_BYTES, BatchHeader, read_header
from lakeward.records.batch.log_batch import walk_batches
from lakeward.runtime.files.port import Files
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.isolation import isolate
from lakeward.storage.log.recovery import RecoveredLog
from lakeward.storage.log.segment.batch_check import good_prefix, size_at
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import BrokenSegmentError, Segment


class LogRead(NamedTuple):
    """Whole batches, the first of which holds the offset that was asked for or ends after it."""

    data: memoryview
    first_offset: int
    reaches_end: bool
    #: The offset after the last batch.
    end_offset: int
    #: The same, if that one has no rows: some clients do not go on by themselves.
    empty_until: int | None = None


class ClosedSegment(NamedTuple):
    """A segment that nothing is written to any more."""

    base_offset: int
    end_offset: int
    path: Path
    size: int
    time_ms_max: int


_NOTHING = memoryview(b"")
#: Readers of a log that go on where they ended without looking for the place.
_PLACES_MAX = 8


class _Place(NamedTuple):
    """Where a batch begins, if everything is as it was."""

    segment: Segment
    position: int


class ReadableLog(ABC):
    """Segments in order. Every batch is checked when it is read; what is not good is set apart as damage."""

    def __init__(self, found: RecoveredLog, files: OpenFiles, name: str, on_damage: Callable[[Damage], None]) -> None:
        """`on_damage` is told of damage that is found later."""
        self.name = name
        self.start_offset = found.start_offset
        self.end_offset = found.end_offset
        self.time_ms_max = found.time_ms_max
        #: What cannot be read.
        self.damages = found.damages
        self._on_damage = on_damage
        self._files = files
        self._segments = found.segments
        self._bases = [s.base_offset for s in self._segments]
        self._places: dict[int, _Place] = {}

    @property
    def disk(self) -> Files:
        """Where its files are."""
        return self._files.disk

    @property
    def size(self) -> int:
        """Bytes of all segments."""
        return sum(s.size - s.begin for s in self._segments)

    def bytes_from(self, offset: int) -> int:
        """Bytes of the segments that begin at or after an offset."""
        return sum(s.size for s in self._segments if s.base_offset >= offset)

    @property
    def segment_count(self) -> int:
        """How many files of batches there are."""
        return len(self._segments)

    # -- read

    def read(self, offset: int, bytes_max: int, *, at_least_one: bool, until: int | None = None) -> LogRead:
        """Whole batches from the one that holds an offset on, out of one segment.

        `at_least_one` lets the first batch be larger than `bytes_max`. At the end of the log nothing is read. With
        `until`, a batch's first offset, the log seems to end there.
        """
        if until is not None and until < self.end_offset and self.start_offset <= offset <= self.end_offset:
            return self._read_until(offset, bytes_max, until, at_least_one=at_least_one)
        if offset < self.start_offset or offset > self.end_offset:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"Offset {offset} is outside the log, which goes from {self.start_offset} to {self.end_offset}."
            )
        if offset == self.end_offset:
            return LogRead(_NOTHING, offset, reaches_end=True, end_offset=offset)
        self._refuse_damage(offset)
        segment = self._segments[bisect_right(self._bases, offset) - 1]
        if (read := self._read_on(segment, offset, bytes_max)) is not None:
            return read
        try:
            position, header = self._locate(segment, offset)
            end = segment.whole_batches_end(position, position + bytes_max)
            if end == position:
                if not at_least_one:
                    return LogRead(_NOTHING, offset, reaches_end=False, end_offset=offset)
                end = position + header.size
            data = segment.read(position, end)
            size, behind, last_at = good_prefix(data, header.base_offset)
        except BrokenSegmentError:
            size, behind, last_at, end, position, data = 0, offset, 0, 1, 0, _NOTHING
        if size < end - position:
            self.isolate(segment.base_offset, max(offset, behind))
            if behind <= offset:
                self._refuse_damage(offset)
                return self.read(offset, bytes_max, at_least_one=at_least_one)
            data = data[:size]
        if not read_header(data, last_at).given_up:
            if size <= bytes_max:
                self._note_place(behind, segment, position + size)
            return LogRead(data, header.base_offset, behind == self.end_offset, behind)
        return self._with_rows(LogRead(data, header.base_offset, behind == self.end_offset, behind, behind), bytes_max)

    def _read_on(self, segment: Segment, offset: int, bytes_max: int) -> LogRead | None:
        """The same from where somebody's last read ended, without looking for it; None where that does not do."""
        place = self._places.get(offset)
        if place is None or place.segment is not segment or place.position >= segment.size or bytes_max <= 0:
            return None
        try:
            data = segment.read(place.position, min(place.position + bytes_max, segment.size))
        except BrokenSegmentError:
            return None
        size, behind, last_at = good_prefix(data, offset)
        if not size or not self._is_cut_off(segment, place.position, data, size):
            return None
        if read_header(data, last_at).given_up:
            return None
        self._note_place(behind, segment, place.position + size)
        return LogRead(data[:size], offset, behind == self.end_offset, behind)

    @staticmethod
    def _is_cut_off(segment: Segment, position: int, data: memoryview, size: int) -> bool:
        """Whether what follows the good batches was only not asked for; otherwise it is damaged."""
        if position + len(data) >= segment.size:
            return size == len(data) and position + size == segment.size
        rest = len(data) - size
        return rest < HEADER_BYTES[0] or size_at(data, size) > rest

    def _note_place(self, offset: int, segment: Segment, position: int) -> None:
        if len(self._places) >= _PLACES_MAX:
            del self._places[next(iter(self._places))]
        self._places[offset] = _Place(segment, position)

    def _read_until(self, offset: int, bytes_max: int, until: int, *, at_least_one: bool) -> LogRead:
        if offset >= until:
            return LogRead(_NOTHING, offset, reaches_end=True, end_offset=offset)
        read = self.read(offset, bytes_max, at_least_one=at_least_one)
        if read.end_offset <= until:
            return read._replace(reaches_end=read.end_offset == until)
        size, behind = 0, offset
        for span in walk_batches(read.data):
            if span.header.last_offset >= until:
                break
            size, behind = span.end, span.header.last_offset + 1
        return LogRead(read.data[:size], read.first_offset, reaches_end=True, end_offset=behind)

    def _with_rows(self, read: LogRead, bytes_max: int) -> LogRead:
        """The same with what comes next: an answer that ends in what was given up makes pyfluss' batch scanner wait."""
        if read.reaches_end or self.damages.at(read.empty_until or 0) is not None:
            return read
        try:
            more = self.read(read.empty_until or 0, bytes_max, at_least_one=True)
        except CorruptError:
            return read
        return more._replace(data=memoryview(b"".join((read.data, more.data))), first_offset=read.first_offset)

    @staticmethod
    def _locate(segment: Segment, offset: int) -> tuple[int, BatchHeader]:
        found = segment.position_of(offset)
        if found is None or found[1].base_offset > offset:
            raise BrokenSegmentError
        return found

    # -- damage

    def _refuse_damage(self, offset: int) -> None:
        damage = self.damages.at(offset)
        if damage is not None:
            raise damage.error(self.name)

    def isolate(self, base_offset: int, offset: int) -> None:
        """Find out what is wrong with a segment from an offset on, and serve what is whole of it from now on."""
        number = bisect_right(self._bases, base_offset) - 1
        segment = self._segments[number]
        is_active = number == len(self._segments) - 1
        found = isolate(segment, self._end_of(number), offset)
        if found is None:
            raise ErrorCode.LOG_STORAGE.error(f"Offset {offset} of {segment.path} could not be read; try again.")
        self._files.forget(segment.path)
        self._segments[number : number + 1] = found.parts
        self._bases = [one.base_offset for one in self._segments]
        if self.damages.add(found.damage):
            self._on_damage(found.damage)
        if is_active:
            self._add_segment()

    @abstractmethod
    def _add_segment(self) -> Segment:
        """Begin a new segment at the end of the log."""

    def _end_of(self, number: int) -> int:
        """The offset after the last one of a segment."""
        end = self._bases[number + 1] if number + 1 < len(self._bases) else self.end_offset
        damage = self.damages.next_from(self._bases[number])
        return end if damage is None else min(end, damage.first)

    @staticmethod
    def offset_behind(read: LogRead) -> int:
        """The offset at which the next read goes on; walks the headers of what was read."""
        offset = read.first_offset
        for span in walk_batches(read.data):
            offset = span.header.last_offset + 1
        return offset

    def time_ms_at(self, offset: int) -> int:
        """When the batch was appended that holds an offset; where that is damaged, the time of the last batch."""
        try:
            read = self.read(offset, 0, at_least_one=True)
        except CorruptError:
            return self.time_ms_max
        return next((span.header.commit_timestamp_ms for span in walk_batches(read.data)), self.time_ms_max)

    def offset_of_time(self, time_ms: int) -> int:
        """The offset of the first batch appended at or after a time; the end of the log if there is none."""
        if time_ms > self.time_ms_max:
            return self._meeting_damage(self.end_offset)
        first = next((n + 1 for n in reversed(range(len(self._segments))) if self._ends_before(n, time_ms)), 0)
        for number, segment in enumerate(self._segments[first:], first):
            is_last = number == len(self._segments) - 1
            if is_last or segment.time_ms_max >= time_ms:
                try:
                    found = segment.offset_of_time(time_ms)
                except BrokenSegmentError:
                    self.isolate(segment.base_offset, segment.base_offset)
                    return self.offset_of_time(time_ms)
                if found is not None:
                    return self._meeting_damage(found)
        return self._meeting_damage(self.end_offset)

    def _ends_before(self, number: int, time_ms: int) -> bool:
        """Whether a closed segment is over before a time. Looked for from the newest: a clock may have been ahead."""
        if number == len(self._segments) - 1:
            return False
        closed_ms = self._segments[number].time_ms_max
        if closed_ms <= self.time_ms_max:
            return closed_ms < time_ms
        try:  # stamped ahead of what came later: the one behind it tells
            following = next((header for _, header in self._segments[number + 1].headers(0)), None)
        except BrokenSegmentError:
            return False
        return following is not None and following.commit_timestamp_ms < time_ms

    def _meeting_damage(self, offset: int) -> int:
        """An offset to read from, or the start of damage right before it: nobody knows when its rows came."""
        damage = self.damages.before(offset)
        return offset if damage is None else damage.first

    # -- closed segments

    def closed_segments(self) -> list[ClosedSegment]:
        """The segments that nothing is written to any more, oldest first; of a damaged log none is offered."""
        return [] if self.damages else list(self.closed_behind(-1))

    def closed_files(self) -> list[ClosedSegment]:
        """Closed segments that are not known to be damaged, for whoever looks whether they are."""
        ends = enumerate(zip(self._segments[:-1], self._bases[1:], strict=False))
        return [
            ClosedSegment(one.base_offset, end, one.path, one.size, -1)
            for number, (one, end) in ends
            if not one.is_part and self._end_of(number) == end
        ]

    def closed_behind(self, offset: int) -> Iterator[ClosedSegment]:
        """Those that end after an offset; each is looked at when it is its turn. Damage that is met is an error."""
        for segment, end in zip(self._segments, self._bases[1:], strict=False):
            if end > offset:
                damage = self.damages.next_from(max(offset, self.start_offset))
                if damage is not None and (damage.first < end or segment.is_part):
                    raise damage.error(self.name)
                yield ClosedSegment(segment.base_offset, end, segment.path, segment.size, segment.time_ms_max)
