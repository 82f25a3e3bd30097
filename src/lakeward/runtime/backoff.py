"""Backoff: failures in a row → how long to rest before the next attempt. Pure; whoever rests does the sleeping."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.runtime.entropy import Entropy

#: More doublings than any limit needs; a count of failures has no end.
_DOUBLINGS_MAX = 32
#: The share of a pause that is left to chance.
_JITTER = 0.25


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses that double from the first to the limit.

    With `entropy` each is up to a quarter shorter, so that many who failed together do not come back together.
    """

    first_s: float
    limit_s: float
    entropy: Entropy | None = None

    def pause_s(self, failures: int) -> float:
        """How long to rest after this many failures in a row; after none, not at all."""
        if failures <= 0:
            return 0.0
        pause_s = min(self.first_s * (1 << min(failures - 1, _DOUBLINGS_MAX)), self.limit_s)
        return pause_s if self.entropy is None else pause_s * (1 - _JITTER * self.entropy.fraction())
