"""The log of one bucket: append, read, find, retain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lakeward.errors import ErrorCode
from lakeward.records.batch_header import BatchHeader
from lakeward.records.log_batch import BatchSpan, stamp, walk_batches
from lakeward.storage.log.batch_check import good_prefix
from lakeward.storage.log.checkpoint import Checkpoint, Checkpoints, checkpoint_file, read_writers, sync_data
from lakeward.storage.log.damage import Damage
from lakeward.storage.log.held_segment import HeldSegment, hold
from lakeward.storage.log.isolation import isolated
from lakeward.storage.log.log_facts import LogFacts
from lakeward.storage.log.recovery import recover_log
from lakeward.storage.log.retention import SegmentFacts, copied_prefix, expired_prefix
from lakeward.storage.log.segment import BrokenSegmentError, Segment
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import Verdict, WriterStates, WrittenBatch, next_sequence
from lakeward.storage.open_files import OpenFiles, storage_error

Later = Callable[[Callable[[], None]], object]
_RELATIVE_OFFSET_MAX = 2**31 - 1


class LogRead(NamedTuple):
    """Whole batches, the first of which holds the offset that was asked for or ends behind it."""

    data: memoryview
    first_offset: int
    reaches_end: bool


class ClosedSegment(NamedTuple):
    """A segment that nothing is written to any more."""

    base_offset: int
    end_offset: int
    path: Path
    size: int
    time_ms_max: int


_NOTHING = memoryview(b"")


class LogTablet:
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
    ) -> None:
        """`name` is what messages call it; `known_end` is how far it reached, if that is known."""
        self.directory = directory
        self.name = name
        self.settings = settings
        self._files = files
        self._later = later
        found = recover_log(directory, settings, files, known_end)
        self._segments = found.segments
        self.writers: WriterStates = found.writers
        self.end_offset = found.end_offset
        self.time_ms_max = found.time_ms_max
        self.repairs = found.repairs
        self.start_offset = found.start_offset
        self.given_up = () if found.facts is None else found.facts.given_up
        #: What cannot be read. `on_damage` is told of what is found later.
        self.damages = found.damages
        self.on_damage: Callable[[Damage], None] = lambda _: None
        self._bases = [s.base_offset for s in self._segments]
        self._segment_first_ms = self._first_time_ms()
        self._checkpoints = Checkpoints(found.checkpoint_offset)
        self._unsynced_messages = 0
        self._put_away: list[tuple[int, Path]] = []
        #: Up to where the log has been copied elsewhere; None when it is not copied at all.
        self.copied_offset: int | None = None
        if found.facts is None and self._segments:
            self._later(self._noting())

    @property
    def size(self) -> int:
        """Bytes of all segments."""
        return sum(s.size - s.begin for s in self._segments)

    def bytes_from(self, offset: int) -> int:
        """Bytes of the segments that begin at or behind an offset."""
        return sum(s.size for s in self._segments if s.base_offset >= offset)

    @property
    def segment_count(self) -> int:
        """How many files of batches there are."""
        return len(self._segments)

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
        time_ms = max(now_ms, self.time_ms_max)
        offset = base
        for span in spans:
            stamp(data, span.start, offset, time_ms)
            offset += span.header.last_offset_delta + 1
        segment = self._segment_for(len(data), offset - 1, now_ms)
        segment.append(data, spans, base, time_ms)
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
        if self._unsynced_messages >= self.settings.flush_interval_messages:
            sync_data(segment.path)
            self._unsynced_messages = 0
        return base

    def _segment_for(self, incoming_bytes: int, last_offset: int, now_ms: int) -> Segment:
        """The segment to write to; a full, old or far-off one is closed first."""
        settings = self.settings
        if self._segments:
            active = self._segments[-1]
            if not active.size:
                self._segment_first_ms = now_ms
            full = active.size and active.size + incoming_bytes > settings.segment_bytes_max
            far = last_offset - active.base_offset > _RELATIVE_OFFSET_MAX
            old = active.size and 0 <= settings.roll_interval_ms <= now_ms - self._segment_first_ms
            if not (full or far or old):
                return active
            return self.roll(now_ms)
        self._segment_first_ms = now_ms
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise storage_error(self.directory, wrong) from wrong
        self._later(self._noting())
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
        return segment

    def _first_time_ms(self) -> int:
        if not self._segments:
            return 0
        try:
            return next((h.commit_timestamp_ms for _, h in self._segments[-1].headers(0)), 0)
        except BrokenSegmentError:
            return 0

    # -- read

    def read(self, offset: int, bytes_max: int, *, at_least_one: bool) -> LogRead:
        """Whole batches from the one that holds an offset on, out of one segment.

        `at_least_one` lets the first batch be larger than `bytes_max`. At the end of the log nothing is read.
        """
        if offset < self.start_offset or offset > self.end_offset:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
                f"Offset {offset} is outside the log, which goes from {self.start_offset} to {self.end_offset}."
            )
        if offset == self.end_offset:
            return LogRead(_NOTHING, offset, reaches_end=True)
        self._refuse_damage(offset)
        segment = self._segments[bisect_right(self._bases, offset) - 1]
        try:
            position, header = self._found(segment, offset)
            end = segment.whole_batches_end(position, position + bytes_max)
            if end == position:
                if not at_least_one:
                    return LogRead(_NOTHING, offset, reaches_end=False)
                end = position + header.size
            data = segment.read(position, end)
            size, behind = good_prefix(data, header.base_offset)
        except BrokenSegmentError:
            size, behind, end, position, data = 0, offset, 1, 0, _NOTHING
        if size < end - position:
            self.isolate(segment.base_offset, max(offset, behind))
            if behind <= offset:
                self._refuse_damage(offset)
                return self.read(offset, bytes_max, at_least_one=at_least_one)
            data = data[:size]
        return LogRead(data, header.base_offset, behind == self.end_offset)

    @staticmethod
    def _found(segment: Segment, offset: int) -> tuple[int, BatchHeader]:
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
        found = isolated(segment, self._end_of(number), offset)
        if found is None:
            raise ErrorCode.LOG_STORAGE.error(f"Offset {offset} of {segment.path} could not be read; try again.")
        self._files.forget(segment.path)
        self._segments[number : number + 1] = found.parts
        self._bases = [one.base_offset for one in self._segments]
        if self.damages.add(found.damage):
            self.on_damage(found.damage)
        if is_active:
            self._segment_first_ms = self.time_ms_max
            self._add_segment()

    def gave_up(self, offset: int) -> bool:
        """Whether somebody gave an offset up with `lakeward repair`."""
        return self._facts_now().gave_up(offset)

    def _end_of(self, number: int) -> int:
        """The offset behind the last one of a segment."""
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

    def offset_of_time(self, time_ms: int) -> int:
        """The offset of the first batch appended at or after a time; the end of the log if there is none."""
        if time_ms > self.time_ms_max:
            return self.end_offset
        for number, segment in enumerate(self._segments):
            is_last = number == len(self._segments) - 1
            if is_last or segment.time_ms_max >= time_ms:
                try:
                    found = segment.offset_of_time(time_ms)
                except BrokenSegmentError:
                    self.isolate(segment.base_offset, segment.base_offset)
                    return self.offset_of_time(time_ms)
                if found is not None:
                    damage = self.damages.before(found)  # nobody knows when its rows came: they may be among the asked
                    return found if damage is None else damage.first
        return self.end_offset

    # -- compact

    def closed_segments(self) -> list[ClosedSegment]:
        """The segments that nothing is written to any more, oldest first; of a damaged log none is offered."""
        return [] if self.damages else list(self.closed_behind(-1))

    def closed_behind(self, offset: int) -> Iterator[ClosedSegment]:
        """Those that end behind an offset; each is looked at when it is its turn. Damage that is met is an error."""
        for segment, end in zip(self._segments, self._bases[1:], strict=False):
            if end > offset:
                damage = self.damages.next_from(max(offset, self.start_offset))
                if damage is not None and (damage.first < end or segment.is_part):
                    raise damage.error(self.name)
                yield ClosedSegment(segment.base_offset, end, segment.path, segment.size, segment.time_ms_max)

    def replace_segment(self, old: ClosedSegment, path: Path) -> None:
        """Let a file with the same offsets take a closed segment's place; if it has gone meanwhile, drop the file."""
        for segment, base in zip(self._segments[:-1], self._bases, strict=False):
            if base == old.base_offset and segment.size == old.size:
                segment.replace_by(path)
                return
        path.unlink(missing_ok=True)

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
        self.writers = read_writers(checkpoint_file(self.directory, offset)) or WriterStates()
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
        except OSError as wrong:
            raise storage_error(self.directory, wrong) from wrong
        self._add_segment()
        self._later(self._noting())
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
                directory=self.directory,
                offset=self.end_offset,
                logs=tuple(segment.path for segment in changed),
                index_files=tuple(file for segment in changed for file in segment.index_files()),
                writers=self.writers.to_json(),
                segment_bases=frozenset(self._bases),
                facts=self._facts_now(),
            )
        )

    def _facts_now(self) -> LogFacts:
        return LogFacts(self.start_offset, self.end_offset, self.given_up)

    def _noting(self) -> Callable[[], None]:
        """What writes down where the log begins; before anything is deleted."""
        return partial(self._facts_now().write, self.directory, durable=True)

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
            self._later(self._noting())
        self._delete_due(now_ms)
        return count

    def _facts(self) -> list[SegmentFacts]:
        active = self._segments[-1]
        facts = [SegmentFacts(s.base_offset, s.size, s.time_ms_max) for s in self._segments[:-1]]
        return [*facts, SegmentFacts(active.base_offset, active.size, self.time_ms_max)]

    def _delete_due(self, now_ms: int) -> None:
        due = [path for due_ms, path in self._put_away if due_ms <= now_ms]
        if due:
            self._later(partial(_unlink, due))  # a large file takes its time
            self._put_away = [(due_ms, path) for due_ms, path in self._put_away if due_ms > now_ms]

    def close(self) -> None:
        """Sync and note everything, here and now."""
        self._checkpoints.ask_again()
        if self.is_dirty and self._segments:
            self._checkpoint()()
        self.abandon()

    def abandon(self) -> None:
        """Let go of the files without keeping anything; for a bucket that is dropped."""
        for segment in self._segments:
            self._files.forget(segment.path)


def _unlink(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
