"""Span: one step of what is followed."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class SpanKind(enum.Enum):
    """What a span is to others, by OpenTelemetry's numbers."""

    INTERNAL = 1
    SERVER = 2


@dataclass(slots=True)
class Span:
    """`error` is set when it failed; times are nanoseconds since 1970."""

    name: str
    kind: SpanKind
    trace_id: bytes
    span_id: bytes
    parent_id: bytes | None
    begun_ns: int
    attributes: dict[str, str] = field(default_factory=dict)
    ended_ns: int = 0
    error: str | None = None
