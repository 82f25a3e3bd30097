"""A moment as people write it: 2026-08-01T12:00:00Z, or 15m-ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

_SECONDS_OF_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AGO = re.compile(r"(\d+)([smhd])[ -]ago")


def moment_of(text: str, now_ms: int, zone: tzinfo) -> datetime:
    """The moment, with its zone: `zone` where none is written. A ValueError where it is none."""
    written = text.strip()
    try:
        if ago := _AGO.fullmatch(written):
            past = timedelta(seconds=int(ago[1]) * _SECONDS_OF_UNIT[ago[2]])
            return datetime.fromtimestamp(now_ms / 1000, UTC) - past
        moment = datetime.fromisoformat(written)
    except OverflowError as wrong:
        raise ValueError(f"{text!r} is before all calendars.") from wrong
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
