"""TrustedClock: the wall clock, unless it jumps; what is deleted by time waits longer still.

A wall clock that strays from the time that passes (by more than a minute) is noted, and not followed for ten minutes:
time is counted on from where it was. If it has gone back by then, nothing happened. Otherwise it is believed; after a
jump ahead nothing is deleted by the new time for a day. So a jump of 400 days and back costs nothing within ten
minutes, no data within a day, and is never silent.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta, tzinfo

from lakeward.runtime.clock import Clock

_log = logging.getLogger(__name__)
TOLERATED_MS = 60_000
FOLLOWED_AFTER_S = 600.0
DELETES_WAIT_S = 86_400.0
#: A server that was off for longer than this goes on deleting as if it had not been, for as long as it was off.
_OFF_MS = 3_600_000


class TrustedClock:
    """A Clock over one that may be set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: Seconds that never go back; asked for several times by every request, hence without a call in between.
        self.monotonic: Callable[[], float] = clock.monotonic
        self._elapsed = clock.since_boot
        self._base_ms, self._base_s = clock.now_ms(), clock.since_boot()
        self._jumped_s: float | None = None
        #: Time by which things are deleted, when it was that, and until when it counts.
        self._held: tuple[int, float, float] | None = None
        #: What is wrong with the clock now.
        self.trouble: str | None = None

    def begin(self, seen_ms: int | None) -> None:
        """Tell when the server was last there, by its clock of then."""
        if seen_ms is None:
            return
        gap_ms = self._base_ms - seen_ms
        if gap_ms > _OFF_MS:
            self._held = (seen_ms, self._base_s, self._base_s + min(gap_ms / 1000, DELETES_WAIT_S))
            if gap_ms / 1000 > DELETES_WAIT_S:
                told = (
                    "the clock is %s ahead of when this server last ran: for a day nothing is deleted by the new time"
                )
                _log.warning(told, _span(gap_ms))
        elif gap_ms < -_OFF_MS:
            _log.warning("the clock is %s behind what it was when this server last ran", _span(gap_ms))

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC; as counted, while the wall clock is not to be believed."""
        wall_ms, now_s = self._clock.now_ms(), self._elapsed()
        counted_ms = self._base_ms + int((now_s - self._base_s) * 1000)
        jump_ms = wall_ms - counted_ms
        if -TOLERATED_MS <= jump_ms <= TOLERATED_MS:
            if self._jumped_s is not None:
                _log.warning("the clock is right again")
                self._jumped_s = self.trouble = None
        elif self._jumped_s is None:
            self._jumped_s = now_s
            self.trouble = f"the clock jumped by {_span(jump_ms)} {'ahead' if jump_ms > 0 else 'back'}"
            told = "%s; for ten minutes time is counted on from before. If it is still so then, it is believed"
            _log.error(told, self.trouble)
            return counted_ms
        elif now_s - self._jumped_s < FOLLOWED_AFTER_S:
            return counted_ms
        else:
            self._believe(counted_ms, now_s, jump_ms)
        self._base_ms, self._base_s = wall_ms, now_s
        return wall_ms

    def _believe(self, counted_ms: int, now_s: float, jump_ms: int) -> None:
        _log.error("%s and has stayed there: it is believed now", self.trouble)
        self._jumped_s = self.trouble = None
        if jump_ms > 0:
            self._held = (counted_ms, now_s, now_s + DELETES_WAIT_S)
            _log.error("nothing is deleted by the new time for a day; set the clock right before, if it is wrong")

    def settled_ms(self) -> int:
        """The time by which data may be deleted."""
        now_ms = self.now_ms()
        if self._held is None:
            return now_ms
        held_ms, since_s, until_s = self._held
        now_s = self._elapsed()
        if now_s >= until_s:
            self._held = None
            return now_ms
        return min(now_ms, held_ms + int((now_s - since_s) * 1000))

    def since_boot(self) -> float:
        """The same, and they pass while the machine sleeps, too."""
        return self._clock.since_boot()

    def zone(self) -> tzinfo:
        """The time zone of this place."""
        return self._clock.zone()


def _span(span_ms: int) -> str:
    return str(timedelta(seconds=abs(span_ms) // 1000))
