"""ReplicaLog: a log that may be the copy of another: its batches come stamped, and its end may be taken back."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.records.batch.log_batch import BatchSpan, walk_batches
from lakeward.storage.log.checkpoint import Checkpoints, read_writers, stored_checkpoints
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.segment.batch_check import good_prefix
from lakeward.storage.log.writer_state import WriterStates, WrittenBatch


class ReplicaLog(LogTablet):
    """The log of a bucket that has replicas on several servers."""

    def append_copy(self, data: memoryview) -> int:
        """Append batches as another server has them; returns the offset behind them. CORRUPT_RECORD if they do not
        follow our end without a gap, each as it was written."""
        size, behind, _ = good_prefix(data, self.end_offset)
        if size != len(data):
            raise ErrorCode.CORRUPT_RECORD.error(
                f"What the leader sent for {self.name} from offset {self.end_offset} on is damaged or has a gap at "
                f"offset {behind}."
            )
        spans = list(walk_batches(data))
        if not spans:
            return self.end_offset
        time_ms = spans[-1].header.commit_timestamp_ms
        segment = self._segment_for(len(data), behind - 1, time_ms)
        before = segment.size
        segment.append(data, spans, self.end_offset, time_ms)
        if not self._is_noted:
            self._note_rows(segment, before, self.end_offset, behind)
        self._unsynced_messages += behind - self.end_offset
        self.end_offset = behind
        self.time_ms_max = time_ms
        for span in spans:
            self._remember(span)
        return behind

    def _remember(self, span: BatchSpan) -> None:
        header = span.header
        if header.writer_id >= 0 and header.batch_sequence >= 0:
            times = header.base_offset, header.last_offset, header.commit_timestamp_ms
            self.writers.record(header.writer_id, WrittenBatch(header.batch_sequence, *times))

    def truncate(self, offset: int, now_ms: int) -> None:
        """Take back everything from an offset on, where a batch begins. No checkpoint may be under way.

        First the notes that vouch for what goes, then the files: whenever this is interrupted, what is left opens as a
        log without damage.
        """
        if offset >= self.end_offset:
            return
        self._refuse_split(offset)
        self._noted.note_cut(offset)
        self._checkpoints.give_up()
        stored = stored_checkpoints(self.disk, self.directory)
        for known, path in stored:
            if known > offset:
                self.disk.unlink(path)
        number = bisect_right(self._bases, offset) - 1
        for segment in reversed(self._segments[number + 1 :]):
            self._put_away += [(now_ms, path) for path in segment.put_away()]
        del self._segments[number + 1 :], self._bases[number + 1 :]
        self._cut_last(offset)
        self.end_offset = offset
        newest = next(((at, path) for at, path in stored if at <= offset), None)
        self._writers_of(newest, offset)
        self._checkpoints = Checkpoints(-1 if newest is None else newest[0])
        self._is_noted = self._is_named = False
        self._delete_due(now_ms)

    def _refuse_split(self, offset: int) -> None:
        read = self.read(offset, 0, at_least_one=True)
        if read.first_offset != offset:
            raise ErrorCode.LOG_STORAGE.error(f"{self.name} cannot be cut at offset {offset}: no batch begins there.")

    def _cut_last(self, offset: int) -> None:
        segment = self._segments[-1]
        found = segment.position_of(offset)
        if found is not None:
            segment.cut(found[0], offset)
        self.time_ms_max = max(segment.time_ms_max, -1)
        if len(self._segments) > 1:
            self.time_ms_max = max(self.time_ms_max, self._segments[-2].time_ms_max)

    def _writers_of(self, newest: tuple[int, Path] | None, offset: int) -> None:
        """What the writers had done at an offset: as the last checkpoint has it, and what came since."""
        found = None if newest is None else read_writers(self.disk, newest[1])
        at, writers = self.start_offset, WriterStates()
        if newest is not None and found is not None:
            at, writers = max(newest[0], at), found
        self.writers = writers
        while at < offset:
            read = self.read(at, 1 << 20, at_least_one=True)
            for span in walk_batches(read.data):
                self._remember(span)
            at = read.end_offset
