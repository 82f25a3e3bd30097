"""Moments as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from lakeward.model.moments import moment_of

NOW_MS = 1_700_000_000_000
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15m-ago", NOW - timedelta(minutes=15)),
        (" 2d ago ", NOW - timedelta(days=2)),
        ("2026-08-01T12:00:00Z", datetime(2026, 8, 1, 12, tzinfo=UTC)),
        ("2026-08-01T12:00:00", datetime(2026, 8, 1, 12, tzinfo=timezone(timedelta(hours=2)))),
    ],
)
def test_a_moment_is_a_time_or_so_long_ago(text: str, moment: datetime) -> None:
    """Without a zone, it is one of the reader's."""
    assert moment_of(text, NOW_MS, timezone(timedelta(hours=2))) == moment


@pytest.mark.parametrize("text", ["", "soon", "5-ago", f"{'9' * 30}d-ago", "999999999d-ago"])
def test_what_is_no_moment_is_a_value_error(text: str) -> None:
    """And nothing else, whatever is written."""
    with pytest.raises(ValueError, match=r"Invalid isoformat|before all calendars"):
        moment_of(text, NOW_MS, UTC)
