"""A damaged range given up on purpose: in its place stands a batch without rows, and it is recorded for ever.

Such a batch is what compaction leaves, too: every client goes on after it, and ours tell it by an attribute from
what was compacted away. The damaged file stays beside the new one
under another name, for whoever still hopes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from lakeward.records.batch.batch_header import GIVEN_UP, BatchHeader, write_header
from lakeward.records.batch.log_batch import seal, stamp
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import name_file, write_file
from lakeward.storage.log.log_facts import GivenUp, LogFacts, read_facts
from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import INDEX, LOG, TIME_INDEX, file_stem
from lakeward.storage.log.segment.segment_walk import Good, SegmentWalk

_SPAN_MAX = 2**31 - 1
_COPY_BYTES = 4 << 20


def give_up(disk: Files, directory: Path, damage: Damage, time_ms: int) -> Path | None:
    """Put a batch without rows in the place of damaged offsets; returns where the damaged file is kept, if any.

    To be called when no server runs.
    """
    disk.make_directory(directory)
    path = _file_of(disk, directory, damage.first)
    before, behind, since_ms = _whole_around(disk, path, damage)
    beside = path.with_name(path.name + ".repair.tmp")
    fillers = _fillers(damage.first, damage.end, since_ms)
    pieces = (_pieces(disk, path, 0, before), fillers, _pieces(disk, path, behind, None))
    write_file(disk, beside, chain.from_iterable(pieces), mode=0o644)
    kept = None
    if disk.exists(path):
        kept = path.with_name(f"{path.name}.given-up-{damage.first}-{damage.end}")
        disk.unlink(kept)
        disk.link(path, kept)
    record(disk, directory, damage, time_ms)
    for suffix in (INDEX, TIME_INDEX):
        disk.unlink(path.with_suffix(suffix))
    name_file(disk, beside, path)
    return kept


def record(disk: Files, directory: Path, damage: Damage, time_ms: int) -> None:
    """Remember for ever that a range was given up."""
    try:
        facts = read_facts(disk, directory)
    except ValueError:
        facts = None
    first = min((int(path.stem) for path in disk.glob(directory, "*" + LOG)), default=damage.first)
    facts = facts or LogFacts(min(first, damage.first), damage.end)
    given = GivenUp(damage.first, damage.end, f"{damage.path.name}: {damage.reason}", time_ms)
    facts.without(given).write(disk, directory, durable=True)


def _file_of(disk: Files, directory: Path, offset: int) -> Path:
    """The segment that an offset belongs to; one that is made for it where there is none before it."""
    bases = sorted(int(path.stem) for path in disk.glob(directory, "*" + LOG))
    base = max((base for base in bases if base <= offset), default=offset)
    return directory / (file_stem(base) + LOG)


def _whole_around(disk: Files, path: Path, damage: Damage) -> tuple[int, int, int]:
    """Where the bytes before the range end, where those after it begin, and the time of the last batch before it."""
    before, time_ms = 0, 0
    if not disk.exists(path):
        return 0, 0, 0
    for one in SegmentWalk(disk, path, int(path.stem), None):
        if not isinstance(one, Good):
            continue
        if one.header.base_offset >= damage.end:
            return before, one.position, time_ms
        if one.header.last_offset < damage.first:
            before, time_ms = one.position + one.header.size, one.header.commit_timestamp_ms
    return before, disk.facts(path).size, time_ms


def _fillers(first: int, end: int, time_ms: int) -> Iterator[bytes]:
    """Batches without rows that take the offsets of a range."""
    while first < end:
        stop = min(end, first + _SPAN_MAX)
        batch = bytearray(write_header(BatchHeader(0, 0, 0, 0, 0, 1, GIVEN_UP, stop - first - 1, -1, -1, 0)))
        seal(batch)
        stamp(batch, 0, first, time_ms)
        yield bytes(batch)
        first = stop


def _pieces(disk: Files, path: Path, start: int, end: int | None) -> Iterator[bytes]:
    """The bytes of a file between two positions; none where there is no file."""
    if not disk.exists(path):
        return
    file = disk.open(path)
    try:
        end = file.facts().size if end is None else end
        while start < end and (piece := file.pread(min(end - start, _COPY_BYTES), start)):
            yield piece
            start += len(piece)
    finally:
        file.close()
