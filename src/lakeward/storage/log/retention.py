"""Which segments may go. Pure: values in, a count out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from lakeward.storage.log.settings import LogSettings


class SegmentFacts(NamedTuple):
    """What retention needs to know of a segment."""

    base_offset: int
    bytes: int
    time_ms_max: int


class AgedSegment(Protocol):
    """A segment that may have to be read before it says how old it is."""

    @property
    def base_offset(self) -> int:
        """Its first offset."""
        ...

    @property
    def time_ms_max(self) -> int:
        """When its last batch was appended."""
        ...


def closed_ms(segments: Sequence[AgedSegment], number: int, now_ms: int) -> int:
    """When a segment was closed: by its own time or, where the clock was ahead then, by that of one behind it."""
    own_ms = segments[number].time_ms_max
    if own_ms <= now_ms:
        return own_ms
    return min((s.time_ms_max for s in segments[number:] if s.time_ms_max >= 0), default=own_ms)


def expired_prefix(segments: Sequence[SegmentFacts], settings: LogSettings, now_ms: int, keep_from_offset: int) -> int:
    """How many of the oldest segments may be deleted.

    The last (active) segment always stays, and so does every segment that holds offsets from `keep_from_offset` on.
    """
    total_bytes = sum(s.bytes for s in segments)
    count = 0
    for segment, successor in pairwise(segments):
        too_old = settings.ttl_ms > 0 and now_ms - closed_ms(segments, count, now_ms) > settings.ttl_ms
        too_much = settings.retention_bytes >= 0 and total_bytes - segment.bytes >= settings.retention_bytes
        if not (too_old or too_much) or successor.base_offset > keep_from_offset:
            break
        total_bytes -= segment.bytes
        count += 1
    return count


def copied_prefix(
    segments: Sequence[AgedSegment], settings: LogSettings, now_ms: int, keep_from_offset: int, copied_offset: int
) -> int:
    """How many of the oldest segments of a log that is copied elsewhere need not stay on this machine.

    Those that are old, or more than are to stay; but only if they have been copied, and never the active one.
    """
    ttl_ms = settings.ttl_ms if settings.local_ttl_ms < 0 else settings.local_ttl_ms
    bound = min(keep_from_offset, copied_offset)
    count = 0
    for _, successor in pairwise(segments):
        if successor.base_offset > bound:
            break
        too_many = len(segments) - count > max(settings.local_segments, 1)
        if not too_many and not 0 < ttl_ms < now_ms - closed_ms(segments, count, now_ms):
            break
        count += 1
    return count
