"""Tracer: makes spans, and keeps those that have ended until they are sent. Safe to share between threads."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.telemetry.tracing.span import Span, SpanKind

#: Spans that wait to be sent; more are dropped and counted.
_WAITING_MAX = 20_000
_ERROR_CHARACTERS_MAX = 500


class Tracer:
    """Follows a share of what begins; what belongs to something that is followed is followed, too."""

    def __init__(self, clock: Clock, entropy: Entropy, sample_ratio: float = 1.0) -> None:
        self._clock = clock
        self._entropy = entropy
        self._sample_ratio = sample_ratio
        self._share = 0.0
        self._ended: deque[Span] = deque()
        self._lock = threading.Lock()
        # Wall time where it began, monotonic from there on: a span has no negative length when a clock is set.
        self._offset_ns = clock.now_ms() * 1_000_000 - int(clock.monotonic() * 1e9)
        self.recorded_count = self.dropped_count = 0

    def begin(self, name: str, kind: SpanKind, attributes: dict[str, str]) -> Span | None:
        """Follow something from here on; None when it is not in the share that is followed."""
        self._share += self._sample_ratio
        if self._share < 1:
            return None
        self._share -= 1
        return Span(name, kind, self._id(16), self._id(8), None, self._now_ns(), attributes)

    def begin_child(self, parent: Span, name: str, attributes: dict[str, str]) -> Span:
        """A step of something that is followed."""
        return Span(name, SpanKind.INTERNAL, parent.trace_id, self._id(8), parent.span_id, self._now_ns(), attributes)

    def end(self, span: Span, error: str | None = None) -> None:
        """It is over."""
        span.ended_ns = self._now_ns()
        span.error = None if error is None else error[:_ERROR_CHARACTERS_MAX]
        with self._lock:
            if len(self._ended) >= _WAITING_MAX:
                self.dropped_count += 1
            else:
                self.recorded_count += 1
                self._ended.append(span)

    @contextmanager
    def step(self, parent: Span | None, name: str, **attributes: str) -> Iterator[Span | None]:
        """Around one step; without a parent nothing is followed."""
        if parent is None:
            yield None
            return
        span = self.begin_child(parent, name, attributes)
        try:
            yield span
        except BaseException as wrong:
            self.end(span, error_text(wrong))
            raise
        self.end(span)

    def take(self, count: int) -> list[Span]:
        """Spans that have ended, oldest first; they are not kept any more."""
        with self._lock:
            return [self._ended.popleft() for _ in range(min(count, len(self._ended)))]

    def _id(self, size: int) -> bytes:
        return self._entropy.token(size)

    def _now_ns(self) -> int:
        return self._offset_ns + int(self._clock.monotonic() * 1e9)


def error_text(wrong: BaseException) -> str:
    """What a span says of why it failed."""
    return wrong.message if isinstance(wrong, LakewardError) else type(wrong).__name__
