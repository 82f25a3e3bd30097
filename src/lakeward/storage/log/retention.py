"""Which segments may go. Pure: values in, a count out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lakeward.storage.log.settings import LogSettings


class SegmentFacts(NamedTuple):
    """What retention needs to know of a segment."""

    base_offset: int
    bytes: int
    time_ms_max: int


def expired_prefix(segments: Sequence[SegmentFacts], settings: LogSettings, now_ms: int, keep_from_offset: int) -> int:
    """How many of the oldest segments may be deleted.

    The last (active) segment always stays, and so does every segment that holds offsets from `keep_from_offset` on.
    """
    total_bytes = sum(s.bytes for s in segments)
    count = 0
    for segment, successor in pairwise(segments):
        too_old = settings.ttl_ms > 0 and now_ms - segment.time_ms_max > settings.ttl_ms
        too_much = settings.retention_bytes >= 0 and total_bytes - segment.bytes >= settings.retention_bytes
        if not (too_old or too_much) or successor.base_offset > keep_from_offset:
            break
        total_bytes -= segment.bytes
        count += 1
    return count
