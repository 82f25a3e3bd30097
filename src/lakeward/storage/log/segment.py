"""One file of batches and its two indexes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.records.batch_header import HEADER_BYTES, BatchHeader, read_header
from lakeward.records.log_batch import BatchSpan, walk_batches
from lakeward.storage.log.log_index import LogIndex
from lakeward.storage.open_files import OpenFiles

LOG, INDEX, TIME_INDEX, DELETED = ".log", ".index", ".timeindex", ".deleted"
#: Headers are read in pieces of this size; it holds many small batches or one header of a large one.
_LOOK_AHEAD_BYTES = 8192


def file_stem(offset: int) -> str:
    """How files are named by an offset."""
    return f"{offset:020d}"


class Segment:
    """The batches from `base_offset` up to the next segment. `size` is what has been written and may be read."""

    __slots__ = (
        "_doubted",
        "_files",
        "_index",
        "_unindexed_bytes",
        "base_offset",
        "index_interval_bytes",
        "path",
        "size",
    )

    def __init__(
        self, directory: Path, base_offset: int, size: int, files: OpenFiles, index_interval_bytes: int
    ) -> None:
        self.base_offset = base_offset
        self.path = directory / (file_stem(base_offset) + LOG)
        self.size = size
        self._files = files
        self._index: LogIndex | None = None if size else LogIndex()
        self._doubted = False  # whether the index came from a file, which may be damaged or out of date
        self.index_interval_bytes = index_interval_bytes
        self._unindexed_bytes = 0

    # -- writing

    def append(self, data: memoryview, spans: list[BatchSpan], base_offset: int, time_ms: int) -> None:
        """Write stamped batches. Either all of them are there afterwards, or none."""
        self._write(data)
        index = self.index
        position, offset = self.size, base_offset
        for span in spans:
            last = offset + span.header.last_offset_delta
            self.add_to_index(index, span.end - span.start, position, offset, last, time_ms)
            position += span.end - span.start
            offset = last + 1
        self.size = position

    def _write(self, data: memoryview) -> None:
        descriptor = self._files.get(self.path).descriptor
        done = 0
        try:
            while done < len(data):
                done += os.pwrite(descriptor, data[done:] if done else data, self.size + done)
        except OSError as wrong:
            if done:
                os.ftruncate(descriptor, self.size)
            raise ErrorCode.LOG_STORAGE.error(f"The log {self.path} could not be written: {wrong.strerror}.") from wrong

    def add_to_index(self, index: LogIndex, size: int, position: int, base: int, last: int, time_ms: int) -> None:
        """Note a batch in the index when enough bytes lie behind the last entry."""
        if self._unindexed_bytes > self.index_interval_bytes:
            index.add(last - self.base_offset, position, time_ms, base - self.base_offset)
            self._unindexed_bytes = 0
        self._unindexed_bytes += size

    def cut(self, size: int, offset: int) -> None:
        """Drop everything from a position on; `offset` is the first offset that goes."""
        self.index.cut(size, offset - self.base_offset)
        os.ftruncate(self._files.get(self.path).descriptor, size)
        self._files.forget(self.path)  # an old map would reach behind the end
        self.size = size

    # -- reading

    def read(self, start: int, end: int) -> memoryview:
        """The bytes between two positions."""
        return self._files.get(self.path).read(start, end)

    def headers(self, position: int) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each batch from a batch start on."""
        file = self._files.get(self.path)
        while self.size - position >= HEADER_BYTES[0]:
            piece = file.read(position, min(position + _LOOK_AHEAD_BYTES, self.size))
            start = position
            for span in walk_batches(piece):
                yield start + span.start, span.header
                position = start + span.end
            if position == start:
                header = self._large_batch(piece)
                if header is None or position + header.size > self.size:
                    return
                yield position, header
                position += header.size

    @staticmethod
    def _large_batch(piece: memoryview) -> BatchHeader | None:
        """The header of a batch that is larger than the piece it was found in."""
        length = int.from_bytes(piece[8:12], "little", signed=True)
        magic = piece[12]
        if magic >= len(HEADER_BYTES) or length + 12 < len(piece) or len(piece) < HEADER_BYTES[magic]:
            return None
        return read_header(piece)

    def position_of(self, offset: int) -> tuple[int, BatchHeader] | None:
        """The first batch that ends at or behind an offset, or None when there is none."""
        start = self._trusted(self.index.position_before(offset - self.base_offset))
        for position, header in self.headers(start):
            if header.last_offset >= offset:
                return position, header
        return None

    def offset_of_time(self, time_ms: int) -> int | None:
        """The base offset of the first batch appended at or after a time."""
        start_ms, offset = self.index.time_before(time_ms)
        found = self.position_of(self.base_offset + offset)
        if found is None or (self._doubted and start_ms not in {-1, found[1].commit_timestamp_ms}):
            self.rebuild_index()
            found = self.position_of(self.base_offset + self.index.time_before(time_ms)[1])
        if found is None:
            return None
        for _, header in self.headers(found[0]):
            if header.commit_timestamp_ms >= time_ms:
                return header.base_offset
        return None

    def whole_batches_end(self, start: int, limit: int) -> int:
        """Where the last batch ends that lies whole between a batch start and a position; `start` if none does."""
        if limit >= self.size:
            return self.size
        end = start
        for position, header in self.headers(max(start, self._trusted(self.index.position_up_to(limit)))):
            if position + header.size > limit:
                return position
            end = position + header.size
        return end

    @property
    def time_ms_max(self) -> int:
        """When the last batch was appended, or -1; times never go back."""
        index = self.index
        if not self._doubted:
            return index.time_ms_max
        times = [header.commit_timestamp_ms for _, header in self.headers(self._trusted(index.last_position))]
        return times[-1] if times else -1

    # -- indexes

    def _trusted(self, position: int) -> int:
        """A position from the index, or 0 when no batch stands there that ends where the index says."""
        if position == 0 or not self._doubted:
            return position
        header = next((h for _, h in self.headers(position)), None)
        if header is not None and header.last_offset - self.base_offset == self.index.offset_at(position):
            return position
        self.rebuild_index()
        return 0

    @property
    def index(self) -> LogIndex:
        """The indexes, loaded when first needed and rebuilt when they are damaged."""
        if self._index is None:
            self._index = self._load_index()
            self._doubted = True
        if self._index is None:
            return self.rebuild_index()
        return self._index

    @property
    def sound_index(self) -> LogIndex | None:
        """The indexes, if they were made from the batches themselves; of a closed segment they never change."""
        return None if self._doubted else self._index

    def _load_index(self) -> LogIndex | None:
        try:
            offset_data = self.path.with_suffix(INDEX).read_bytes()
            time_data = self.path.with_suffix(TIME_INDEX).read_bytes()
        except OSError:
            return None
        return LogIndex.of_files(offset_data, time_data, self.size)

    def rebuild_index(self) -> LogIndex:
        """Make the indexes anew from the batches."""
        index = LogIndex()
        self._unindexed_bytes = 0
        last_time_ms, last_offset = -1, 0
        for position, header in self.headers(0):
            self.add_to_index(
                index, header.size, position, header.base_offset, header.last_offset, header.commit_timestamp_ms
            )
            last_time_ms, last_offset = header.commit_timestamp_ms, header.base_offset - self.base_offset
        if last_time_ms >= 0:
            index.add_time(last_time_ms, last_offset)
        self._index = index
        self._doubted = False
        return index

    def forget_index(self) -> None:
        """Start with empty indexes, because every batch is about to be walked and noted again."""
        self._index = LogIndex()
        self._doubted = False
        self._unindexed_bytes = 0

    def index_files(self) -> list[tuple[Path, bytes]]:
        """What the index files have to hold now."""
        return [
            (self.path.with_suffix(INDEX), self.index.offset_bytes()),
            (self.path.with_suffix(TIME_INDEX), self.index.time_bytes()),
        ]

    def replace_by(self, path: Path) -> None:
        """Take another file with the same offsets instead; readers under way keep the old one."""
        self._files.forget(self.path)
        path.replace(self.path)
        for suffix in (INDEX, TIME_INDEX):
            self.path.with_suffix(suffix).unlink(missing_ok=True)
        self.size = self.path.stat().st_size
        self.rebuild_index()

    # -- leaving

    def put_away(self) -> list[Path]:
        """Rename the files so that they no longer belong to the log; returns what is to be deleted later."""
        self._files.forget(self.path)
        away = []
        for path in (self.path, self.path.with_suffix(INDEX), self.path.with_suffix(TIME_INDEX)):
            if path.exists():
                target = path.with_name(path.name + DELETED)
                path.rename(target)
                away.append(target)
        return away
