"""How much more an answer may hold."""

from __future__ import annotations

#: So many buckets whose next batch does not fit, and an answer that holds something is taken as full.
_MISSES_MAX = 16


class AnswerRoom:
    """The bytes that are left of a fetch's limit.

    A bucket costs a file opened and read before it is known that nothing of it fits. A request may name ten thousand
    of them and be full after a hundred, so the others are not looked into. One batch that is too large for what is left
    does not end an answer: smaller ones of other buckets may still fit.
    """

    def __init__(self, bytes_max: int) -> None:
        self.left = bytes_max
        self.taken = 0
        self._misses = 0

    @property
    def is_full(self) -> bool:
        """Whether looking into another bucket is as good as useless; never before something was taken."""
        return self.taken > 0 and (self.left <= 0 or self._misses >= _MISSES_MAX)

    def take(self, size: int) -> None:
        """A bucket gives so many bytes."""
        self.taken += size
        self.left -= size

    def note_miss(self) -> None:
        """A bucket has rows, and not even one batch of them fits."""
        self._misses += 1
