"""A log read from end to end without opening it: what is damaged, and what was given up. Changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.storage.log.checkpoint import read_writers, stored_checkpoints
from lakeward.storage.log.log_facts import Evidence, GivenUp, LogFacts, evidence, facts_file, read_facts
from lakeward.storage.log.segment.damage import Damage, Damages
from lakeward.storage.log.segment.index_check import damaged_indexes
from lakeward.storage.log.segment.segment import DELETED, LOG, file_stem
from lakeward.storage.log.segment.segment_walk import Bad, SegmentWalk


@dataclass(slots=True)
class LogReport:
    """What was found of one log."""

    start_offset: int = 0
    end_offset: int = 0
    bytes: int = 0
    damages: Damages = field(default_factory=Damages)
    given_up: tuple[GivenUp, ...] = ()
    #: Files of indexes that do not point to where their segment's batches are, and why.
    indexes: list[tuple[Path, str]] = field(default_factory=list)
    #: What costs nothing but is worth a word: small files that are made again, an append that a crash cut off.
    notes: list[str] = field(default_factory=list)


def verify_log(
    disk: Files, directory: Path, known_end: int = 0, pause: Callable[[int], None] | None = None
) -> LogReport:
    """Read every byte of a log. `pause` is told how many bytes were read, and may wait."""
    report = LogReport()
    facts = _facts(report, disk, directory)
    checkpoints = stored_checkpoints(disk, directory)
    report.notes += [
        f"{path} is damaged; an older one is used" for _, path in checkpoints if read_writers(disk, path) is None
    ]
    has_left = bool(disk.glob(directory, "*" + LOG + DELETED))
    paths = disk.glob(directory, "*" + LOG)
    bases = [int(path.stem) for path in paths]
    reached = evidence(facts, disk.boot_id, [known_end, *bases[-1:], *(o for o, _ in checkpoints[:1])])
    start = bases[0] if bases else 0
    if facts is not None and not has_left and (not bases or start > facts.start_offset):
        start = facts.start_offset
        path = directory / (file_stem(start) + LOG)
        if bases:
            report.damages.add(Damage(start, bases[0], path, "the file is missing"))
        elif reached.offset > start:
            report.damages.add(Damage(start, reached.unused_offset, path, reached.describe("the file is missing")))
    report.start_offset = report.end_offset = start
    newest_ms = -1
    for path, base, following in zip(paths, bases, [*bases[1:], None], strict=False):
        ends, times_ms = _verify_segment(report, disk, path, base, following, reached, pause)
        if following is None:  # of the last one they are written when it is closed, or the server stops
            break
        if not any(one.first < following and base < one.end for one in report.damages):  # else they point elsewhere
            report.indexes += damaged_indexes(disk, path, base, ends, times_ms | {newest_ms})
        newest_ms = max(newest_ms, *times_ms) if times_ms else newest_ms
    report.end_offset = max([report.end_offset, reached.offset, *(one.end for one in report.damages)])
    return report


def _facts(report: LogReport, disk: Files, directory: Path) -> LogFacts | None:
    try:
        facts = read_facts(disk, directory)
    except ValueError as wrong:
        report.notes.append(f"{facts_file(directory)} is damaged ({wrong}); it is made anew when the log is opened")
        return None
    report.given_up = () if facts is None else facts.given_up
    return facts


def _verify_segment(
    report: LogReport,
    disk: Files,
    path: Path,
    base: int,
    following: int | None,
    reached: Evidence,
    pause: Callable[[int], None] | None,
) -> tuple[dict[int, int], set[int]]:
    """Read a segment; the last offset of each batch by where it starts, and the times of all."""
    end = base
    ends: dict[int, int] = {}
    times_ms: set[int] = set()
    for one in SegmentWalk(disk, path, base, following, pause=pause):
        if not isinstance(one, Bad):
            end = one.header.last_offset + 1
            ends[one.position] = one.header.last_offset
            times_ms.add(one.header.commit_timestamp_ms)
            report.bytes += one.header.size
        elif one.end > one.first:
            report.damages.add(Damage(one.first, one.end, path, one.reason))
        elif end >= reached.offset:
            report.notes.append(f"{path}: the last {one.end_position - one.position} bytes are no batch")
    report.end_offset = end
    if following is None and end < reached.offset:
        reason = reached.describe(f"the log ends at offset {end}")
        report.damages.add(Damage(end, reached.unused_offset, path, reason))
    return ends, times_ms
