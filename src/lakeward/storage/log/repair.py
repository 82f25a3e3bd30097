"""A damaged range given up on purpose: in its place stands a batch without rows, and it is recorded for ever.

Such a batch is what compaction leaves, too: every client goes on behind it, and ours tell it by an attribute from
what was compacted away. The damaged file stays beside the new one
under another name, for whoever still hopes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lakeward.records.batch.batch_header import GIVEN_UP, BatchHeader, write_header
from lakeward.records.batch.log_batch import seal, stamp
from lakeward.storage.disk.atomic_file import sync_directory
from lakeward.storage.log.log_facts import GivenUp, LogFacts, read_facts
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import INDEX, LOG, TIME_INDEX, file_stem
from lakeward.storage.log.segment.segment_walk import Good, SegmentWalk

_SPAN_MAX = 2**31 - 1
_COPY_BYTES = 4 << 20


def give_up(directory: Path, damage: Damage, time_ms: int) -> Path | None:
    """Put a batch without rows in the place of damaged offsets; returns where the damaged file is kept, if any.

    To be called when no server runs.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path = _file_of(directory, damage.first)
    before, behind, since_ms = _whole_around(path, damage)
    filler = b"".join(_fillers(damage.first, damage.end, since_ms))
    beside = path.with_name(path.name + ".repair.tmp")
    with beside.open("wb") as file:
        _copy(path, 0, before, file.fileno())
        file.write(filler)
        file.flush()
        _copy(path, behind, None, file.fileno())
        os.fsync(file.fileno())
    kept = None
    if path.exists():
        kept = path.with_name(f"{path.name}.given-up-{damage.first}-{damage.end}")
        kept.unlink(missing_ok=True)
        os.link(path, kept)
    record(directory, damage, time_ms)
    beside.replace(path)
    for suffix in (INDEX, TIME_INDEX):
        path.with_suffix(suffix).unlink(missing_ok=True)
    sync_directory(directory)
    return kept


def record(directory: Path, damage: Damage, time_ms: int) -> None:
    """Remember for ever that a range was given up."""
    try:
        facts = read_facts(directory)
    except ValueError:
        facts = None
    first = min((int(path.stem) for path in directory.glob("*" + LOG)), default=damage.first)
    facts = facts or LogFacts(min(first, damage.first), damage.end)
    given = GivenUp(damage.first, damage.end, f"{damage.path.name}: {damage.reason}", time_ms)
    facts.without(given).write(directory, durable=True)


def _file_of(directory: Path, offset: int) -> Path:
    """The segment that an offset belongs to; one that is made for it where there is none before it."""
    bases = sorted(int(path.stem) for path in directory.glob("*" + LOG))
    base = max((base for base in bases if base <= offset), default=offset)
    return directory / (file_stem(base) + LOG)


def _whole_around(path: Path, damage: Damage) -> tuple[int, int, int]:
    """Where the bytes before the range end, where those behind it begin, and the time of the last batch before it."""
    before, time_ms = 0, 0
    if not path.exists():
        return 0, 0, 0
    for one in SegmentWalk(path, int(path.stem), None):
        if not isinstance(one, Good):
            continue
        if one.header.base_offset >= damage.end:
            return before, one.position, time_ms
        if one.header.last_offset < damage.first:
            before, time_ms = one.position + one.header.size, one.header.commit_timestamp_ms
    return before, path.stat().st_size, time_ms


def _fillers(first: int, end: int, time_ms: int) -> Iterator[bytes]:
    """Batches without rows that take the offsets of a range."""
    while first < end:
        stop = min(end, first + _SPAN_MAX)
        batch = bytearray(write_header(BatchHeader(0, 0, 0, 0, 0, 1, GIVEN_UP, stop - first - 1, -1, -1, 0)))
        seal(batch)
        stamp(batch, 0, first, time_ms)
        yield bytes(batch)
        first = stop


def _copy(path: Path, start: int, end: int | None, target: int) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        left = path.stat().st_size - start if end is None else end - start
        while left > 0 and (piece := file.read(min(left, _COPY_BYTES))):
            os.write(target, piece)
            left -= len(piece)
