"""CopyTrouble: the store fails. Said once, tried again less and less often, said once when it works again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lakeward.runtime.backoff import Backoff

_log = logging.getLogger(__name__)
_BACKOFF = Backoff(0.5, 30.0)
#: A store that fails and works by turns is reported once in this time.
_SAID_AGAIN_S = 60.0


class CopyTrouble:
    """Whether something that is done again and again works."""

    def __init__(self, what: str, monotonic: Callable[[], float]) -> None:
        """`what` is a plural that fails or works, such as "copies to s3://bucket"."""
        self._what = what
        self._monotonic = monotonic
        self._since_s: float | None = None
        self._said_s: float | None = None
        self._is_said = False
        self._failures = 0
        self.failures_total = 0
        self.last_reason: str | None = None

    @property
    def is_there(self) -> bool:
        """Whether the last thing that was tried failed."""
        return self._since_s is not None

    def note_failure(self, wrong: Exception) -> float:
        """Something failed; returns for how many seconds to leave the store alone."""
        self.failures_total += 1
        self._failures += 1
        self.last_reason = str(wrong)
        now_s = self._monotonic()
        if self._since_s is None:
            self._since_s = now_s
        if not self._is_said and (self._said_s is None or now_s - self._said_s >= _SAID_AGAIN_S):
            self._is_said, self._said_s = True, now_s
            _log.error("%s fail and will be tried again until they work: %s", self._what, wrong)
        return _BACKOFF.pause_s(self._failures)

    def note_success(self) -> None:
        """Something was done."""
        if self._since_s is not None and self._is_said:
            gone_s = self._monotonic() - self._since_s
            _log.warning("%s work again after %.0f s and %d failures", self._what, gone_s, self._failures)
        self._since_s, self._failures = None, 0
        self._is_said = False
        self.last_reason = None
