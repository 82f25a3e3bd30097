"""One file of batches and its two indexes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.batch_header import HEADER_BYTES, BatchHeader, read_header
from lakeward.records.batch.log_batch import BatchSpan, walk_batches
from lakeward.runtime.files.port import Files
from lakeward.storage.disk.open_files import OpenFile, OpenFiles
from lakeward.storage.log.segment.log_index import LogIndex

LOG, INDEX, TIME_INDEX, DELETED = ".log", ".index", ".timeindex", ".deleted"
#: Headers are read in pieces of this size; it holds many small batches or one header of a large one.
_LOOK_AHEAD_BYTES = 8192


def file_stem(offset: int) -> str:
    """How files are named by an offset."""
    return f"{offset:020d}"


class BrokenSegmentError(Exception):
    """The batches do not follow each other as they must: what is here is not what was written."""


class Segment:
    """The batches from `base_offset` up to the next segment. `size` is what has been written and may be read.

    Of a damaged file each stretch that is whole is a segment of its own, from the byte `begin` up to `size`.
    """

    __slots__ = (
        "_doubted",
        "_files",
        "_index",
        "_unindexed_bytes",
        "base_offset",
        "begin",
        "index_base",
        "index_interval_bytes",
        "is_part",
        "path",
        "size",
    )

    def __init__(
        self, directory: Path, base_offset: int, size: int, files: OpenFiles, index_interval_bytes: int
    ) -> None:
        self.base_offset = self.index_base = base_offset
        self.path = directory / (file_stem(base_offset) + LOG)
        self.begin = 0
        self.is_part = False
        self.size = size
        self._files = files
        self._index: LogIndex | None = None if size else LogIndex()
        self._doubted = False  # whether the index came from a file, which may be damaged or out of date
        self.index_interval_bytes = index_interval_bytes
        self._unindexed_bytes = 0

    def part(self, base_offset: int, begin: int, end: int) -> Segment:
        """A stretch of this file that is whole, as a segment that nothing is ever written to."""
        part = Segment(self.path.parent, base_offset, end, self._files, self.index_interval_bytes)
        part.path, part.begin, part.is_part = self.path, begin, True
        part.index_base, part._index, part._doubted = self.index_base, self._index, self._doubted
        return part

    @property
    def disk(self) -> Files:
        """Where the file is."""
        return self._files.disk

    # -- writing

    def create(self) -> Segment:
        """Make the file: its name is what remembers the end of an emptied log."""
        self._files.get(self.path, create=True)
        return self

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
        file = self._files.get(self.path)
        done = 0
        try:
            while done < len(data):
                done += file.pwrite(data[done:] if done else data, self.size + done)
        except OSError as wrong:
            if done:
                file.truncate(self.size)
            raise ErrorCode.LOG_STORAGE.error(f"The log {self.path} could not be written: {wrong.strerror}.") from wrong

    def add_to_index(self, index: LogIndex, size: int, position: int, base: int, last: int, time_ms: int) -> None:
        """Note a batch in the index when enough bytes lie behind the last entry."""
        if self._unindexed_bytes > self.index_interval_bytes:
            index.add(last - self.index_base, position, time_ms, base - self.index_base)
            self._unindexed_bytes = 0
        self._unindexed_bytes += size

    def cut(self, size: int, offset: int) -> None:
        """Drop everything from a position on; `offset` is the first offset that goes."""
        self.index.cut(size, offset - self.index_base)
        self._files.get(self.path).truncate(size)
        self.size = size

    # -- reading

    def read(self, start: int, end: int) -> memoryview:
        """The bytes between two positions; fewer when the file has been cut."""
        return self._file().read(start, end)

    def _file(self) -> OpenFile:
        try:
            return self._files.get(self.path)
        except LakewardError as wrong:
            if isinstance(wrong.__cause__, FileNotFoundError):
                raise BrokenSegmentError from wrong
            raise

    def headers(self, position: int) -> Iterator[tuple[int, BatchHeader]]:
        """Position and header of each batch from a batch start on; offsets must follow each other to the very end."""
        file = self._file()
        offset = self.base_offset if position == self.begin else None
        while position < self.size:
            piece = file.read(position, min(position + _LOOK_AHEAD_BYTES, self.size))
            start = position
            for span in walk_batches(piece):
                offset = self._follows(offset, span.header)
                yield start + span.start, span.header
                position = start + span.end
            if position == start:
                header = self._large_batch(piece)
                if header is None or position + header.size > self.size:
                    raise BrokenSegmentError
                offset = self._follows(offset, header)
                yield position, header
                position += header.size

    @staticmethod
    def _follows(offset: int | None, header: BatchHeader) -> int:
        if header.last_offset_delta < 0 or (offset is not None and header.base_offset != offset):
            raise BrokenSegmentError
        return header.last_offset + 1

    @staticmethod
    def _large_batch(piece: memoryview) -> BatchHeader | None:
        """The header of a batch that is larger than the piece it was found in."""
        if len(piece) < HEADER_BYTES[0]:
            return None
        length = int.from_bytes(piece[8:12], "little", signed=True)
        magic = piece[12]
        if magic >= len(HEADER_BYTES) or length + 12 < len(piece) or len(piece) < HEADER_BYTES[magic]:
            return None
        return read_header(piece)

    def position_of(self, offset: int) -> tuple[int, BatchHeader] | None:
        """The first batch that ends at or after an offset, or None when there is none."""
        for position, header in self.headers(self.position_before(offset)):
            if header.last_offset >= offset:
                return position, header
        return None

    def offset_of_time(self, time_ms: int) -> int | None:
        """The base offset of the first batch appended at or after a time."""
        start_ms, offset = self.index.time_before(time_ms)
        found = self.position_of(self.index_base + offset)
        if found is None or (self._doubted and start_ms not in {-1, found[1].commit_timestamp_ms}):
            self.rebuild_index()
            found = self.position_of(self.index_base + self.index.time_before(time_ms)[1])
        if found is None:
            return None
        for _, header in self.headers(found[0]):
            if header.commit_timestamp_ms >= time_ms:
                return header.base_offset
        return None

    def position_before(self, offset: int) -> int:
        """A batch start at or before an offset."""
        return self._position_or_start(self._position(self.index.position_before(offset - self.index_base)))

    def tail(self) -> tuple[int, int]:
        """The offset after the last batch, and its time. Quick: from the end of the index file on.

        Raises BrokenSegmentError when batches do not follow each other up to the end of the file.
        """
        try:
            found = self._last(self._last_index_position())
        except BrokenSegmentError:
            found = None
        if found is None or found.base_offset < self.base_offset:
            found = self._last(self.begin)  # perhaps it was the index that is damaged
        return (self.base_offset, -1) if found is None else (found.last_offset + 1, found.commit_timestamp_ms)

    def _last(self, position: int) -> BatchHeader | None:
        last = None
        for _, header in self.headers(position):
            last = header
        return last

    def _last_index_position(self) -> int:
        """Where the last batch stands that the index file knows; 0 when there is none."""
        try:
            file = self.disk.open(self.path.with_suffix(INDEX))
            position = int.from_bytes(file.pread(8, max(file.facts().size - 8, 0))[4:], "big")
            file.close()
        except OSError:
            return 0
        return position if position < self.size else 0

    def whole_batches_end(self, start: int, limit: int) -> int:
        """Where the last batch ends that lies whole between a batch start and a position; `start` if none does."""
        if limit >= self.size:
            return self.size
        end = start
        known = self._position_or_start(self._position(self.index.position_up_to(limit)))
        for position, header in self.headers(max(start, known)):
            if position + header.size > limit:
                return position
            end = position + header.size
        return end

    @property
    def time_ms_max(self) -> int:
        """When the last batch was appended, or -1; times never go back."""
        index = self.index
        if not self._doubted or self.is_part:
            return index.time_ms_max  # of a part: when the last batch of its file was appended, which is no earlier
        try:
            last = self._last(self._position_or_start(self._position(index.last_position)))
        except BrokenSegmentError:
            return index.time_ms_max  # whoever reads it will be told
        return -1 if last is None else last.commit_timestamp_ms

    # -- indexes

    def _position(self, indexed: int) -> int:
        """A position from the index; where it knows none of this stretch, the first."""
        return max(indexed, self.begin)

    def is_indexed(self, position: int, header: BatchHeader) -> bool:
        """Whether the index knows this batch."""
        return header.last_offset - self.index_base == self.index.offset_at(position)

    def _position_or_start(self, position: int) -> int:
        """A position from the index, or 0 when no batch stands there that ends where the index says."""
        if position == self.begin or not self._doubted:
            return position
        try:
            header = next((h for _, h in self.headers(position)), None)
        except BrokenSegmentError:
            header = None
        if header is not None and self.is_indexed(position, header):
            return position
        self.rebuild_index()
        return self.begin

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
            offset_data = self.disk.read_bytes(self.path.with_suffix(INDEX))
            time_data = self.disk.read_bytes(self.path.with_suffix(TIME_INDEX))
        except OSError:
            return None
        return LogIndex.of_files(offset_data, time_data, self.size)

    def rebuild_index(self) -> LogIndex:
        """Make the indexes again from the batches."""
        index = LogIndex()
        self._unindexed_bytes = 0
        last_time_ms, last_offset = -1, 0
        for position, header in self.headers(self.begin):
            self.add_to_index(
                index, header.size, position, header.base_offset, header.last_offset, header.commit_timestamp_ms
            )
            last_time_ms, last_offset = header.commit_timestamp_ms, header.base_offset - self.index_base
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
        if self.is_part:
            return []
        return [
            (self.path.with_suffix(INDEX), self.index.offset_bytes()),
            (self.path.with_suffix(TIME_INDEX), self.index.time_bytes()),
        ]

    def replace_by(self, path: Path) -> None:
        """Take another file with the same offsets instead; readers under way keep the old one."""
        self._files.forget(self.path)
        self.disk.rename(path, self.path)
        for suffix in (INDEX, TIME_INDEX):
            self.disk.unlink(self.path.with_suffix(suffix))
        self.size = self.disk.facts(self.path).size
        self._index = None

    # -- leaving

    def put_away(self) -> list[Path]:
        """Rename the files so that they no longer belong to the log; returns what is to be deleted later."""
        self._files.forget(self.path)
        away = []
        for path in (self.path, self.path.with_suffix(INDEX), self.path.with_suffix(TIME_INDEX)):
            if self.disk.exists(path):
                target = path.with_name(path.name + DELETED)
                self.disk.rename(path, target)
                away.append(target)
        return away
