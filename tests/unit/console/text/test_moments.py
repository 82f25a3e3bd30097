"""Moments: how long ago."""

from __future__ import annotations

from lakeward.console.text.moments import ago_text, exact_text

_NOW_MS = 1_700_000_000_000


def test_a_moment_is_ago_now_or_ahead() -> None:
    """Clocks of others may be ahead of ours."""
    assert ago_text(_NOW_MS - 300_000, _NOW_MS) == "5 min ago"
    assert ago_text(_NOW_MS - 500, _NOW_MS) == "just now"
    assert ago_text(_NOW_MS + 10_000, _NOW_MS) == "in 10.0 s"


def test_the_exact_moment_is_in_utc_and_empty_beyond_the_calendar() -> None:
    """A damaged stamp is no reason to fail."""
    assert exact_text(_NOW_MS) == "2023-11-14 22:13:20 UTC"
    assert exact_text(2**62) == ""
