"""Which segments may go, as a function of values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeward.storage.log.retention import SegmentFacts, expired_prefix
from lakeward.storage.log.settings import LogSettings

FOREVER = 10**9
#: Four segments of ten offsets and 100 bytes, the last of them active.
SEGMENTS = [SegmentFacts(10 * i, 100, 1000 * (i + 1)) for i in range(4)]


def test_nothing_goes_without_a_limit() -> None:
    """Zero or negative numbers mean no limit."""
    for ttl_ms in (0, -1):
        assert expired_prefix(SEGMENTS, LogSettings(ttl_ms=ttl_ms, retention_bytes=-1), FOREVER, FOREVER) == 0


def test_old_segments_go_oldest_first() -> None:
    """A segment goes when its newest row is older than the time to live, not before."""
    settings = LogSettings(ttl_ms=500)
    assert expired_prefix(SEGMENTS, settings, 1500, FOREVER) == 0
    assert expired_prefix(SEGMENTS, settings, 1501, FOREVER) == 1
    assert expired_prefix(SEGMENTS, settings, 2501, FOREVER) == 2


def test_a_young_segment_shields_the_ones_behind_it() -> None:
    """Only a prefix goes: offsets stay dense."""
    segments = [SegmentFacts(0, 1, 5000), SegmentFacts(10, 1, 10), SegmentFacts(20, 1, 10)]
    assert expired_prefix(segments, LogSettings(ttl_ms=100), 5000, FOREVER) == 0


def test_the_active_segment_stays() -> None:
    """However old, the last segment is kept: it remembers where the log ends."""
    assert expired_prefix(SEGMENTS, LogSettings(ttl_ms=1), FOREVER, FOREVER) == 3
    assert expired_prefix(SEGMENTS[:1], LogSettings(ttl_ms=1), FOREVER, FOREVER) == 0
    assert expired_prefix([], LogSettings(ttl_ms=1), FOREVER, FOREVER) == 0


def test_size_is_kept_at_least() -> None:
    """By size, segments go only as long as the limit's worth of bytes stays."""
    for limit, count in [(1000, 0), (400, 0), (399, 0), (300, 1), (299, 1), (200, 2), (0, 3)]:
        assert expired_prefix(SEGMENTS, LogSettings(ttl_ms=-1, retention_bytes=limit), 0, FOREVER) == count


def test_what_somebody_needs_stays() -> None:
    """A segment with offsets that are still to be read elsewhere is kept whatever its age."""
    settings = LogSettings(ttl_ms=1)
    for keep_from, count in [(0, 0), (9, 0), (10, 1), (29, 2), (30, 3)]:
        assert expired_prefix(SEGMENTS, settings, FOREVER, keep_from) == count


@given(
    st.lists(st.tuples(st.integers(1, 50), st.integers(0, 100)), max_size=8),
    st.integers(-1, 120),
    st.integers(-1, 200),
    st.integers(0, 150),
)
def test_the_limits_hold_for_any_log(shape: list, ttl_ms: int, retention_bytes: int, now_ms: int) -> None:
    """What stays is never less than the size limit, and nothing that goes was within both limits."""
    segments = [SegmentFacts(10 * i, size, time_ms) for i, (size, time_ms) in enumerate(shape)]
    settings = LogSettings(ttl_ms=ttl_ms, retention_bytes=retention_bytes)
    count = expired_prefix(segments, settings, now_ms, FOREVER)
    assert count <= max(len(segments) - 1, 0)
    left = sum(s.bytes for s in segments)
    for number, segment in enumerate(segments[:count]):
        left -= segment.bytes
        is_ahead = segment.time_ms_max > now_ms  # the clock was wrong then; what came later tells
        time_ms = min(s.time_ms_max for s in segments[number:]) if is_ahead else segment.time_ms_max
        by_age = ttl_ms > 0 and now_ms - time_ms > ttl_ms
        assert by_age or 0 <= retention_bytes <= left
