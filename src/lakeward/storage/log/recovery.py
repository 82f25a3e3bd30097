"""What is on disk → a log that can be appended to.

Everything below the newest good checkpoint is taken as it is. Behind it each batch is checked; the first byte that
is not part of a good batch is where the log ends, and what lies behind it is cut off or put aside as `.damaged`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lakeward.records.log_batch import crc_is_right, walk_batches
from lakeward.storage.atomic_file import replace_file
from lakeward.storage.log.checkpoint import checkpoint_file, read_writers, stored_checkpoints, sync_data
from lakeward.storage.log.segment import DELETED, LOG, Segment
from lakeward.storage.log.settings import LogSettings
from lakeward.storage.log.writer_state import WriterStates, WrittenBatch
from lakeward.storage.open_files import OpenFiles

_DAMAGED = ".damaged"


@dataclass(slots=True)
class RecoveredLog:
    """A log as it was found."""

    segments: list[Segment] = field(default_factory=list)
    writers: WriterStates = field(default_factory=WriterStates)
    end_offset: int = 0
    time_ms_max: int = -1
    checkpoint_offset: int = -1
    repairs: list[str] = field(default_factory=list)


def recover_log(directory: Path, settings: LogSettings, files: OpenFiles) -> RecoveredLog:
    """Open the log in a directory, whatever state it was left in."""
    log = RecoveredLog()
    if not directory.exists():
        return log
    for leftover in [*directory.glob("*" + DELETED), *directory.glob("*.tmp")]:
        leftover.unlink(missing_ok=True)
    log.segments = [
        Segment(directory, int(path.stem), path.stat().st_size, files, settings.index_interval_bytes)
        for path in sorted(directory.glob("*" + LOG))
    ]
    if not log.segments:
        return log
    place, position = _start_at_checkpoint(log, directory)
    for number in range(place, len(log.segments)):
        if position == 0 and log.segments[number].base_offset != log.end_offset:
            _put_aside(log, number)  # rows before it are missing: the log ends where they should be
            break
        if not _check_segment(log, log.segments[number], position):
            _put_aside(log, number + 1)
            break
        position = 0
        if number + 1 < len(log.segments):
            _note_writers(log, directory, log.segments[number])
    return log


def _note_writers(log: RecoveredLog, directory: Path, closed: Segment) -> None:
    """Make up for a checkpoint that a crash prevented: who copies the segment needs its writers as of its end."""
    path = checkpoint_file(directory, log.end_offset)
    if not path.exists():
        sync_data(closed.path)
        replace_file(path, log.writers.to_json())


def _start_at_checkpoint(log: RecoveredLog, directory: Path) -> tuple[int, int]:
    """The segment and position from which batches have to be checked."""
    first = log.segments[0].base_offset
    for offset, path in stored_checkpoints(directory):
        writers = read_writers(path)
        if offset < first or writers is None:
            continue
        place = max(i for i, s in enumerate(log.segments) if s.base_offset <= offset)
        segment = log.segments[place]
        position = _position_of_end(log, segment, offset)
        if position == 0 and place:
            log.time_ms_max = log.segments[place - 1].time_ms_max
        if position is not None:
            log.writers, log.end_offset, log.checkpoint_offset = writers, offset, offset
            return place, position
    log.end_offset = first
    return 0, 0


def _position_of_end(log: RecoveredLog, segment: Segment, offset: int) -> int | None:
    """Where the batch stands that begins at an offset, or where it would be appended."""
    if offset == segment.base_offset:
        return 0
    found = segment.position_of(offset - 1)
    if found is None or found[1].last_offset != offset - 1:
        return None
    position, header = found
    segment.index.cut(position + header.size, offset - segment.base_offset)
    log.time_ms_max = header.commit_timestamp_ms
    return position + header.size


def _check_segment(log: RecoveredLog, segment: Segment, start: int) -> bool:
    """Walk the batches from a position on; False when the segment had to be cut."""
    if start == 0:
        segment.forget_index()
    position = start
    if segment.size > start:
        data = segment.read(0, segment.size)
        for span in walk_batches(data, start):
            header = span.header
            if header.base_offset != log.end_offset or not crc_is_right(data, span):
                break  # the CRC does not cover the offset, but offsets are dense
            segment.add_to_index(
                segment.index,
                header.size,
                span.start,
                header.base_offset,
                header.last_offset,
                header.commit_timestamp_ms,
            )
            if header.writer_id >= 0 and header.batch_sequence >= 0:
                batch = WrittenBatch(
                    header.batch_sequence, header.base_offset, header.last_offset, header.commit_timestamp_ms
                )
                log.writers.record(header.writer_id, batch)
            log.end_offset = header.last_offset + 1
            log.time_ms_max = max(log.time_ms_max, header.commit_timestamp_ms)
            position = span.end
        del data
        segment.index.add_time(log.time_ms_max, log.end_offset - 1 - segment.base_offset)
    if position == segment.size:
        return True
    log.repairs.append(f"{segment.path}: cut from {segment.size} to {position} bytes at offset {log.end_offset}")
    segment.cut(position, log.end_offset)
    return False


def _put_aside(log: RecoveredLog, first: int) -> None:
    """Take segments out of the log that stand behind a cut; their bytes are kept for whoever wants to look."""
    for segment in log.segments[first:]:
        segment.path.rename(segment.path.with_name(segment.path.name + _DAMAGED))
        log.repairs.append(f"{segment.path}: put aside as {_DAMAGED}, rows before it are missing")
    del log.segments[first:]
