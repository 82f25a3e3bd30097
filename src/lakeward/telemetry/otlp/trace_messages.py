"""Spans → the body of POST /v1/traces."""

from __future__ import annotations

from collections.abc import Iterable

from lakeward.telemetry.otlp.resource import Resource, attributes, envelope
from lakeward.telemetry.otlp.wire import binary, integer, text, whole
from lakeward.telemetry.tracing.span import Span

_ERROR = 2


def spans_body(spans: Iterable[Span], resource: Resource) -> bytes:
    """The whole request."""
    return envelope(resource, b"".join(binary(2, _span(span)) for span in spans))


def _span(span: Span) -> bytes:
    parent = b"" if span.parent_id is None else binary(4, span.parent_id)
    status = b"" if span.error is None else binary(15, text(2, span.error) + whole(3, _ERROR))
    return (
        binary(1, span.trace_id)
        + binary(2, span.span_id)
        + parent
        + text(5, span.name)
        + whole(6, span.kind.value)
        + integer(7, span.begun_ns)
        + integer(8, span.ended_ns)
        + attributes(9, span.attributes)
        + status
    )
