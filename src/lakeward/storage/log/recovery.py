"""What is on disk → a log that can be appended to.

Below the newest good checkpoint each segment must reach the next one, and the last one the checkpoint; their batches
are checked when they are read. Behind the checkpoint each batch is checked here. Bytes at the very end that are no
batch are what a crash left of an append, and are cut off. Everything else that is not there, or not as it was written,
is damage: its offsets are known, are never given a second time, and reading them is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from lakeward.runtime.files.port import Files, sync_data
from lakeward.runtime.files.whole_file import replace_file
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.checkpoint import checkpoint_file, read_writers, stored_checkpoints
from lakeward.storage.log.log_facts import Evidence, LogFacts, evidence, facts_file, read_facts
from lakeward.storage.log.power_cut import cut_unsynced, was_cut_off
from lakeward.storage.log.segment.damage import Damage, Damages
from lakeward.storage.log.segment.segment import DELETED, INDEX, LOG, BrokenSegmentError, Segment, file_stem
from lakeward.storage.log.segment.segment_walk import Good, SegmentWalk
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import WriterStates, WrittenBatch


@dataclass(slots=True)
class RecoveredLog:
    """A log as it was found."""

    segments: list[Segment] = field(default_factory=list)
    writers: WriterStates = field(default_factory=WriterStates)
    start_offset: int = 0
    end_offset: int = 0
    time_ms_max: int = -1
    checkpoint_offset: int = -1
    facts: LogFacts | None = None
    repairs: list[str] = field(default_factory=list)
    damages: Damages = field(default_factory=Damages)


class _Stretch(NamedTuple):
    """Batches that follow each other in a file."""

    first: int
    begin: int
    end: int


def recover_log(directory: Path, settings: LogSettings, files: OpenFiles, known_end: int = 0) -> RecoveredLog:
    """Open the log in a directory, whatever state it was left in. `known_end` is how far it reached for certain."""
    log = RecoveredLog()
    disk = files.disk
    facts = log.facts = _facts(log, disk, directory)
    left = sorted(int(path.name.split(".")[0]) for path in disk.glob(directory, "*" + LOG + DELETED))
    found = _segments(directory, settings, files)
    checkpoints = stored_checkpoints(disk, directory)
    vouched = [known_end, *(offset for offset, _ in checkpoints[:1])]
    synced = max(vouched if facts is None else [*vouched, facts.end_offset])
    if was_cut_off(facts, synced, disk.boot_id):
        cut = cut_unsynced(found, synced)
        if cut is not None:
            log.repairs.append(cut)
            found = _segments(directory, settings, files)
    reached = evidence(facts, disk.boot_id, [*vouched, *(segment.base_offset for segment in found)])
    known = reached.offset
    log.start_offset = log.end_offset = _start(log, facts, found, left)
    if left and facts is not None and log.start_offset > facts.start_offset:
        # Noted before the last trace goes: otherwise the next start would miss what left on purpose.
        facts = log.facts = replace(facts, start_offset=log.start_offset)
        facts.write(disk, directory, durable=True)
    for leftover in [*disk.glob(directory, "*" + DELETED), *disk.glob(directory, "*.tmp")]:
        disk.unlink(leftover)
    if not found:
        log.writers = next(filter(None, (read_writers(disk, path) for _, path in checkpoints)), log.writers)
        if facts is not None and known <= log.start_offset:
            log.repairs.append(f"{directory} has no file although there was a log; if it had rows, they are lost")
    else:
        _recover(log, disk, directory, found, checkpoints, known)
    if known > log.end_offset:
        log.damages.add(_missing_end(log, directory, found, reached))
        log.end_offset = reached.unused_offset
    if log.end_offset and (not log.segments or log.segments[-1].is_part or _reach(log) != log.end_offset):
        disk.make_directory(directory)
        log.segments.append(Segment(directory, log.end_offset, 0, files, settings.index_interval_bytes).create())
    return log


def _segments(directory: Path, settings: LogSettings, files: OpenFiles) -> list[Segment]:
    paths = files.disk.glob(directory, "*" + LOG)
    sizes = [(int(path.stem), files.disk.facts(path).size) for path in paths]
    return [Segment(directory, base, size, files, settings.index_interval_bytes) for base, size in sizes]


def _facts(log: RecoveredLog, disk: Files, directory: Path) -> LogFacts | None:
    try:
        facts = read_facts(disk, directory)
    except ValueError as wrong:
        log.repairs.append(f"{facts_file(directory)} is damaged ({wrong}) and was made anew from the log's files")
        return None
    return facts


def _start(log: RecoveredLog, facts: LogFacts | None, found: list[Segment], left: list[int]) -> int:
    """Where the log begins. Offsets before the first file are missing, unless they left on purpose."""
    first = found[0].base_offset if found else None
    if facts is None:
        return first or 0
    if first is None or (first > facts.start_offset and not left):
        if first is not None:
            path = found[0].path.with_name(file_stem(facts.start_offset) + LOG)
            log.damages.add(Damage(facts.start_offset, first, path, "the file is missing"))
        return facts.start_offset
    return first


def _missing_end(log: RecoveredLog, directory: Path, found: list[Segment], reached: Evidence) -> Damage:
    first, end = log.end_offset, reached.unused_offset
    if not found:
        return Damage(first, end, directory / (file_stem(first) + LOG), reached.describe("the file is missing"))
    named = _name_damage(found[-1], first, end, f"the log ends at offset {first}", at_end=True)
    return named._replace(reason=reached.describe(named.reason))


def _reach(log: RecoveredLog) -> int:
    """The offset after the last batch of the last segment, as it was just found."""
    last = log.segments[-1]
    return last.base_offset if not last.size else log.end_offset if not log.damages.before(log.end_offset) else -1


def _recover(
    log: RecoveredLog,
    disk: Files,
    directory: Path,
    found: list[Segment],
    checkpoints: list[tuple[int, Path]],
    known: int,
) -> None:
    checkpoint = -1
    for offset, path in checkpoints:
        writers = read_writers(disk, path)
        if offset >= found[0].base_offset and writers is not None:
            log.writers, checkpoint = writers, offset
            break
    log.checkpoint_offset = checkpoint
    for number, segment in enumerate(found):
        following = found[number + 1].base_offset if number + 1 < len(found) else None
        log.end_offset = segment.base_offset
        if following is not None and following <= checkpoint:
            _believe(log, segment, following)
        else:
            _check(log, segment, following, checkpoint, known)
        if following is not None and following > checkpoint and log.end_offset == following:
            _note_writers(log, directory, segment)


def _believe(log: RecoveredLog, segment: Segment, following: int) -> None:
    """A closed segment below the checkpoint: it has to reach the next one."""
    try:
        end, time_ms = segment.tail()
    except BrokenSegmentError:
        end, time_ms = -1, -1
    if end == following:
        log.segments.append(segment)
        log.end_offset, log.time_ms_max = end, time_ms
    else:
        segment.forget_index()
        _walk(log, segment, _Stretch(segment.base_offset, 0, 0), following, 1 << 62)


def _check(log: RecoveredLog, segment: Segment, following: int | None, checkpoint: int, known: int) -> None:
    """A segment that holds or follows the checkpoint: every batch after it is read."""
    stretch = _Stretch(segment.base_offset, 0, _position_of_end(log, segment, checkpoint))
    if not stretch.end:
        segment.forget_index()
    size = _walk(log, segment, stretch, following, checkpoint)
    if following is None and size < segment.size and log.segments and log.segments[-1] is segment:
        if log.end_offset < known:  # no append was interrupted here: what lies behind had been synced
            log.segments[-1:] = [segment.part(segment.base_offset, 0, size)] if size else []
        else:
            log.repairs.append(f"{segment.path}: cut from {segment.size} to {size} bytes at offset {log.end_offset}")
            segment.cut(size, log.end_offset)


def _position_of_end(log: RecoveredLog, segment: Segment, offset: int) -> int:
    """Where the batch stands that begins at an offset, or where it would be appended; 0 when nothing tells."""
    if offset <= segment.base_offset:
        return 0
    try:
        found = segment.position_of(offset - 1)
    except BrokenSegmentError:
        return 0
    if found is None or found[1].last_offset != offset - 1:
        return 0
    position, header = found
    segment.index.cut(position + header.size, offset - segment.base_offset)
    log.end_offset, log.time_ms_max = offset, header.commit_timestamp_ms
    return position + header.size


def _walk(log: RecoveredLog, segment: Segment, believed: _Stretch, following: int | None, note_from: int) -> int:
    """Read a segment behind what is believed, and take it or its whole stretches into the log.

    Returns where its last good batch ends.
    """
    stretches = [believed]
    damages: list[Damage] = []
    taken = believed.end
    for one in SegmentWalk(segment.disk, segment.path, log.end_offset, following, start=believed.end):
        if isinstance(one, Good):
            taken = one.position + one.header.size
            _note(log, segment, one, note_from)
            if stretches[-1].end == one.position:
                stretches[-1] = stretches[-1]._replace(end=taken)
            else:
                stretches.append(_Stretch(one.header.base_offset, one.position, taken))
        elif one.end > one.first:
            damages.append(
                _name_damage(segment, one.first, one.end, one.reason, at_end=one.position == one.end_position)
            )
    for damage in damages:
        log.damages.add(damage)
    if damages:
        log.segments += [segment.part(*stretch) for stretch in stretches if stretch.end > stretch.begin]
    else:
        log.segments.append(segment)
        if taken:
            segment.index.add_time(log.time_ms_max, max(log.end_offset - 1 - segment.base_offset, 0))
    return taken


def _name_damage(segment: Segment, first: int, end: int, reason: str, *, at_end: bool) -> Damage:
    """Damage with the file that is missing, where something is left that tells its name."""
    missing = segment.path.with_name(file_stem(first) + LOG)
    told_by = (missing.with_suffix(INDEX), checkpoint_file(missing.parent, first))
    if at_end and any(segment.disk.exists(path) for path in told_by):
        return Damage(first, end, missing, "the file is missing")
    return Damage(first, end, segment.path, reason)


def _note(log: RecoveredLog, segment: Segment, one: Good, note_from: int) -> None:
    header = one.header
    base, last, time_ms = header.base_offset, header.last_offset, header.commit_timestamp_ms
    segment.add_to_index(segment.index, header.size, one.position, base, last, time_ms)
    if base >= note_from and header.writer_id >= 0 and header.batch_sequence >= 0:
        log.writers.record(header.writer_id, WrittenBatch(header.batch_sequence, base, last, time_ms))
    log.end_offset = last + 1
    log.time_ms_max = time_ms


def _note_writers(log: RecoveredLog, directory: Path, closed: Segment) -> None:
    """Make up for a checkpoint that a crash prevented: who copies the segment needs its writers as of its end."""
    path = checkpoint_file(directory, log.end_offset)
    if not closed.disk.exists(path):
        sync_data(closed.disk, closed.path)
        replace_file(closed.disk, path, log.writers.to_json())
