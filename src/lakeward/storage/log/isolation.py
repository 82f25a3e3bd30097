"""A segment that turned out to be damaged while it is in use: which of its offsets, and what of it is whole."""

from __future__ import annotations

from typing import NamedTuple

from lakeward.storage.log.segment.damage import Damage
from lakeward.storage.log.segment.segment import BrokenSegmentError, Segment
from lakeward.storage.log.segment.segment_walk import Bad, SegmentWalk


class Isolation(NamedTuple):
    """Damage, and what may be served in the segment's place."""

    damage: Damage
    parts: list[Segment]


def isolate(segment: Segment, end_offset: int, offset: int) -> Isolation | None:
    """The first damage of a segment at or after an offset, or a little before it; None when there is none.

    What lies farther behind is believed: it is found when it is read.
    """
    path = segment.path
    if not segment.disk.exists(path):
        return Isolation(Damage(segment.base_offset, end_offset, path, "the file is missing"), [])
    position, first = _known_start(segment, offset)
    walk = SegmentWalk(segment.disk, path, first, end_offset, start=position, size=segment.size)
    wrong = next((one for one in walk if isinstance(one, Bad)), None)
    if wrong is None:
        return None
    before = segment.part(segment.base_offset, segment.begin, wrong.position)
    behind = segment.part(wrong.end, wrong.end_position, segment.size)
    parts = [part for part in (before, behind) if part.begin < part.size]
    return Isolation(Damage(wrong.first, wrong.end, path, wrong.reason), parts)


def _known_start(segment: Segment, offset: int) -> tuple[int, int]:
    """A batch start at or before an offset, and the offset that it begins with."""
    try:
        position = segment.position_before(offset)
        if position > segment.begin:
            _, header = next(segment.headers(position))
            if segment.is_indexed(position, header):
                return position, header.base_offset
    except (BrokenSegmentError, StopIteration):
        pass
    return segment.begin, segment.base_offset
