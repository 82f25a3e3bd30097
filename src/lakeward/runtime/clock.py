"""Clock: where time comes from. The system's, or one that is moved by hand."""

from __future__ import annotations

import os
import time
from datetime import UTC, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LOCALTIME = Path("/etc/localtime")


class Clock(Protocol):
    """What time it is."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    def settled_ms(self) -> int:
        """The time by which data may be deleted: `now_ms`, unless that is in doubt."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for measuring."""
        ...

    def since_boot(self) -> float:
        """The same, and they pass while the machine sleeps, too."""
        ...

    def zone(self) -> tzinfo:
        """The time zone of this place."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        return time.time_ns() // 1_000_000

    def settled_ms(self) -> int:
        """The same."""
        return self.now_ms()

    #: Seconds that never go back; asked for several times by every request, hence without a call in between.
    monotonic = staticmethod(time.monotonic)

    def since_boot(self) -> float:
        """Seconds that never go back and pass while the machine sleeps, too."""
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))

    def zone(self) -> tzinfo:
        """The machine's time zone, with its rules for summer time where they can be found."""
        return _system_zone()


class ManualClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, now_ms: int = 1_700_000_000_000, zone: tzinfo = UTC) -> None:
        self._now_ms = now_ms
        self._monotonic_ms = 0
        self._zone = zone

    def now_ms(self) -> int:
        """Milliseconds since 1970, as set."""
        return self._now_ms

    def settled_ms(self) -> int:
        """The same."""
        return self.now_ms()

    def monotonic(self) -> float:
        """Seconds by which the clock was advanced."""
        return self._monotonic_ms / 1000

    def since_boot(self) -> float:
        """The same."""
        return self.monotonic()

    def zone(self) -> tzinfo:
        """The time zone it was made with."""
        return self._zone

    def advance(self, by_ms: int) -> None:
        """Let time pass."""
        assert by_ms >= 0, "use jump_to to set the wall clock back"
        self._now_ms += by_ms
        self._monotonic_ms += by_ms

    def jump_to(self, now_ms: int) -> None:
        """Set the wall clock, as an operator or a time server would; monotonic time does not notice."""
        self._now_ms = now_ms


def _system_zone() -> tzinfo:
    name = os.environ.get("TZ", "").lstrip(":")
    if not name and _LOCALTIME.is_symlink():
        name = str(_LOCALTIME.resolve()).partition("zoneinfo/")[2]
    if name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass  # a TZ such as "CET-1CEST" is no name; the offset of today is the best that is left
    offset_s = time.localtime().tm_gmtoff
    return UTC if offset_s == 0 else timezone(timedelta(seconds=offset_s))
