"""Which remote segments may go."""

from __future__ import annotations

from lakeward.remote.formats.layout import BucketPlace
from lakeward.remote.formats.log_manifest import LogManifest, RemoteSegment
from lakeward.server.remote.copies.log_expiry import expired_segments
from lakeward.storage.log.settings import LogSettings

FOUR = LogManifest(BucketPlace("db", "t", 1, 0)).with_segments(
    RemoteSegment.whole(str(n), 10 * n, 10 * n + 10, 1000 * n, 100) for n in range(4)
)


def test_what_is_old_goes_unless_it_is_needed() -> None:
    """By the time of a segment's last batch; the lake and snapshots have a say."""
    settings = LogSettings(ttl_ms=1500)
    assert expired_segments(FOUR, settings, 3000, 0, None) == 2
    assert expired_segments(FOUR, settings, 3000, 0, 15) == 1
    assert expired_segments(FOUR, settings, 10**9, 0, None) == 4


def test_what_is_too_much_goes_counting_what_is_only_here() -> None:
    """As many of the oldest as leave at least the limit."""
    settings = LogSettings(ttl_ms=-1, retention_bytes=250)
    assert expired_segments(FOUR, settings, 0, 0, None) == 1
    assert expired_segments(FOUR, settings, 0, 100, None) == 2
    assert expired_segments(FOUR, settings, 0, 1000, 25) == 2
    assert expired_segments(FOUR, LogSettings(ttl_ms=-1), 10**9, 10**9, None) == 0
