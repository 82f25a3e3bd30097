"""HeldSegment: a closed segment that stays as it is while it is copied elsewhere.

Compaction may put another file in its place, and retention may delete it; its bytes are held by a link of another
name. Whatever a crash leaves of such links is removed when the log is opened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lakeward.records.batch.column_sums import SumsBuilder
from lakeward.runtime.files.port import Files, sync_data
from lakeward.storage.disk.open_files import storage_error
from lakeward.storage.log.checkpoint import checkpoint_file, read_writers
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.log_index import LogIndex
from lakeward.storage.log.segment.segment import Segment
from lakeward.storage.log.segment.segment_walk import Bad, Good, SegmentWalk
from lakeward.storage.log.writer_state import WriterStates, WrittenBatch


@dataclass(frozen=True, slots=True)
class HeldSegment:
    """What has to be copied of a segment. Its methods may run on any thread."""

    disk: Files
    base_offset: int
    end_offset: int
    time_ms_max: int
    size_bytes: int
    path: Path
    #: What is known without reading the file again.
    index: LogIndex | None
    index_interval_bytes: int
    directory: Path
    #: The file that is held, and what its log is called; for messages.
    source: Path
    name: str

    def sync(self) -> None:
        """Wait until it is on this machine's disk: what is elsewhere must not be more than what is here."""
        sync_data(self.disk, self.path)

    def index_files(self) -> tuple[bytes, bytes]:
        """Both indexes as they stand in files; made from the batches unless they are known to be right."""
        index = self._made_index() if self.index is None else self.index
        return index.offset_bytes(), index.time_bytes()

    def writers(self) -> bytes | None:
        """What the writers had done at the segment's end, or None when nothing tells."""
        with contextlib.suppress(OSError):
            return self.disk.read_bytes(checkpoint_file(self.directory, self.end_offset))
        states = WriterStates()
        if self.base_offset:
            before = read_writers(self.disk, checkpoint_file(self.directory, self.base_offset))
            if before is None:
                return None
            states = before
        for span in self._batches():
            header = span.header
            if header.writer_id >= 0 and header.batch_sequence >= 0:
                batch = WrittenBatch(
                    header.batch_sequence, header.base_offset, header.last_offset, header.commit_timestamp_ms
                )
                states.record(header.writer_id, batch)
        return states.to_json()

    def _made_index(self) -> LogIndex:
        index = LogIndex()
        unindexed_bytes = 0
        time_ms, offset = -1, 0
        for span in self._batches():
            header = span.header
            base = header.base_offset - self.base_offset
            if unindexed_bytes > self.index_interval_bytes:
                index.add(header.last_offset - self.base_offset, span.position, header.commit_timestamp_ms, base)
                unindexed_bytes = 0
            unindexed_bytes += header.size
            time_ms, offset = header.commit_timestamp_ms, base
        if time_ms >= 0:
            index.add_time(time_ms, offset)
        return index

    def _walk(self) -> SegmentWalk:
        return SegmentWalk(self.disk, self.path, self.base_offset, self.end_offset, size=self.size_bytes)

    def _batches(self, walk: SegmentWalk | None = None) -> Iterator[Good]:
        """Every batch, checked: what is not as it was written must not be copied as if it were."""
        for one in walk or self._walk():
            if isinstance(one, Bad):
                raise Damage(one.first, one.end, self.source, one.reason).error(self.name)
            yield one

    def checked_columns(self) -> bytes | None:
        """The sums of its columns, None where it is to have none; CorruptError unless all is as it was written."""
        walk = self._walk()
        builder = SumsBuilder(self.size_bytes)
        for one in self._batches(walk):
            builder.add(one.position, walk.data_of(one), one.header)
        return builder.to_bytes()

    def release(self) -> None:
        """Let the file go."""
        self.disk.unlink(self.path)


def hold(directory: Path, segment: Segment, end_offset: int, time_ms_max: int, name: str, log_name: str) -> HeldSegment:
    """Hold a closed segment under a name that tells it apart from others."""
    path = segment.path.with_name(f"{segment.path.name}.{name}.tmp")
    try:
        segment.disk.link(segment.path, path)
    except OSError as wrong:
        raise storage_error(segment.path, wrong) from wrong
    return HeldSegment(
        segment.disk,
        segment.base_offset,
        end_offset,
        time_ms_max,
        segment.size,
        path,
        segment.sound_index,
        segment.index_interval_bytes,
        directory,
        segment.path,
        log_name,
    )
