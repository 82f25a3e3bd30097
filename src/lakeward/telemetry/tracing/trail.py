"""Trail: one thing that is followed, from its beginning to its end, and its steps."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Self

from lakeward.telemetry.tracing.span import Span, SpanKind
from lakeward.telemetry.tracing.tracer import Tracer, error_text


class Trail:
    """Around the whole; without a tracer nothing happens."""

    def __init__(self, tracer: Tracer | None, name: str, **attributes: str) -> None:
        self._tracer = tracer
        self._name = name
        self._attributes = attributes
        self._span: Span | None = None

    def __enter__(self) -> Self:
        if self._tracer is not None:
            self._span = self._tracer.begin(self._name, SpanKind.INTERNAL, self._attributes)
        return self

    def __exit__(self, _kind: object, wrong: BaseException | None, _trace: object) -> None:
        if self._tracer is not None and self._span is not None:
            self._tracer.end(self._span, None if wrong is None else error_text(wrong))

    def step(self, name: str, **attributes: str) -> AbstractContextManager[object]:
        """Around one step."""
        if self._tracer is None or self._span is None:
            return nullcontext()
        return self._tracer.step(self._span, name, **attributes)
