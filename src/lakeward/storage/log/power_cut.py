"""After a power cut a log ends where the first batch is missing that had not been synced.

Pages reach a disk in any order: behind what was synced there may be zeros, and whole batches behind those. They were
never promised to last, and a log with a hole could not be read past it; so it ends before the hole. As long as the
machine is up, the page cache has everything: then a hole is damage, and what lies after it stays.
"""

from __future__ import annotations

from pathlib import Path

from lakeward.runtime.files.port import Files, How
from lakeward.storage.log.log_facts import LogFacts
from lakeward.storage.log.segment.segment import INDEX, LOG, TIME_INDEX, BrokenSegmentError, Segment
from lakeward.storage.log.segment.segment_walk import Bad, SegmentWalk


def was_cut_off(facts: LogFacts | None, synced_offset: int, boot_id: str) -> bool:
    """Whether the machine went down while the log was written to.

    A log without facts is taken for one that never got to its first sync; when something vouches for a sync, its facts
    have been lost since, and bad bytes are reported as damage.
    """
    if facts is None:
        return synced_offset == 0
    return not facts.is_closed and facts.seen_boot != boot_id


def cut_unsynced(segments: list[Segment], synced_offset: int) -> str | None:
    """End the files of a log before the first hole behind an offset; returns what was done, if anything.

    The segments are not to be used afterwards.
    """
    bases = [segment.base_offset for segment in segments]
    for number, (segment, following) in enumerate(zip(segments, [*bases[1:], None], strict=False)):
        if following is not None and following <= synced_offset:
            continue
        position, offset = _synced_end(segment, synced_offset)
        walk = SegmentWalk(segment.disk, segment.path, offset, following, start=position)
        hole = next((one for one in walk if isinstance(one, Bad)), None)
        if hole is None or hole.first < synced_offset:
            continue
        for later in reversed(segments[number + 1 :]):
            _remove(later.disk, later.path)
        _truncate(segment.disk, segment.path, hole.position)
        return f"{segment.path}: cut at byte {hole.position}, offset {hole.first}; what lay behind had not been synced"
    return None


def _synced_end(segment: Segment, offset: int) -> tuple[int, int]:
    """Where the batch ends that ends at an offset; the beginning of the file where nothing tells."""
    try:
        found = segment.position_of(offset - 1) if offset > segment.base_offset else None
    except BrokenSegmentError:
        found = None
    if found is None or found[1].last_offset != offset - 1:
        return 0, segment.base_offset
    return found[0] + found[1].size, offset


def _remove(disk: Files, path: Path) -> None:
    for suffix in (INDEX, TIME_INDEX, LOG):
        disk.unlink(path.with_suffix(suffix))


def _truncate(disk: Files, path: Path, size: int) -> None:
    file = disk.open(path, How.EDIT)
    try:
        file.truncate(size)
    finally:
        file.close()
