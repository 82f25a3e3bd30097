"""Moments for people: how long ago, with the exact time beside it."""

from __future__ import annotations

from datetime import UTC, datetime

from lakeward.console.text.figures import duration_text

_JUST_NOW_S = 2


def ago_text(at_ms: int, now_ms: int) -> str:
    """How long ago a moment was; one that lies ahead is `in …`."""
    seconds = (now_ms - at_ms) / 1000
    if abs(seconds) < _JUST_NOW_S:
        return "just now"
    return f"{duration_text(seconds)} ago" if seconds > 0 else f"in {duration_text(-seconds)}"


def exact_text(at_ms: int) -> str:
    """The moment itself, in UTC; empty for one that no calendar has."""
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")
