"""The log of one bucket: append, read, find, retain."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.records.batch.log_batch import BatchSpan, stamp
from lakeward.runtime.files.port import Files, sync_data
from lakeward.storage.disk.directories import data_directory_of
from lakeward.storage.disk.open_files import OpenFiles, storage_error
from lakeward.storage.log.checkpoint import Checkpoint, Checkpoints, checkpoint_file, read_writers
from lakeward.storage.log.held_segment import HeldSegment, hold
from lakeward.storage.log.log_facts import SEGMENT_OFFSETS_MAX, FactsFile, LogFacts
from lakeward.storage.log.readable_log import ClosedSegment, LogRead, ReadableLog
from lakeward.storage.log.recovery import recover_log
from lakeward.storage.log.retention import SegmentFacts, copied_prefix, expired_prefix
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import BrokenSegmentError, Segment
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import Verdict, WriterStates, WrittenBatch, next_sequence

Later = Callable[[Callable[[], None]], object]
#: How far the last row may be stamped ahead of the clock; further ahead, the clock has been wrong.
_AHEAD_MS_MAX = 3_600_000
_log = logging.getLogger(__name__)
__all__ = ["ClosedSegment", "Later", "LogRead", "LogTablet"]


class LogTablet(ReadableLog):
    """Batches in the order they were accepted. Readers may read up to `end_offset`."""

    def __init__(
        self,
        directory: Path,
        settings: LogSettings,
        files: OpenFiles,
        later: Later,
        *,
        name: str = "TABLE BUCKET",
        known_end: int = 0,
        on_damage: Callable[[Damage], None] = lambda _: None,
    ) -> None:
        """`name` is what messages call it; `known_end` is how far it reached, if that is known; `on_damage` is told of
        what is found to be damaged while it is open."""
        self.directory = directory
        self.settings = settings
        self._later = later
        found = recover_log(directory, settings, files, known_end)
        super().__init__(found, files, name, on_damage)
        self.writers: WriterStates = found.writers
        self.repairs = found.repairs
        self._noted = FactsFile(files.disk, directory, found.facts or LogFacts(self.start_offset, self.end_offset))
        self._is_noted = False
        self._is_named = False  # whether the name of the active segment has been synced for a flush
        self.given_up = self._noted.now.given_up
        self._segment_first_ms = self._first_time_ms()
        self._checkpoints = Checkpoints(found.checkpoint_offset)
        self._unsynced_messages = 0
        self._put_away: list[tuple[int, Path]] = []
        #: Up to where the log has been copied elsewhere; None when it is not copied at all.
        self.copied_offset: int | None = None
        if found.facts is None and self._segments:
            self._later(self._noted.write_anew)

    def obey(self, settings: LogSettings) -> None:
        """Go by other numbers from now on."""
        self.settings = settings

    def note_copy(self, end_offset: int) -> None:
        """The log is copied elsewhere, so far up to an offset."""
        self.copied_offset = end_offset

    @property
    def active_offset(self) -> int:
        """Where the segment begins that is written to; below it everything is in closed ones."""
        return self._bases[-1] if self._bases else self.end_offset

    @property
    def active_since_ms(self) -> int | None:
        """When the first batch of the segment that is written to was appended; None when it is empty."""
        return self._segment_first_ms if self._segments and self._segments[-1].size else None

    @property
    def is_dirty(self) -> bool:
        """Whether something was appended since the last checkpoint that did not fail."""
        return self._checkpoints.asked_offset != self.end_offset

    def is_on_disk(self, offset: int) -> bool:
        """Whether everything below an offset has been synced; may be asked on the thread that does so."""
        return offset <= self.start_offset or self._checkpoints.durable_offset >= offset

    # -- append

    def judge(self, spans: list[BatchSpan]) -> tuple[Verdict, WrittenBatch | None]:
        """What idempotence says to an append: the first batch of each writer decides, the rest must follow it."""
        wanted: dict[int, int] = {}
        for span in spans:
            writer_id, sequence = span.header.writer_id, span.header.batch_sequence
            if writer_id < 0 or sequence < 0:
                continue
            if writer_id not in wanted:
                verdict, before = self.writers.judge(writer_id, sequence)
                if verdict is not Verdict.NEXT:
                    return (Verdict.OUT_OF_ORDER, None) if wanted else (verdict, before)
            elif sequence != wanted[writer_id]:
                return Verdict.OUT_OF_ORDER, None
            wanted[writer_id] = next_sequence(sequence)
        return Verdict.NEXT, None

    def append(self, data: memoryview, spans: list[BatchSpan], now_ms: int) -> int:
        """Write batches that were checked and judged; returns the offset of their first record."""
        base = self.end_offset
        if len(self.writers) >= self.settings.writers_max:
            self._make_room(spans, now_ms)
        if self.time_ms_max - now_ms > _AHEAD_MS_MAX:
            self._go_back_in_time(now_ms)
        time_ms = max(now_ms, self.time_ms_max)
        if self._is_beginning(spans):
            return self._begin_behind(spans[0], time_ms)
        offset = base
        for span in spans:
            stamp(data, span.start, offset, time_ms)
            offset += span.header.last_offset_delta + 1
        segment = self._segment_for(len(data), offset - 1, now_ms)
        size = segment.size
        segment.append(data, spans, base, time_ms)
        if not self._is_noted:
            self._note_rows(segment, size, base, offset)
        self.end_offset = offset
        self.time_ms_max = time_ms
        start = base
        for span in spans:
            header = span.header
            last = start + header.last_offset_delta
            if header.writer_id >= 0 and header.batch_sequence >= 0:
                self.writers.record(header.writer_id, WrittenBatch(header.batch_sequence, start, last, time_ms))
            start = last + 1
        self._unsynced_messages += offset - base
        return base

    def _is_beginning(self, spans: list[BatchSpan]) -> bool:
        """Whether an empty log is told where it begins: the copy of one whose first rows are gone."""
        header = spans[0].header
        is_empty = self.start_offset == self.end_offset == 0
        return is_empty and len(spans) == 1 and not header.record_count and header.last_offset_delta > 0

    def _begin_behind(self, gap: BatchSpan, time_ms: int) -> int:
        """Begin behind offsets that never had rows here; whoever sent them goes on with its next batch."""
        end = gap.header.last_offset_delta + 1
        self.begin_at(end, time_ms)
        if gap.header.writer_id >= 0 and gap.header.batch_sequence >= 0:
            self.writers.record(gap.header.writer_id, WrittenBatch(gap.header.batch_sequence, 0, end - 1, time_ms))
        return 0

    def due_sync(self) -> Callable[[], None] | None:
        """What syncs all that was appended, when so many rows have come that it is due; to be run on any thread.

        Segments that were closed meanwhile are synced by their checkpoints, which have been asked for before.
        """
        if self._unsynced_messages < self.settings.flush_interval_messages or not self._segments:
            return None
        self._unsynced_messages = 0
        directories = () if self._is_named else (self.directory, *self._new_parents())
        self._is_named = True
        return partial(_sync, self.disk, self._segments[-1].path, directories)

    def _new_parents(self) -> tuple[Path, ...]:
        """The directories above a log that no checkpoint has vouched for: they may have been made with it."""
        if self._checkpoints.durable_offset >= 0:
            return ()
        above, root = self.directory.parents, data_directory_of(self.directory)
        return tuple(above[: above.index(root) + 1])

    def _make_room(self, spans: list[BatchSpan], now_ms: int) -> None:
        """Forget writers of long ago for new ones, so that nobody fills the memory by inventing writers."""
        most, silent_ms = self.settings.writers_max, now_ms - self.settings.writer_silence_ms
        if not self.writers.make_room((span.header.writer_id for span in spans), most, silent_ms):
            raise ErrorCode.STORAGE_BACKPRESSURE.error(
                f"{self.name} has had {most:,} writers within the last minutes, and remembers no more "
                "(server.writer-id.max-per-bucket). Try again later, or use one writer for many batches."
            )

    def _note_rows(self, segment: Segment, size: int, base: int, offset: int) -> None:
        """Remember outside the segment that it got rows, before anybody is told so: if it goes, that is noticed."""
        try:
            self._noted.note_offset(offset)
        except OSError as wrong:
            segment.cut(size, base)
            raise storage_error(self.directory, wrong) from wrong
        self._is_noted = True

    def _go_back_in_time(self, now_ms: int) -> None:
        """The clock had been far ahead: true times begin in a segment of their own, so that within one they grow."""
        told = "%s: its last rows are stamped %d s ahead of the clock; those that come now have the true time again"
        _log.warning(told, self.directory, (self.time_ms_max - now_ms) // 1000)
        if self._segments and self._segments[-1].size:
            self.roll(now_ms)
        self.time_ms_max = now_ms

    def _segment_for(self, incoming_bytes: int, last_offset: int, now_ms: int) -> Segment:
        """The segment to write to; a full, old or far-off one is closed first."""
        settings = self.settings
        if self._segments:
            active = self._segments[-1]
            if not active.size:
                self._segment_first_ms = now_ms
            full = active.size and active.size + incoming_bytes > settings.segment_bytes_max
            far = last_offset - active.base_offset >= SEGMENT_OFFSETS_MAX
            old = active.size and 0 <= settings.roll_interval_ms <= now_ms - self._segment_first_ms
            if not (full or far or old):
                return active
            return self.roll(now_ms)
        self._segment_first_ms = now_ms
        try:
            self.disk.make_directory(self.directory)
        except OSError as wrong:
            raise storage_error(self.directory, wrong) from wrong
        return self._add_segment()

    def roll(self, now_ms: int) -> Segment:
        """Close the active segment and begin a new one at the end of the log."""
        closing = self._segments[-1]
        closing.index.add_time(self.time_ms_max, self.end_offset - 1 - closing.base_offset)
        self._later(self._checkpoint())
        self._segment_first_ms = now_ms
        return self._add_segment()

    def _add_segment(self) -> Segment:
        segment = Segment(self.directory, self.end_offset, 0, self._files, self.settings.index_interval_bytes)
        self._segments.append(segment.create())
        self._bases.append(segment.base_offset)
        self._is_noted = self._is_named = False
        return segment

    def _first_time_ms(self) -> int:
        if not self._segments:
            return 0
        try:
            return next((h.commit_timestamp_ms for _, h in self._segments[-1].headers(0)), 0)
        except BrokenSegmentError:
            return 0

    # -- compact

    def replace_segment(self, old: ClosedSegment, path: Path) -> None:
        """Let a file with the same offsets take a closed segment's place; if it has gone meanwhile, drop the file."""
        for segment, base in zip(self._segments[:-1], self._bases, strict=False):
            if base == old.base_offset and segment.size == old.size:
                segment.replace_by(path)
                return
        self.disk.unlink(path)

    # -- copy

    def hold(self, closed: ClosedSegment, name: str) -> HeldSegment | None:
        """Keep the files of a closed segment as they are now, under a name of their own; None if it has gone."""
        for segment, base in zip(self._segments[:-1], self._bases, strict=False):
            if base == closed.base_offset:
                return hold(self.directory, segment, closed.end_offset, closed.time_ms_max, name, self.name)
        return None

    def begin_at(self, offset: int, now_ms: int) -> None:
        """Begin again at an offset behind the end: what came before it is elsewhere, and no longer here."""
        assert offset > self.end_offset
        for segment in self._segments:
            self._put_away += [(now_ms, path) for path in segment.put_away()]
        self._segments, self._bases = [], []
        self.start_offset = self.end_offset = offset
        self.damages.drop_below(offset)
        self.writers = read_writers(self.disk, checkpoint_file(self.directory, offset)) or WriterStates()
        try:
            self.disk.make_directory(self.directory)
        except OSError as wrong:
            raise storage_error(self.directory, wrong) from wrong
        self._add_segment()
        self._later(partial(self._noted.note_start, offset))
        self._delete_due(now_ms)

    # -- keep

    def checkpoint(self) -> None:
        """Have everything so far synced and noted, soon and elsewhere."""
        if self.is_dirty and self._segments:
            self._later(self._checkpoint())

    def _checkpoint(self) -> Callable[[], None]:
        """What syncs and notes everything since the checkpoint before: the active segment, and more if that failed."""
        first = max(bisect_right(self._bases, self._checkpoints.asked_offset) - 1, 0)
        changed = self._segments[first:]
        self._unsynced_messages = 0
        return self._checkpoints.ask(
            Checkpoint(
                disk=self.disk,
                directory=self.directory,
                offset=self.end_offset,
                logs=tuple(segment.path for segment in changed),
                index_files=tuple(file for segment in changed for file in segment.index_files()),
                writers=self.writers.to_json(),
                segment_bases=frozenset(self._bases),
                facts=self._noted,
                parents=self._new_parents(),
            )
        )

    def gave_up(self, offset: int) -> bool:
        """Whether somebody gave an offset up with `lakeward repair`."""
        return self._noted.now.gave_up(offset)

    def rows_from(self, start: int) -> int:
        """How many rows a log has whose every offset was a row, from an offset on; damage is an error."""
        damage = self.damages.next_from(start)
        if damage is not None:
            raise damage.error(self.name)
        rows, at = 0, start
        for given in sorted(self.given_up, key=lambda one: one.first):
            rows += max(given.first - at, 0)
            at = max(at, given.end)
        return rows + self.end_offset - at

    def retain(self, now_ms: int, keep_from_offset: int | None = None) -> int:
        """Put away what is too old or too much, delete what was put away long enough ago; returns segments put away."""
        self.writers.expire(now_ms - self.settings.writer_expiration_ms)
        self._delete_due(now_ms)
        if not self._segments:
            return 0
        expired = 0 < self.settings.ttl_ms < now_ms - self.time_ms_max
        if expired and self.settings.roll_expired_active_segment and self._segments[-1].size:
            self.roll(now_ms)
        if len(self._segments) < 2:
            return 0
        keep_from = self.end_offset if keep_from_offset is None else min(keep_from_offset, self.end_offset)
        if self.copied_offset is None:
            count = expired_prefix(self._facts(), self.settings, now_ms, keep_from)
        else:
            count = copied_prefix(self._segments, self.settings, now_ms, keep_from, self.copied_offset)
        while count and self._segments[count - 1].path == self._segments[count].path:
            count -= 1  # parts of one file leave together
        for segment in self._segments[:count]:
            due_ms = now_ms + self.settings.delete_delay_ms
            self._put_away += [(due_ms, path) for path in segment.put_away()]
        del self._segments[:count], self._bases[:count]
        if count:
            damage = self.damages.before(self._bases[0])
            self.start_offset = self._bases[0] if damage is None else max(damage.first, self.start_offset)
            self.damages.drop_below(self.start_offset)
            self._later(partial(self._noted.note_start, self.start_offset))
        self._delete_due(now_ms)
        return count

    def _facts(self) -> list[SegmentFacts]:
        active = self._segments[-1]
        facts = [SegmentFacts(s.base_offset, s.size, s.time_ms_max) for s in self._segments[:-1]]
        return [*facts, SegmentFacts(active.base_offset, active.size, self.time_ms_max)]

    def _delete_due(self, now_ms: int) -> None:
        due = [path for due_ms, path in self._put_away if due_ms <= now_ms]
        if due:
            self._later(partial(_unlink, self.disk, due))  # a large file takes its time
            self._put_away = [(due_ms, path) for due_ms, path in self._put_away if due_ms > now_ms]

    def close(self) -> None:
        """Sync and note everything, here and now."""
        self._checkpoints.ask_again()
        if self.is_dirty and self._segments:
            self._checkpoint()()
        if self._segments and not self._noted.now.is_closed:
            self._noted.note_close(self.end_offset)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the files without keeping anything; for a bucket that is dropped."""
        for segment in self._segments:
            self._files.forget(segment.path)


def _sync(disk: Files, path: Path, directories: tuple[Path, ...]) -> None:
    sync_data(disk, path)
    for directory in directories:
        disk.sync_directory(directory)


def _unlink(disk: Files, paths: list[Path]) -> None:
    for path in paths:
        disk.unlink(path)
